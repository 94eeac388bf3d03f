import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { localStore } from "../../../state/backends/local.ts";
import { storeContract } from "./store-contract.ts";

storeContract("local", async () => {
	const parent = await mkdtemp(join(tmpdir(), "gym-state-"));
	onTestFinished(() => rm(parent, { recursive: true, force: true }));
	return (context) => localStore({ directory: join(parent, ".gym"), ...context });
});
