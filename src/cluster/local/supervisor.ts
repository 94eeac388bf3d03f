/**
 * The program that supervises local jobs.
 * - `supervisor.js run ENTRY`: runs a held job;
 * - `supervisor.js next ENTRY`: for the script of a running job: queues its successor and prints that one's id;
 * - `supervisor.js follow ENTRY FOLDER`: is started by `next`: makes a job of the folder, and runs it after the entry's.
 *
 * For `run` and `follow` the environment of the job comes as JSON on stdin, never as a file or an argument; cut off, it
 * is no environment, and the job stays held, or is not made.
 */
import { text } from "node:stream/consumers";
import { thisHost } from "../../../state/backends/host.ts";
import type { Environment } from "./environment.ts";
import { queueNext } from "./next.ts";
import { follow, supervise } from "./supervise.ts";

const [supervisor, command, entry = "", folder = ""] = process.argv.slice(1) as [string, ...string[]];

if (command === "next") await next();
else await runJob();

async function next(): Promise<void> {
	try {
		console.log(await queueNext(entry, process.env, supervisor, thisHost()));
	} catch (error) {
		console.error(error instanceof Error ? error.message : error);
		process.exitCode = 1;
	}
}

async function runJob(): Promise<void> {
	const cancel = new AbortController();
	process.on("SIGTERM", () => cancel.abort());
	process.on("SIGHUP", () => undefined);
	process.on("SIGINT", () => undefined);
	const io = {
		host: thisHost(),
		now: () => new Date(),
		cancel: cancel.signal,
		report: (words: string) => console.error(words),
		program: { node: process.execPath, supervisor },
	};
	const env = JSON.parse(await text(process.stdin)) as Environment;
	if (command === "run") await supervise(entry, env, io);
	else await follow(entry, folder, env, io);
}
