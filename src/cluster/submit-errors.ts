/** What can stop a submission on any scheduler, in words for people. `words` are those of the system. */
import { fail, GymError } from "../errors.ts";

export function outputPathNotWritable(outputPath: string, label: string, words: string): GymError {
	return new GymError("refused", {
		code: "output-path-not-writable",
		severity: "error",
		at: "job.output_path",
		message: `${outputPath} cannot be made or written on ${label}: ${words}`,
		remedy: "choose a folder that you may write on the cluster",
	});
}

export function mountsMissing(sources: readonly string[], label: string): GymError {
	return new GymError(
		"refused",
		sources.map((source) => ({
			code: "mount-missing",
			severity: "error" as const,
			at: "",
			message: `mount source ${source} does not exist on ${label}; nothing was staged`,
			remedy: "create it on the cluster, or correct the path",
		})),
	);
}

/** The new jobs are accepted and held; those whose place they take have not ended yet. */
export function replaceUnfinished(label: string): GymError {
	return fail(
		"failure",
		"replace-unfinished",
		`jobs that are to be replaced are still ending on ${label}; the new ones are held`,
		"run apply again: it releases them when the old ones are gone",
	);
}

export function stagingFailed(label: string, words: string): GymError {
	return fail(
		"failure",
		"staging-failed",
		`the submission stopped on ${label}: ${words}`,
		"run apply again: it goes on where this one stopped",
	);
}
