/** The gateway program alone on a node, with a Ray of its own. */
import { writeFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
	healthOf,
	makeWorld,
	type Program,
	records,
	removeWorld,
	shape,
	startGateway,
	until,
	type World,
} from "./world.ts";

describe("two replicas on one node, with a Ray of its own", () => {
	const oneNode = { SLURM_STEP_NUM_NODES: "1", SLURM_GPUS_ON_NODE: "4" };
	const started: Program[] = [];
	let world: World;
	const begin = async (words: readonly string[], env: object) => {
		const [gateway, port] = await startGateway(world, words, { ...oneNode, ...env });
		started.push(gateway);
		return { gateway, port };
	};

	beforeAll(async () => {
		world = await makeWorld({});
	});
	afterAll(async () => {
		for (const { process } of started) process.kill("SIGTERM");
		await Promise.all(started.map(({ end }) => end));
		await removeWorld(world);
	});

	it("ends when no replica can be kept alive", async () => {
		const { gateway, port } = await begin(shape(2, 4, 2), { STUB_EXIT_AFTER: "0" });
		await until(async () => (await records(world)).length === 2);
		expect(new Set((await records(world)).map(({ node }) => node)).size).toBe(1);
		expect(await healthOf(port)).toBe(503);
		await writeFile(world.file("gate", "open"), "");
		expect(await gateway.end).toBe(1);
		expect(gateway.said()).toMatch(/replica 1 ended with exit code 1; failure 5 of 5/);
		expect(gateway.said()).toContain("stub: exits before it listens, as told");
		expect(gateway.said()).toContain("gateway: all replicas are given up");
		expect(await records(world)).toHaveLength(10);
	});

	it("ends at once where there is no room", async () => {
		const { gateway } = await begin(shape(2, 2, 2), {});
		expect(await gateway.end).toBe(1);
		expect(gateway.said()).toContain("no room for 2 replicas of 2 GPUs, at most 1 a node");
	});
});
