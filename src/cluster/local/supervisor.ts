/**
 * The program that supervises one local job: `supervisor.js ENTRY`. The environment of the job comes as JSON on stdin,
 * never as a file or an argument; cut off, it is no environment, and the job stays held.
 */
import { text } from "node:stream/consumers";
import { thisHost } from "../../../state/backends/host.ts";
import type { Environment } from "./environment.ts";
import { supervise } from "./supervise.ts";

const cancel = new AbortController();
process.on("SIGTERM", () => cancel.abort());
process.on("SIGHUP", () => undefined);
process.on("SIGINT", () => undefined);

const env = JSON.parse(await text(process.stdin)) as Environment;
await supervise(process.argv[2]!, env, {
	host: thisHost(),
	now: () => new Date(),
	cancel: cancel.signal,
	report: (words) => console.error(words),
});
