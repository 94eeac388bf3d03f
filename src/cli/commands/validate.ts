/** `gym validate`: every rule, nothing contacted. */
import { EXIT, GymError, type Problem } from "../../errors.ts";
import { desiredJobs } from "../../plan/desired.ts";
import { VERSION } from "../../version.ts";
import { loadValid, type Session } from "../session.ts";

export async function run(session: Session): Promise<number> {
	const { stacks } = await loadValid(session, session.args);
	const warnings: Problem[] = [];
	for (const stack of stacks) {
		const { problems } = desiredJobs(stack.config, {
			stack: stack.name,
			toolVersion: VERSION,
			sources: stack.sources,
		});
		const errors = problems.filter((problem) => problem.severity === "error");
		if (errors.length > 0) throw new GymError("refused", [...errors, ...stack.problems]);
		warnings.push(...stack.problems, ...problems);
	}
	session.view().valid({ stacks: stacks.map((stack) => stack.name), problems: warnings });
	return EXIT.ok;
}
