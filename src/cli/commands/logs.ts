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
		// The begun last line of each file: it is printed when it is whole, or when nothing more comes.
		const begun = new Map<string, string>();
		const view = session.view();
		let printed = false;
		const print = (file: string, line: string) => {
			printed = true;
			view.logLine(address, sourceOf(file), line);
		};
		while (!session.signal.aborted) {
			// The status is read before the logs: what a job wrote at its very end is then still printed.
			const seen = options.follow === true ? await statusOf(stack, io, { refresh: true }) : null;
			const status = seen?.runs.find((one) => one.benchmark === benchmark)?.run.status;
			const chunks = await scheduler.logs(found.jobDir, offsets, Number(tail));
			for (const { file, size, text } of chunks) {
				offsets.set(file, size);
				sources.add(sourceOf(file));
				if (only !== undefined && sourceOf(file) !== only) continue;
				const lines = `${begun.get(file) ?? ""}${text}`.split("\n");
				begun.set(file, lines.pop()!);
				for (const line of lines) print(file, line);
			}
			// One look carries so much of a file, so the last one is that which brings nothing.
			if (status === undefined || (!isLive(status) && chunks.length === 0)) break;
			if (isLive(status)) {
				await sleep(INTERVAL * 1000, undefined, { signal: session.signal }).catch(() => undefined);
			}
		}
		for (const [file, line] of begun) if (line !== "") print(file, line);
		if (!printed && !session.signal.aborted) {
			session.err(
				only === undefined ? `No log of ${address} so far.\n` : nothingFrom(only, address, sources),
			);
		}
		return EXIT.ok;
	});
}
