/** Numbers, values and places in the words of the screens. */
import type { Progress, RunRecord } from "../../../state/document.ts";
import { meanReward } from "../../chain/progress.ts";
import type { SourceLocation } from "../../errors.ts";
import type { JobSize } from "../../plan/plan.ts";
import type { Value } from "../../submit/config.ts";
import { printable } from "./layout.ts";

/** Stands where nothing is known. */
export const NOTHING = "–";

/** `1 job`, `2 jobs`. */
export function plural(count: number, word: string): string {
	return `${thousands(count)} ${word}${count === 1 ? "" : "s"}`;
}

/** `14042` → `14,042`. */
export function thousands(count: number): string {
	return String(count).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}

/** Seconds as `04:00:00`, from one day on as Slurm writes it: `2-01:00:00`. */
export function durationText(seconds: number): string {
	const whole = Math.round(seconds);
	const days = Math.floor(whole / 86_400);
	const clock = [Math.floor(whole / 3600) % 24, Math.floor(whole / 60) % 60, whole % 60]
		.map((part) => String(part).padStart(2, "0"))
		.join(":");
	return days > 0 ? `${days}-${clock}` : clock;
}

/** `gymfile.ts:20`, `submit.yaml:7:5`. */
export function place(source: SourceLocation | undefined): string {
	if (!source) return "";
	return [source.file, source.line, source.column].filter((part) => part !== undefined).join(":");
}

/** A value of the document on one line, close to JSON; mappings as `{a: 1}`. */
export function valueText(value: Value | undefined): string {
	if (value === undefined) return "(not set)";
	if (value instanceof Map) {
		const entries = [...(value as ReadonlyMap<string, Value>)];
		return `{${entries.map(([key, item]) => `${printable(key)}: ${valueText(item)}`).join(", ")}}`;
	}
	if (Array.isArray(value)) return `[${(value as readonly Value[]).map(valueText).join(", ")}]`;
	return typeof value === "string" ? printable(JSON.stringify(value)) : String(value);
}

/** A path below some section: `extra_args.qos`, `run.agents[0].name`. Keys with odd characters are quoted. */
export function pathText(path: readonly (string | number)[]): string {
	return path
		.map((step, i) => {
			if (typeof step === "number") return `[${step}]`;
			const key = /^[\w-]+$/.test(step) ? step : printable(JSON.stringify(step));
			return i === 0 ? key : `.${key}`;
		})
		.join("");
}

/** `1 node × 8 GPUs, 04:00:00, partition batch`. */
export function sizeText(size: JobSize): string {
	const gpus = size.gpusPerNode === null ? "" : ` × ${plural(size.gpusPerNode, "GPU")}`;
	const time = size.walltime === null ? "no time limit" : durationText(size.walltime);
	return [
		`${plural(size.nodes, "node")}${gpus}`,
		time,
		...(size.partition === null ? [] : [`partition ${printable(size.partition)}`]),
	].join(", ");
}

/** `312/1,000`, or `312` when the total is not known. */
export function rolloutsText(progress: Progress | null): string {
	if (!progress || (progress.done === 0 && progress.expected === null)) return NOTHING;
	const total = progress.expected === null ? "" : `/${thousands(progress.expected)}`;
	return thousands(progress.done) + total;
}

/** `0.571 ± 0.032` of a finished run, `0.41 so far` of any other. */
export function rewardText(run: RunRecord): string {
	const reward = run.progress && meanReward(run.progress);
	if (!reward) return NOTHING;
	if (run.status !== "succeeded") return `${reward.mean.toFixed(2)} so far`;
	return reward.mean.toFixed(3) + (reward.error === null ? "" : ` ± ${reward.error.toFixed(3)}`);
}

/** `running, 312/1,000 rollouts`, `succeeded, 0.571 ± 0.032`. */
export function runText(run: RunRecord): string {
	const rollouts = rolloutsText(run.progress);
	const reward = rewardText(run);
	if (run.status === "succeeded") return reward === NOTHING ? "succeeded" : `succeeded, ${reward}`;
	return rollouts === NOTHING ? run.status : `${run.status}, ${rollouts} rollouts`;
}
