/** The lock of a run directory: submitters take turns, and cancelling waits for them. */
import { join } from "node:path";
import { fail } from "../../errors.ts";
import { type Claim, claim } from "./claims.ts";
import { LABEL, type LocalContext } from "./context.ts";

/** Milliseconds to wait for another submitter of the same run directory. */
const PATIENCE_MS = 120_000;

const POLL_MS = 100;

/**
 * Waits until no other submitter is at work in a run directory.
 * @throws GymError exit `failure`, code `submit-lock`
 */
export async function lockRunDir(runDir: string, { host }: LocalContext): Promise<Claim> {
	const folder = join(runDir, "submit.lock");
	const since = host.monotonicMs();
	while (host.monotonicMs() - since < PATIENCE_MS) {
		const lock = await claim(folder, host);
		if (lock) return lock;
		await host.sleep(POLL_MS);
	}
	throw fail(
		"failure",
		"submit-lock",
		`another submission to ${runDir} is still at work on ${LABEL}`,
		"run apply again in a minute",
	);
}
