/** `gym validate`: every rule, nothing contacted. */
import { EXIT, GymError, type Problem } from "../../errors.ts";
import { desiredJobs } from "../../plan/desired.ts";
import { VERSION } from "../../version.ts";
import { loadValid, type Session } from "../session.ts";

export async function run(session: Session): Promise<number> {
	const { stacks } = await loadValid(session, session.args);
	const found: Problem[] = [];
	for (const stack of stacks) {
		const { problems } = desiredJobs(stack.config, {
			stack: stack.name,
			toolVersion: VERSION,
			sources: stack.sources,
		});
		found.push(...stack.problems, ...problems);
	}
	if (found.some(({ severity }) => severity === "error")) throw new GymError("refused", found);
	session.view().valid({ stacks: stacks.map((stack) => stack.name), problems: found });
	return EXIT.ok;
}
