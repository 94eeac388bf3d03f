/** From the construct tree to submit documents. Pure: looks at the tree and changes nothing. */
import type { IConstruct } from "constructs";
import { GymError, type Problem } from "../src/errors.ts";
import { ASPECT, type Aspect } from "./aspect.ts";
import { CREATED, type Element } from "./element.ts";
import { isKind } from "./elements.ts";
import type { EvalStack } from "./eval-stack.ts";
import { treeError } from "./problem.ts";
import { type SynthesizedStack, stackDocument } from "./stack-document.ts";
import { isStackName } from "./stack-name.ts";

/**
 * Every stack of the tree as data, in the order the stacks were made. What is wrong inside a stack is in its
 * `problems`, so that the other stacks can go on.
 * @throws GymError exit `invalid` when the tree as a whole makes no sense: `stack-missing`, `stack-name`,
 * `stack-duplicate`, `stack-nested`, `outside-stack`, or a message of a validation outside of all stacks
 */
export function synthApp(app: IConstruct): readonly SynthesizedStack[] {
	const all = app.node.findAll();
	const alive = new Set<IConstruct>(all);
	const created = app.node.metadata
		.filter(({ type }) => type === CREATED)
		.map(({ data }) => data as Element)
		.filter((element) => alive.has(element));
	const stacks = created.filter((element) => isKind(element, "stack"));
	const said = [...aspectProblems(all), ...validationProblems(all)];

	const global = [
		...treeProblems(app, stacks, created),
		...said.filter(([construct]) => stackOf(construct) === undefined).map(([, problem]) => problem),
	];
	if (global.length > 0) throw new GymError("invalid", global);

	return stacks.map((stack) => {
		const own = (construct: IConstruct) => stackOf(construct) === stack;
		const document = stackDocument(
			stack,
			created.filter((element) => element !== stack && own(element)),
		);
		const remarks = said.filter(([construct]) => own(construct)).map(([, problem]) => problem);
		return { ...document, problems: [...document.problems, ...remarks] };
	});
}

/** The stack that a construct belongs to, a stack to itself. */
function stackOf(construct: IConstruct): EvalStack | undefined {
	return construct.node.scopes.findLast((scope): scope is EvalStack => isKind(scope, "stack"));
}

function treeProblems(
	app: IConstruct,
	stacks: readonly EvalStack[],
	created: readonly Element[],
): readonly Problem[] {
	const problems: Problem[] = [];
	const report = (construct: IConstruct, code: string, message: string, remedy: string) =>
		problems.push(treeError(construct, code, "", message, remedy));

	if (stacks.length === 0) report(app, "stack-missing", "the App has no stack", "add new EvalStack(app, …)");
	for (const [index, stack] of stacks.entries()) {
		const shown = JSON.stringify(stack.name);
		const first = stacks.slice(0, index).find(({ name }) => name === stack.name);
		if (!isStackName(stack.name)) {
			report(stack, "stack-name", `bad stack name ${shown}`, "use letters, digits and . _ -");
		}
		if (first) {
			report(
				stack,
				"stack-duplicate",
				`${first.node.path} has the name ${shown} already`,
				"rename one of them",
			);
		}
		if (stack.node.scope && stackOf(stack.node.scope)) {
			report(stack, "stack-nested", `stack ${shown} is inside another stack`, "make it directly in the App");
		}
	}
	for (const element of created.filter((candidate) => stackOf(candidate) === undefined)) {
		const message = `${JSON.stringify(element.name)} is in no stack`;
		report(element, "outside-stack", message, "give it the stack, or a construct below it, as its scope");
	}
	return problems;
}

type Said = readonly [construct: IConstruct, problem: Problem];

function validationProblems(all: readonly IConstruct[]): readonly Said[] {
	return all.flatMap((construct) =>
		messages(() => construct.node.validate()).map(
			(message): Said => [construct, treeError(construct, "validation", "", message)],
		),
	);
}

function aspectProblems(all: readonly IConstruct[]): readonly Said[] {
	return all.flatMap((scope) =>
		scope.node.metadata
			.filter(({ type }) => type === ASPECT)
			.flatMap(({ data }) => scope.node.findAll().flatMap((construct) => visit(data as Aspect, construct))),
	);
}

function visit(aspect: Aspect, construct: IConstruct): readonly Said[] {
	return messages(() => aspect.visit(construct)).map(
		(message): Said => [construct, treeError(construct, "aspect", "", message)],
	);
}

/** What a check of the user's says. One that throws has said what its error says. */
function messages(check: () => readonly string[] | undefined): readonly string[] {
	try {
		return check() ?? [];
	} catch (error) {
		return [error instanceof Error ? error.message : String(error)];
	}
}
