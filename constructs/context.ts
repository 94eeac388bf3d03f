/**
 * How `-c key=value` reaches `new App()`, which is called in the user's file: the loader runs that file inside
 * an asynchronous context, and App looks there. The context is found by a registered symbol, so that an App
 * from a second copy of this package sees it too; loads that run side by side do not see each other's.
 */
import { AsyncLocalStorage } from "node:async_hooks";

/** Values of `-c key=value`. */
export type Context = Readonly<Record<string, string>>;

const STORAGE: unique symbol = Symbol.for("gymfile.context");

function storage(): AsyncLocalStorage<Context> {
	const shared = globalThis as { [STORAGE]?: AsyncLocalStorage<Context> };
	shared[STORAGE] ??= new AsyncLocalStorage<Context>();
	return shared[STORAGE];
}

/** Runs `load` so that every App made by it, now or after a wait, has `context`. */
export function withContext<T>(context: Context, load: () => Promise<T>): Promise<T> {
	return storage().run(context, load);
}

/** The context of the load that is running; empty outside of one. */
export function ambientContext(): Context {
	return storage().getStore() ?? {};
}
