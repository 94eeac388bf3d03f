/** State in a folder of this machine, `.gym/<stack>/`, beside the gymfile or YAML. */
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { folderName, stackOfFolder } from "../folder-name.ts";
import { leasedStore, type StoreContext } from "../leased-store.ts";
import type { StateStore } from "../store.ts";
import { listFolder, localLog } from "./local-log.ts";

/** Where the files are, and what a store gets from outside. */
export interface LocalStoreOptions extends StoreContext {
	/** The state directory, `.gym`, absolute. Made by the first write. */
	readonly directory: string;
}

/** Keeps each stack's state as `<directory>/<stack>/state.<serial>.json`; the newest serial counts, the last 20 stay. */
export function localStore({ directory, ...context }: LocalStoreOptions): StateStore {
	const folder = (stack: string) => join(directory, folderName(stack));
	return leasedStore(
		{
			label: "local",
			states: (stack) => localLog(folder(stack), "state"),
			locks: (stack) => localLog(folder(stack), "lock"),
			stacks: () => stacksIn(directory),
		},
		context,
	);
}

async function stacksIn(directory: string): Promise<readonly string[]> {
	const stacks: string[] = [];
	for (const name of await listFolder(directory)) {
		const stack = stackOfFolder(name);
		if (stack === null || (await isFile(join(directory, name)))) continue;
		const serials = await localLog(join(directory, name), "state").numbers();
		if (serials.length > 0) stacks.push(stack);
	}
	return stacks.sort();
}

async function isFile(path: string): Promise<boolean> {
	return stat(path).then(
		(found) => found.isFile(),
		() => false,
	);
}
