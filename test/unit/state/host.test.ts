import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { expect, onTestFinished, test } from "vitest";
import { thisHost } from "../../../state/backends/host.ts";

test("knows its own process, by the same facts each time", () => {
	const host = thisHost();
	expect(host.pid).toBe(process.pid);
	expect(host.processAt(process.pid)?.startTime).toBeTruthy();
	expect(host.processAt(process.pid)).toEqual(thisHost().processAt(process.pid));
	expect(host.bootId).toBe(thisHost().bootId);
});

test("tells a process that ended from one that runs", async () => {
	const child = spawn("sleep", ["600"]);
	onTestFinished(() => void child.kill("SIGKILL"));
	await once(child, "spawn");
	expect(thisHost().processAt(child.pid!)).not.toBeNull();
	child.kill("SIGKILL");
	await once(child, "exit");
	expect(thisHost().processAt(child.pid!)).toBeNull();
});

test("a process that ended and that nobody has waited for yet is gone", async () => {
	const parent = spawn("bash", ["-c", "true & echo $!; exec sleep 600"], {
		stdio: ["ignore", "pipe", "inherit"],
	});
	onTestFinished(() => void parent.kill("SIGKILL"));
	const [pid] = await once(createInterface({ input: parent.stdout }), "line");
	await expect.poll(() => thisHost().processAt(Number(pid))).toBeNull();
});

test("a repeated task stops when told to", async () => {
	const host = thisHost();
	let runs = 0;
	await new Promise<void>((resolve) => {
		const stop = host.every(1, async () => {
			runs += 1;
			stop();
			resolve();
		});
	});
	expect(runs).toBe(1);
});
