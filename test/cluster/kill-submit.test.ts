/** Apply is stopped with SIGKILL at every named point of a submission, then run again: one job each, none held. */
import { describe, expect, it } from "vitest";
import { jobs, waitFor } from "../setup/cluster.ts";
import { labDocument, project } from "./gym.ts";

/** Every point that a submission passes; the last test fails when one is passed that is not listed here. */
const LOCAL_POINTS = [
	"lock.acquired",
	"exchange.observe.before",
	"exchange.observe.after",
	"exchange.find.before",
	"exchange.find.after",
	"state.intent.before",
	"state.intent.staged",
	"state.intent.linked",
	"exchange.submit.before",
	"exchange.submit.after",
	"state.submitted.before",
	"state.submitted.staged",
	"state.submitted.linked",
	"lock.release",
];
const REMOTE_POINTS = [
	"submit.staged",
	"submit.accepted",
	"submit.recorded",
	"submit.release",
	"submit.released",
	"submit.written",
];

const BENCHMARKS = {
	gsm8k: { command: "sleep 300" },
	aime: { command: "sleep 300" },
	ifeval: { command: "sleep 300" },
};

describe("apply stopped at", () => {
	it.each([...LOCAL_POINTS, ...REMOTE_POINTS])("%s", async (point) => {
		const one = await project();
		await one.write(labDocument({ outputPath: one.outputPath, benchmarks: BENCHMARKS }));
		const stopped = await one.gym(["apply", "-f", "lab.yaml", "--auto-approve"], {
			GYMFILE_TEST_STOP_AT: point,
		});
		if (REMOTE_POINTS.includes(point)) expect(stopped.code, stopped.text).toBe(1);
		else expect(stopped.signal, stopped.text).toBe("SIGKILL");

		const again = await one.gym(["apply", "-f", "lab.yaml", "--auto-approve"]);
		expect(again.code, again.text).toBe(0);
		const found = await waitFor(async () => {
			const all = await jobs(one.outputPath);
			return all.length >= 3 && all;
		}, "three jobs");
		expect(found.map((job) => job.workdir.split("/").at(-1)).sort()).toEqual(["aime", "gsm8k", "ifeval"]);
		const plan = await one.gym(["plan", "-f", "lab.yaml", "-detailed-exitcode", "-json"]);
		expect(plan.code, plan.text).toBe(0);
		const status = await one.gym(["status", "-f", "lab.yaml", "-json"]);
		for (const name of Object.keys(BENCHMARKS)) {
			expect(status.stdout).toMatch(new RegExp(`"addr":"lab/${name}","status":"(pending|running)"`));
		}
		const done = await one.gym(["cancel", "gsm8k", "aime", "ifeval", "-f", "lab.yaml", "--auto-approve"]);
		expect(done.code, done.text).toBe(0);
	});

	it("no other point than these", async () => {
		const one = await project();
		await one.write(labDocument({ outputPath: one.outputPath, benchmarks: { gsm8k: { command: "true" } } }));
		const listed = await one.gym(["apply", "-f", "lab.yaml", "--auto-approve"], {
			GYMFILE_TEST_LIST_POINTS: "1",
		});
		expect(listed.code, listed.text).toBe(0);
		const passed = [...listed.stderr.matchAll(/^point (\S+)$/gm)].map((match) => match[1]!);
		expect([...new Set(passed)].sort()).toEqual([...LOCAL_POINTS].sort());
	});
});
