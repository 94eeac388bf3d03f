/** `gym adopt RUN_DIR`: takes a run directory into the state, also one of `gym eval submit`. */
import { basename, dirname, isAbsolute, resolve } from "node:path";
import { adoptRun } from "../../apply/adopt.ts";
import { EXIT, fail } from "../../errors.ts";
import type { Stack } from "../../io.ts";
import { onlyCompute } from "../../submit/nodes.ts";
import { textOption } from "../options.ts";
import { withIo } from "../process-io.ts";
import { loadValid, type Session } from "../session.ts";
import { adoptOutcome } from "../views/apply.ts";

export async function run(session: Session): Promise<number> {
	const { root, stacks } = await loadValid(session, []);
	const [stack, ...more] = stacks;
	if (!stack || more.length > 0) {
		throw fail("invalid", "stack-needed", "there are several stacks", "adopt works on a file with one stack");
	}
	const runDir = runDirOf(session, stack);
	const view = session.view();
	const addresses = [...stack.config.driver.benchmarks.keys()].map((name) => `${stack.name}/${name}`);
	return withIo(session, root, async (io) => {
		await adoptRun(stack, io, {
			runDir,
			lockTimeout: Number(textOption(session.options, "lock-timeout") ?? 0),
			adopted: (address, found) => view.applyOutcomes([adoptOutcome(address, found)], addresses),
		});
		return EXIT.ok;
	});
}

/** The run directory that was named, absolute: only on this machine a path can be meant from here. */
function runDirOf(session: Session, { config }: Stack): string {
	const given = session.args[0]!;
	const folder = basename(given) === "gym-job.json" ? dirname(given) : given;
	const [, compute] = onlyCompute(config);
	if (compute.type === "local") return resolve(session.directory, folder);
	if (isAbsolute(folder)) return folder.replace(/\/+$/, "");
	throw fail(
		"invalid",
		"bad-flags",
		`${folder} is not absolute`,
		"write the run directory's path on the cluster",
	);
}
