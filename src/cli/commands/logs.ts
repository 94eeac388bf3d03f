/** `gym logs`: the log files of a benchmark's jobs, each line named by its source. */
import { setTimeout as sleep } from "node:timers/promises";
import { isLive } from "../../../state/document.ts";
import { statusOf } from "../../engine.ts";
import { EXIT, fail } from "../../errors.ts";
import { findRun } from "../address.ts";
import { textOption } from "../options.ts";
import { withIo } from "../process-io.ts";
import type { Session } from "../session.ts";
import { stateRoot } from "../state-stacks.ts";
import { printable } from "../views/layout.ts";

/** Seconds between two looks with `-follow`. */
const INTERVAL = 2;

/** `policy-88201.log` → `policy`. */
function sourceOf(file: string): string {
	return file.replace(/-\d+\.log$/, "");
}

function nothingFrom(source: string, address: string, known: ReadonlySet<string>): string {
	const others = known.size > 0 ? `; its logs: ${[...known].map(printable).join(", ")}` : "";
	return `Nothing in a log "${printable(source)}" of ${address} so far${others}.\n`;
}

export async function run(session: Session): Promise<number> {
	const { options } = session;
	const tail = textOption(options, "tail") ?? "50";
	if (!/^\d+$/.test(tail))
		throw fail("invalid", "bad-flags", `--tail ${tail} is not a number of lines`, "e.g. --tail 200");
	const only = textOption(options, "source");
	return withIo(session, stateRoot(session), async (io) => {
		const { stack, benchmark, run: found, address, cluster } = await findRun(session.args[0]!, io.store);
		const scheduler = io.scheduler(cluster);
		const offsets = new Map<string, number>();
		const sources = new Set<string>();
		let printed = false;
		while (!session.signal.aborted) {
			// The status is read before the logs: what a job wrote at its very end is then still printed.
			const seen = options.follow === true ? await statusOf(stack, io, { refresh: true }) : null;
			const status = seen?.runs.find((one) => one.benchmark === benchmark)?.run.status;
			for (const chunk of await scheduler.logs(found.jobDir, offsets, Number(tail))) {
				offsets.set(chunk.file, chunk.size);
				const source = sourceOf(chunk.file);
				sources.add(source);
				if (only !== undefined && source !== only) continue;
				for (const line of chunk.text.replace(/\n$/, "").split("\n")) {
					if (chunk.text === "") continue;
					printed = true;
					session.out(`${printable(source)} | ${printable(line)}\n`);
				}
			}
			if (status === undefined || !isLive(status)) break;
			await sleep(INTERVAL * 1000, undefined, { signal: session.signal }).catch(() => undefined);
		}
		if (!printed && !session.signal.aborted) {
			session.err(
				only === undefined ? `No log of ${address} so far.\n` : nothingFrom(only, address, sources),
			);
		}
		return EXIT.ok;
	});
}
