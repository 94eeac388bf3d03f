// Start-up time as ratios to an empty Node process, all measured in one run, interleaved.
//   npm run bench -- startup [--rounds 15]
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const cli = join(root, "dist/cli.js");
const example = join(root, "examples/single-model");
const rounds = Number(process.argv[process.argv.indexOf("--rounds") + 1]) || 15;
const cache = mkdtempSync(join(tmpdir(), "gymfile-bench-"));

const commands = [
	{ name: "node -e 0", args: ["-e", "0"] },
	{ name: "gym version", args: [cli, "version"], limit: 1.5 },
	{
		name: "gym plan -offline -refresh=false",
		args: [cli, "plan", "-offline", "-refresh=false", "-chdir", example],
		limit: 3.5,
	},
];

function once({ name, args }) {
	const start = process.hrtime.bigint();
	const done = spawnSync(process.execPath, args, {
		env: { ...process.env, XDG_CACHE_HOME: cache },
		encoding: "utf8",
	});
	const ms = Number(process.hrtime.bigint() - start) / 1e6;
	if (done.status !== 0) throw new Error(`${name} exited ${done.status}: ${done.stderr}`);
	return ms;
}

const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];

for (const command of commands) once(command); // warm: caches of the file system and of the gymfile loader
const times = commands.map(() => []);
for (let round = 0; round < rounds; round++) {
	for (const [i, command] of commands.entries()) times[i].push(once(command));
}
rmSync(cache, { recursive: true, force: true });

const base = median(times[0]);
let over = 0;
for (const [i, { name, limit }] of commands.entries()) {
	const ratio = median(times[i]) / base;
	const verdict =
		limit === undefined ? "" : ratio <= limit ? `  (limit ${limit}, ok)` : `  (limit ${limit}, OVER)`;
	if (limit !== undefined && ratio > limit) over++;
	console.log(
		`${name.padEnd(36)} ${median(times[i]).toFixed(1).padStart(7)} ms  ${ratio.toFixed(2)} ×${verdict}`,
	);
}
process.exitCode = over ? 1 : 0;
