#!/usr/bin/env node
/** Entry of the bins `gym` and `gymfile`. Only `version` is answered here; everything else is loaded when asked for. */
import { VERSION } from "../version.ts";

const [first, ...rest] = process.argv.slice(2);
if ((first === "version" || first === "--version" || first === "-version") && rest.length === 0) {
	process.stdout.write(`gymfile ${VERSION}\n`);
} else {
	const { main } = await import("./run.ts");
	await main(process.argv.slice(2));
}
