// npm run conformance -- submit DIR [--only ID,...] [--allow-not-yet]
// Prints each difference, lists cases that wait for what the product lacks, and ends with `N passed, N failed`.
import { parseArgs } from "node:util";
import { submitConformance } from "./submit.js";

const KITS = { submit: submitConformance };

const { values, positionals } = parseArgs({
	allowPositionals: true,
	options: { only: { type: "string" }, "allow-not-yet": { type: "boolean", default: false } },
});
const [kit, folder] = positionals;
if (!Object.hasOwn(KITS, kit ?? "") || folder === undefined || positionals.length > 2) {
	console.error(`usage: conformance ${Object.keys(KITS).join("|")} DIR [--only ID,...] [--allow-not-yet]`);
	process.exit(3);
}
const { passed, failed, waiting } = await KITS[kit](folder, values.only?.split(",") ?? null);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 || (waiting > 0 && !values["allow-not-yet"]) ? 1 : 0;
