// `npm run demo`: plan, apply and follow the root gymfile on this machine. Fails unless it comes out as it must.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

function gym(...args) {
	const { status, stdout, stderr } = spawnSync(process.execPath, [`${root}dist/cli.js`, ...args], {
		cwd: root,
		encoding: "utf8",
	});
	return { status, text: stdout + stderr };
}

function show(...args) {
	console.log(`\n$ gym ${args.join(" ")}`);
	const done = gym(...args);
	process.stdout.write(done.text);
	return done;
}

function check(what, holds) {
	if (holds) return;
	console.error(`\nThe demo did not come out right: ${what}.`);
	process.exit(1);
}

show("plan");
check("apply", show("apply", "--auto-approve").status === 0);
const pause = new Int32Array(new SharedArrayBuffer(4));
while (/"status":"(pending|running|completing)"/.test(gym("status", "-json").text))
	Atomics.wait(pause, 0, 0, 500);
const { text } = show("status");
check("20 of 20 rollouts, 13 of them right", /succeeded .* 20\/20 +0\.650/.test(text));
show("logs", "demo/sums", "--source", "driver", "-n", "3");
check("a second plan without changes", show("plan", "-detailed-exitcode").status === 0);
