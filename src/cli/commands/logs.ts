/** `gym logs`: the log files of benchmarks' jobs, each line named by its source. */
import { setTimeout as sleep } from "node:timers/promises";
import { isLive } from "../../../state/document.ts";
import { statusOf } from "../../engine.ts";
import { EXIT, fail } from "../../errors.ts";
import type { Io } from "../../io.ts";
import { type AddressedRun, findRuns } from "../address.ts";
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
	return withIo(session, await stateRoot(session), async (io) => {
		const runs = await findRuns(session.args, io.store);
		const readers = runs.map((one) => logReader(one, io, session, Number(tail)));
		let open = readers;
		while (!session.signal.aborted && open.length > 0) {
			const states: Awaited<ReturnType<LogReader["look"]>>[] = [];
			for (const reader of open) states.push(await reader.look());
			open = open.filter((_, i) => states[i] !== "ended");
			if (states.some((state) => state === "live")) {
				await sleep(INTERVAL * 1000, undefined, { signal: session.signal }).catch(() => undefined);
			}
		}
		for (const reader of readers) reader.finish();
		return EXIT.ok;
	});
}

interface LogReader {
	/** Prints what is new. `more`: it is over, but one look carries only so much of a file. */
	look(): Promise<"live" | "more" | "ended">;
	/** Prints what nothing more comes for; says so when there was nothing. */
	finish(): void;
}

function logReader(one: AddressedRun, io: Io, session: Session, tail: number): LogReader {
	const { stack, benchmark, address, run: found } = one;
	const { options } = session;
	const only = textOption(options, "source");
	const view = session.view();
	const scheduler = io.scheduler(one.cluster);
	const offsets = new Map<string, number>();
	const sources = new Set<string>();
	// The begun last line of each file: it is printed when it is whole, or when nothing more comes.
	const begun = new Map<string, string>();
	let printed = false;
	const print = (file: string, line: string) => {
		printed = true;
		view.logLine(address, sourceOf(file), line);
	};
	return {
		async look() {
			// The status is read before the logs: what a job wrote at its very end is then still printed.
			const seen =
				options.follow === true ? await statusOf(stack, io, { refresh: true, rollouts: false }) : null;
			const status = seen?.runs.find((run) => run.benchmark === benchmark)?.run.status;
			const chunks = await scheduler.logs(found.jobDir, offsets, tail);
			for (const { file, size, text } of chunks) {
				offsets.set(file, size);
				sources.add(sourceOf(file));
				if (only !== undefined && sourceOf(file) !== only) continue;
				const lines = `${begun.get(file) ?? ""}${text}`.split("\n");
				begun.set(file, lines.pop()!);
				for (const line of lines) print(file, line);
			}
			if (status === undefined) return "ended";
			if (isLive(status)) return "live";
			return chunks.length > 0 ? "more" : "ended";
		},
		finish() {
			for (const [file, line] of begun) if (line !== "") print(file, line);
			// No lines were asked for with `-n 0`, so that there are none is no news.
			if (printed || session.signal.aborted || (tail === 0 && sources.size > 0)) return;
			session.err(
				only === undefined ? `No log of ${address} so far.\n` : nothingFrom(only, address, sources),
			);
		},
	};
}
