/** `gym-job.json`, the record of a submission as NeMo Gym's own tools read it. Pure. */
import type { Submission } from "./scheduler.ts";

/** The fields of the record that are known before anything is submitted, in their order. */
export function recordHead({ record, runDir }: Submission) {
	return {
		gym_job_id: record.gymJobId,
		gym_version: record.gymVersion,
		gym_commit: null,
		run_dir: runDir,
		cluster: record.cluster,
		executor: record.executor,
		hostname: record.hostname,
		executor_metadata: record.metadata,
		schema_version: 1,
	};
}

/** The line by which a record names its stack, but for what JSON puts around it. */
export function stackMark(stack: string): string {
	return `"gymfile_stack": ${JSON.stringify(stack)}`;
}
