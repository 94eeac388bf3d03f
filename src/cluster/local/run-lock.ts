/** Locks of submitters: those of one run directory, and those of one stack, take turns. Cancels and looks wait for them. */
import { join } from "node:path";
import { fail } from "../../errors.ts";
import { type Claim, claim } from "./claims.ts";
import { LABEL, type LocalContext } from "./context.ts";
import { registryOf } from "./registry.ts";
import { missingPaths } from "./submission-files.ts";

/** Milliseconds to wait for another submitter. */
const PATIENCE_MS = 120_000;

const POLL_MS = 100;

/** Longest part of a stack's name in its lock: stacks that share one only wait for each other. */
const LONGEST = 100;

/**
 * Waits until no other submitter is at work in a run directory.
 * @throws GymError exit `failure`, code `submit-lock`
 */
export async function lockRunDir(runDir: string, context: LocalContext): Promise<Claim> {
	const lock = await take(join(runDir, "submit.lock"), context);
	if (lock === null) throw stillAtWork(`another submission to ${runDir}`);
	return lock;
}

/**
 * Waits until no other submitter of a stack is at work in the output path. It comes before the lock of a run directory.
 * @throws GymError exit `failure`, code `submit-lock`
 */
export async function lockStack(stack: string, context: LocalContext): Promise<Claim> {
	const lock = await take(stackFolder(stack, context), context);
	if (lock === null) throw stillAtWork(`another submission of ${stack}`);
	return lock;
}

/** Waits for a submitter of the stack that is at work, but not for ever. Makes nothing where nobody ever submitted. */
export async function awaitStack(stack: string, context: LocalContext): Promise<void> {
	const folder = stackFolder(stack, context);
	if ((await missingPaths([folder])).length > 0) return;
	await (await take(folder, context))?.release();
}

function stackFolder(stack: string, { outputPath }: LocalContext): string {
	return join(registryOf(outputPath), `stack-${stack.slice(0, LONGEST)}.lock`);
}

async function take(folder: string, { host }: LocalContext): Promise<Claim | null> {
	const since = host.monotonicMs();
	while (host.monotonicMs() - since < PATIENCE_MS) {
		const lock = await claim(folder, host);
		if (lock) return lock;
		await host.sleep(POLL_MS);
	}
	return null;
}

function stillAtWork(who: string) {
	return fail("failure", "submit-lock", `${who} is still at work on ${LABEL}`, "run apply again in a minute");
}
