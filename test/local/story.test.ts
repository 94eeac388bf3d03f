/** One evaluation from plan to result, and what its programs get to see. */
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { gymfile, standIn } from "./gymfiles.ts";
import { allGone, commandLines, DEMO, freePort, test } from "./user.ts";

/** Values that a shell, a JSON file or a `.env` could spoil. */
const HOSTILE = {
	words: "  two  words * ? ~ ",
	quotes: `it's "quoted" \\ and \`ticked\``,
	commands: "$(touch pwned) ${HOME} $HOME; touch pwned & !!",
	lines: "first\nsecond\n\n",
	letters: "naïve – 評価 \t\u0001 =x#y",
	dash: "-n",
};

/** Every plain file below a folder. */
async function filesBelow(folder: string): Promise<readonly string[]> {
	const entries = await readdir(folder, { withFileTypes: true, recursive: true });
	return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

/** Files below a folder that hold a text. */
async function filesWith(folder: string, text: string): Promise<readonly string[]> {
	const found: string[] = [];
	for (const file of await filesBelow(folder))
		if ((await readFile(file, "utf8")).includes(text)) found.push(file);
	return found;
}

describe.concurrent("an evaluation on this machine", () => {
	test("from plan to result", async ({ user }) => {
		const port = await freePort();
		await user.write(gymfile({ policy: standIn(port), benchmarks: { sums: `exec node ${DEMO}/sums.js` } }));
		const plan = await user.gym(["plan", "-detailed-exitcode"]);
		expect(plan.code, plan.text).toBe(2);
		expect(plan.stdout).toContain("# lab/sums will be submitted");
		expect(await readdir(user.folder)).not.toContain("runs");

		expect((await user.ok(["apply", "--auto-approve"])).stdout).toMatch(/lab\/sums +submitted +job 1/);
		const done = await user.until("lab/sums", "succeeded");
		expect(done).toMatchObject({ segments: 1, job_id: "1", rollouts_done: 20, rollouts_expected: 20 });
		expect((await user.ok(["status"])).stdout).toMatch(/succeeded .* 20\/20 +0\.650/);

		const again = await user.ok(["plan", "-detailed-exitcode"]);
		expect(again.stdout).toContain("lab/sums (succeeded, 0.650 ± 0.109)");
		await user.ok(["apply", "--auto-approve"]);
		expect(await readdir(join(user.folder, "runs", ".gym-local", "jobs"))).toEqual(["1"]);
		expect((await user.ok(["logs", "lab/sums", "--source", "policy"])).stdout).toContain(
			`policy | serving acme/adder-1b on port ${port}`,
		);
	});

	test("variables of all kinds arrive as they are, and a host: value stands nowhere else", async ({
		user,
	}) => {
		const secret = "hush-7f1c";
		const names = Object.keys(HOSTILE);
		const entries = names.flatMap((name) => {
			const value = JSON.stringify(HOSTILE[name as keyof typeof HOSTILE]);
			const upper = name.toUpperCase();
			return [
				`L_${upper}: lit(${value})`,
				`H_${upper}: host("S_${upper}")`,
				`R_${upper}: runtime("V_${upper}")`,
			];
		});
		const env = `env: { ${entries.join(", ")} }`;
		const show = (file: string) =>
			`${process.execPath} -e 'require("fs").writeFileSync(${JSON.stringify(file)}, JSON.stringify(process.env))'`;
		const seen = (name: string) => join(user.folder, `${name}.seen`);
		await user.write(
			gymfile({
				policy: `{ model: "acme/adder-1b", port: ${await freePort()}, ${env}, preCommand: ${JSON.stringify(`${show(seen("service"))}\nexport PATH=${DEMO}/bin:$PATH`)} }`,
				driver: env,
				benchmarks: { looks: `${show(seen("driver"))}\nuntil [[ -e go ]]; do sleep 0.1; done\n` },
			}),
		);
		const shell = Object.fromEntries(
			Object.entries(HOSTILE).flatMap(([name, value]) => [
				[`S_${name.toUpperCase()}`, `${value}${secret}${value}`],
				[`V_${name.toUpperCase()}`, value],
			]),
		);
		await user.ok(["apply", "--auto-approve"], {
			...shell,
			PATH: `/opt/app/node_modules/.bin:${process.env.PATH}`,
		});
		for (const program of ["driver", "service"]) {
			const got = JSON.parse(await user.text(`${program}.seen`)) as Record<string, string>;
			for (const [name, value] of Object.entries(HOSTILE)) {
				const upper = name.toUpperCase();
				expect([program, name, got[`L_${upper}`]]).toEqual([program, name, value]);
				expect([program, name, got[`R_${upper}`]]).toEqual([program, name, value]);
				expect([program, name, got[`H_${upper}`]]).toEqual([program, name, `${value}${secret}${value}`]);
			}
			expect(Object.keys(got).filter((name) => /^GYM_(E\d|SECRET)|^S_/.test(name))).toEqual([]);
			expect(got.PATH!.split(":").filter((folder) => folder.endsWith("node_modules/.bin"))).toEqual([]);
		}

		const line = (await user.status()).get("lab/looks")!;
		const jobDir = join(line.run_dir, "looks");
		expect([...(await commandLines()).values()].filter(({ argv }) => argv.includes(secret))).toEqual([]);
		const holders = (await filesWith(user.folder, secret)).filter((file) => !file.endsWith(".seen"));
		expect(holders).toEqual([join(jobDir, ".env")]);
		expect((await stat(join(jobDir, ".env"))).mode & 0o777).toBe(0o600);

		await user.write("", join("runs", jobDir.slice(join(user.folder, "runs").length), "go"));
		await user.until("lab/looks", "succeeded");
		await allGone(user); // its supervisor's claims end a little later
		expect((await filesWith(user.folder, secret)).filter((file) => !file.endsWith(".seen"))).toEqual([]);
		expect((await filesBelow(user.folder)).filter((file) => file.endsWith("pwned"))).toEqual([]);
	});
});
