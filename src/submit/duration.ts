/** Slurm's grammar of durations: `MM`, `MM:SS`, `HH:MM:SS`, `D-HH`, `D-HH:MM`, `D-HH:MM:SS`. */

const DAYS = /^(\d+)-(\d+)(?::(\d+)(?::(\d+))?)?$/;
const CLOCK = /^(?:(?:(\d+):)?(\d+):)?(\d+)$/;

/** Seconds that the text stands for, or null when it is not a duration. */
export function parseDuration(text: string): number | null {
	const days = DAYS.exec(text);
	if (days) {
		const [, d, h, m = 0, s = 0] = days;
		return ((Number(d) * 24 + Number(h)) * 60 + Number(m)) * 60 + Number(s);
	}
	const clock = CLOCK.exec(text);
	if (!clock) return null;
	const [, h = 0, m, last] = clock;
	// A number alone is minutes; with colons the last part is seconds.
	return m === undefined ? Number(last) * 60 : (Number(h) * 60 + Number(m)) * 60 + Number(last);
}

/** Whether a person may have meant hours and minutes: `48:00` is 48 minutes. */
export function isMinutesAndSeconds(text: string): boolean {
	return /^\d+:\d+$/.test(text);
}
