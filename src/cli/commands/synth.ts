/** `gym synth`: the submit document that the peer's `gym eval submit` takes. */
import { mkdir, rename, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { EXIT, GymError } from "../../errors.ts";
import { emitYaml } from "../../submit/emit.ts";
import { textOption } from "../options.ts";
import { load, onlyStack, type Session } from "../session.ts";

export async function run(session: Session): Promise<number> {
	const loaded = await load(session, { hostValues: false });
	const { chosenStacks } = await import("../../load/stacks.ts");
	const folder = textOption(session.options, "output");
	const stacks = chosenStacks(loaded, session.args);
	const chosen = folder === undefined ? [onlyStack(stacks)] : stacks;
	const problems = chosen.flatMap((stack) => (stack.stack ? [] : stack.problems));
	if (problems.length > 0) throw new GymError("invalid", problems);
	if (folder === undefined) {
		session.out(emitYaml(chosen[0]!.raw));
		return EXIT.ok;
	}
	const target = resolve(session.directory, folder);
	await mkdir(target, { recursive: true });
	for (const stack of chosen) {
		const file = join(target, `${stack.name}.yaml`);
		await writeFile(`${file}.new`, emitYaml(stack.raw));
		await rename(`${file}.new`, file);
		session.out(`${file}\n`);
	}
	return EXIT.ok;
}
