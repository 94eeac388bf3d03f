/** Loads a gymfile without a process that is watched: tests run several side by side. */
import type { App } from "../../../constructs/app.ts";
import { type GymfileOptions, loadGymfile } from "../../../src/load/gymfile.ts";
import type { UserCode } from "../../../src/load/user-code.ts";

/** Runs code of the user's that behaves. */
export const unwatched: Pick<UserCode, "run"> = {
	run: ({ explain }, work) =>
		work().catch((error: unknown) => {
			throw explain(error);
		}),
};

/** The App itself and the files that were loaded. */
export async function loadApp(file: string, options: Omit<GymfileOptions, "userCode">) {
	const { result, files } = await loadGymfile(file, { ...options, userCode: unwatched }, (app: App) => app);
	return { app: result, files };
}
