/** Runs a gymfile and reads its App. */
import { stat } from "node:fs/promises";
import * as constructs from "constructs";
import { createJiti, type Jiti } from "jiti";
import type { App } from "../../constructs/app.ts";
import { isOwnFile } from "../../constructs/call-site.ts";
import { type Context, withContext } from "../../constructs/context.ts";
import { isKind } from "../../constructs/elements.ts";
import { fail, GymError } from "../errors.ts";
import { loadError, ownFrame } from "./gymfile-error.ts";
import { privateFolder } from "./private-folder.ts";
import type { UserCode } from "./user-code.ts";

export interface GymfileOptions {
	/** Values of `-c key=value`: in every App's context, and what an exported function gets. */
	readonly context: Context;
	/** Folder for compiled files. It is made and kept for this user only; one that cannot be is not used. */
	readonly cacheDirectory: string;
	/** Runs what is the user's. */
	readonly userCode: Pick<UserCode, "run">;
}

export interface LoadedGymfile<Result> {
	/** What was read from the App. */
	readonly result: Result;
	/** Absolute paths of the gymfile and of the user's files that it imports, in the order they were loaded. */
	readonly files: readonly string[];
}

/** What a gymfile exports by default. */
type Exported = App | ((context: Context) => App | Promise<App>);

/**
 * Loads `file` (absolute), in TypeScript or JavaScript, with or without a `package.json` and `node_modules`
 * beside it: `gymfile`, `gymfile/testing` and `constructs` are always this program's own copies.
 * @param read makes data of the App. It meets code of the user's too: getters, own validations.
 * @throws GymError exit `invalid`, codes `gymfile-missing`, `gymfile-syntax`, `gymfile-threw`, `gymfile-exit`,
 * `gymfile-unsettled`, `no-default-export`, `not-an-app`
 */
export async function loadGymfile<Result>(
	file: string,
	options: GymfileOptions,
	read: (app: App) => Result,
): Promise<LoadedGymfile<Result>> {
	if (!(await stat(file).catch(() => null))?.isFile()) {
		throw fail(
			"invalid",
			"gymfile-missing",
			`there is no ${file}`,
			"write one (the README has a small one), or name it with --gymfile; -f reads a submit document",
		);
	}
	const jiti = createJiti(file, {
		fsCache: (await privateFolder(options.cacheDirectory)) ? options.cacheDirectory : false,
		moduleCache: true,
		interopDefault: false,
		virtualModules: {
			constructs,
			gymfile: await import("../index.ts"),
			"gymfile/testing": await import("../../constructs/testing/index.ts"),
		},
	});
	const before = new Set(Object.keys(jiti.cache));
	const loaded = () => Object.keys(jiti.cache).filter((name) => !before.has(name) && isOwnFile(name));
	let files: readonly string[] = [];
	const known = () => new Set([file, ...files, ...loaded()]);
	const origin = {
		explain: (error: unknown) => loadError(error, file, known()),
		owns: (error: unknown) => ownFrame(error, known()) !== undefined,
	};
	try {
		const result = await options.userCode.run(origin, () =>
			withContext(options.context, async () => read(await run(file, jiti, options.context))),
		);
		return { result, files: loaded() };
	} finally {
		files = loaded();
		// The next load must see what the files say then, also after one that failed half-way.
		for (const name of files) delete jiti.cache[name];
	}
}

async function run(file: string, jiti: Jiti, context: Context): Promise<App> {
	const module = await jiti.import<{ readonly default?: Exported }>(file);
	const exported = module.default;
	const app = typeof exported === "function" ? await exported(context) : exported;
	if (isKind(app, "app")) return app;
	const refuse = (code: string, message: string) =>
		new GymError("invalid", {
			code,
			severity: "error",
			at: "",
			message,
			remedy: "end it with: export default app",
			source: { file },
		});
	if (exported === undefined) throw refuse("no-default-export", "the gymfile has no default export");
	if (typeof exported === "function")
		throw refuse("not-an-app", "the exported function did not return an App");
	throw refuse("not-an-app", "the default export is no App");
}
