/**
 * A process of its own that contends for a stack: `contender.js MODE DIRECTORY ARGUMENT`. It prints `ready`,
 * begins when a line comes in, prints one line of outcome, and lives until its input ends.
 */
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { noPoints, type Points } from "../../../../src/points.ts";
import { thisHost } from "../../../../state/backends/host.ts";
import { localStore } from "../../../../state/backends/local.ts";
import { localLog } from "../../../../state/backends/local-log.ts";
import { emptyState } from "../../../../state/document.ts";

const [mode, directory, argument] = process.argv.slice(2) as [string, string, string];

function store(points: Points) {
	return localStore({ directory, writer: "0.1.0", host: thisHost(), points });
}

const modes: Record<string, () => Promise<string>> = {
	/** Takes the lock with one try and keeps it. */
	async lock() {
		const lease = await store(noPoints).acquire("s", "apply", { timeoutSeconds: 0 });
		return `won ${lease.tookOver?.pid ?? "free"}`;
	},
	/** Makes the serial `argument`. */
	async serial() {
		const made = await localLog(join(directory, "s"), "state").append(Number(argument), `${process.pid}\n`);
		return made ? "won" : "lost";
	},
	/** Kills itself at the point `argument` of a write. */
	async crash() {
		const reach = async (point: string) => void (point === argument && process.kill(process.pid, "SIGKILL"));
		const lease = await store({ reach }).acquire("s", "apply", { timeoutSeconds: 0 });
		await lease.write((await lease.read()) ?? emptyState("s"), "intent");
		await lease.release();
		return "survived";
	},
};

const input = createInterface({ input: process.stdin });
process.stdout.write("ready\n");
await once(input, "line");
const outcome = await modes[mode]!().catch((error: unknown) => String(error).split("\n", 1)[0]!);
process.stdout.write(`${outcome}\n`);
