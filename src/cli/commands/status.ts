/** `gym status`: what runs, how far it is, its reward so far. Changes nothing. */
import { statusOf } from "../../engine.ts";
import { EXIT } from "../../errors.ts";
import { findRuns } from "../address.ts";
import { forEachStack } from "../each-stack.ts";
import { withIo } from "../process-io.ts";
import type { Session } from "../session.ts";
import { stateRoot, stateStacks } from "../state-stacks.ts";
import type { StatusScreen } from "../views/status.ts";

export async function run(session: Session): Promise<number> {
	const { options } = session;
	const refresh = options.offline !== true && options.refresh !== "false";
	const view = session.view();
	return withIo(session, await stateRoot(session), async (io) => {
		const rows: StatusScreen["rows"][number][] = [];
		let asOf: number | null = null;
		let lags = false;
		const addresses = session.args.filter((arg) => arg.includes("/"));
		const whole = session.args.filter((arg) => !arg.includes("/"));
		const found = addresses.length > 0 ? await findRuns(addresses, io.store) : [];
		const named = whole.length > 0 || addresses.length === 0 ? await stateStacks(io.store, whole) : [];
		const isMeant = (stack: string, benchmark: string) =>
			named.includes(stack) || found.some((one) => one.stack === stack && one.benchmark === benchmark);
		const names = [...new Set([...named, ...found.map(({ stack }) => stack)])];
		const code = await forEachStack(
			names.map((name) => ({ name })),
			session,
			async ({ name: stack }) => {
				const { at, type, runs } = await statusOf(stack, io, { refresh });
				// Of several clusters' looks the oldest counts.
				if (at !== null) asOf = Math.min(at, asOf ?? at);
				lags ||= type === "slurm";
				const meant = runs.filter(({ benchmark }) => isMeant(stack, benchmark));
				rows.push(...meant.map(({ benchmark, run }) => ({ stack, benchmark, run })));
				return EXIT.ok;
			},
		);
		if (rows.length > 0 || code === EXIT.ok) view.status({ rows, asOf, lags });
		return code;
	});
}
