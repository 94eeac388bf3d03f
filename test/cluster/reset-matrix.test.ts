/** Recovery from a connection that is lost while Slurm works, and from a Slurm that does not say what it did. */
import { afterAll, describe, expect, it } from "vitest";
import { waitFor } from "../setup/cluster.ts";
import type { Project } from "./gym.ts";
import { COMMANDS, type Command, expectEnd, recover, rowsOf, told } from "./recovery.ts";
import { type Gate, gateSbatch, gateScancel, STAND_INS, wrapSbatch } from "./sbatch-wrapper.ts";
import { ended, processWith, resetConnection } from "./ssh-session.ts";

/** Where an exchange is held in its midst. */
interface Hold {
	readonly program: string;
	readonly gate: (outputPath: string) => Promise<Gate>;
	/** Waits until the next exchange of the same command has met the one that is held. */
	readonly met: (one: Project, gate: Gate) => Promise<unknown>;
}

const SUBMIT: Hold = {
	program: "sbatch",
	gate: gateSbatch,
	met: (one) => waitFor(() => processWith("flock", one.outputPath), "the next to wait for the lock"),
};
const CANCEL: Hold = {
	program: "scancel",
	gate: gateScancel,
	met: (_, gate) => gate.arrived(2),
};

describe("recovery from a lost connection", () => {
	const table: string[] = [];
	afterAll(() => console.log(table.join("\n")));

	it.each([
		["apply", SUBMIT],
		["resume", SUBMIT],
		["cancel", CANCEL],
		["destroy", CANCEL],
	] as const)("%s is cut off in the midst of its exchange", async (name, { program, gate, met }) => {
		const command: Command = COMMANDS[name];
		const rows = rowsOf(name, table);
		let last: Project | null = null;
		for (const scriptEnds of [true, false]) {
			const one: Project = await command.prepare(last);
			last = one;
			const way = `reset, script ${scriptEnds ? "ends first" : "still at work"}`;
			await rows.add(program, way, async () => {
				const held = await gate(one.outputPath);
				const running = one.gym(await command.args(one));
				const [works] = await held.arrived();
				const script = await resetConnection(works!);
				const cut = await running;
				expect(cut.code, cut.text).toBe(8);
				expect(cut.text).toContain("exchange-lost");
				if (!scriptEnds) {
					const goesOn = async () => {
						await met(one, held);
						await held.open();
					};
					return (await Promise.all([recover(one, command), goesOn()]))[0];
				}
				await held.open();
				await ended(script);
				return recover(one, command);
			});
		}
		expect(rows.failures).toEqual([]);
	});

	it.each(["apply", "resume"] as const)(
		"%s does once what it is asked, whatever sbatch says",
		async (name) => {
			const command: Command = COMMANDS[name];
			const rows = rowsOf(name, table);
			let last: Project | null = null;
			for (const [way, lines] of Object.entries(STAND_INS)) {
				const one: Project = await command.prepare(last);
				last = one;
				await rows.add("sbatch", way, async () => {
					await wrapSbatch(one.outputPath, lines);
					const result = await one.gym([...(await command.args(one)), "-json"]);
					expect(result.code, result.text).toBe(0);
					await expectEnd(one, true, result);
					return told(result).did.join(", ");
				});
			}
			expect(rows.failures).toEqual([]);
		},
	);
});
