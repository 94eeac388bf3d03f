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
	// Events can hold several documents, stdout only one.
	const alone = folder === undefined && session.options.json !== true;
	const chosen = alone ? [onlyStack(stacks)] : stacks;
	const problems = chosen.flatMap((stack) => (stack.stack ? [] : stack.problems));
	if (problems.length > 0) throw new GymError("invalid", problems);
	const target = folder === undefined ? null : resolve(session.directory, folder);
	if (target !== null) await mkdir(target, { recursive: true });
	for (const { name: stack, raw } of chosen) {
		const yaml = emitYaml(raw);
		const file = target === null ? null : join(target, `${stack}.yaml`);
		if (file !== null) {
			await writeFile(`${file}.new`, yaml);
			await rename(`${file}.new`, file);
		}
		session.view().document({ stack, raw, yaml, file });
	}
	return EXIT.ok;
}
