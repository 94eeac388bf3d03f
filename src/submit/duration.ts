/** Slurm's grammar of durations: `MM`, `MM:SS`, `HH:MM:SS`, `D-HH`, `D-HH:MM`, `D-HH:MM:SS`, `UNLIMITED`. */

const DAYS = /^(\d+)-(\d+)(?::(\d+)(?::(\d+))?)?$/;
const ENDLESS = /^(?:unlimited|infinite|-1)$/i;
const CLOCK = /^(?:(?:(\d+):)?(\d+):)?(\d+)$/;

/** Seconds that the text stands for (`Infinity` for `UNLIMITED`), or null when it is not a duration. */
export function parseDuration(text: string): number | null {
	if (ENDLESS.test(text)) return Number.POSITIVE_INFINITY;
	const seconds = countSeconds(text);
	return seconds !== null && Number.isSafeInteger(seconds) ? seconds : null;
}

/** Seconds of a limit in a valid document; null when there is none, be it left out or `UNLIMITED`. */
export function limitSeconds(text: string | null): number | null {
	const seconds = text === null ? null : parseDuration(text);
	return seconds === Number.POSITIVE_INFINITY ? null : seconds;
}

function countSeconds(text: string): number | null {
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

/** Slurm's long form of some seconds: `HH:MM:SS`, from one day on `D-HH:MM:SS`; `UNLIMITED` for `Infinity`. */
export function formatDuration(seconds: number): string {
	if (seconds === Number.POSITIVE_INFINITY) return "UNLIMITED";
	const whole = Math.max(0, Math.round(seconds));
	const days = Math.floor(whole / 86_400);
	const clock = [Math.floor(whole / 3_600) % 24, Math.floor(whole / 60) % 60, whole % 60]
		.map((part) => String(part).padStart(2, "0"))
		.join(":");
	return days > 0 ? `${days}-${clock}` : clock;
}
