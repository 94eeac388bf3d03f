/**
 * Times as Slurm prints them. We ask for epoch seconds (`SLURM_TIME_FORMAT=%s`); where a site does not give
 * them, a local time without zone comes instead, which only the cluster's own offset makes a moment.
 */

/** Offset in seconds from what `date +%z` prints, e.g. `+0930`; null for anything else. */
export function parseUtcOffset(text: string): number | null {
	const match = /^([+-])(\d{2}):?(\d{2})$/.exec(text.trim());
	if (!match) return null;
	const seconds = Number(match[2]) * 3600 + Number(match[3]) * 60;
	return match[1] === "-" ? -seconds : seconds;
}

/**
 * Epoch seconds of a time that Slurm printed; null for `N/A`, `Unknown`, `None` and whatever is no moment.
 * @param utcOffset seconds that the cluster's clock is ahead of UTC
 */
export function parseSlurmTime(text: string, utcOffset: number): number | null {
	const trimmed = text.trim();
	if (/^\d+$/.test(trimmed)) {
		const seconds = Number(trimmed);
		return seconds > 0 && Number.isSafeInteger(seconds) ? seconds : null;
	}
	const match = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})$/.exec(trimmed);
	if (!match) return null;
	const [year, month, day, hour, minute, second] = match.slice(1).map(Number) as [
		number,
		number,
		number,
		number,
		number,
		number,
	];
	const local = Date.UTC(year, month - 1, day, hour, minute, second) / 1000;
	return local - utcOffset;
}
