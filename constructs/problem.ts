/** Problems that are found in the construct tree. */
import type { IConstruct } from "constructs";
import type { Problem, SourceLocation } from "../src/errors.ts";

/** A construct and where the user made it. */
export interface Origin {
	readonly source?: SourceLocation;
	readonly construct?: string;
}

/** Where a construct comes from. One that is not ours knows no line: the nearest scope that does answers. */
export function originOf(construct: IConstruct): Origin {
	const located = construct.node.scopes.findLast((scope) => sourceOf(scope) !== undefined);
	const source = located && sourceOf(located);
	return {
		...(source && { source }),
		...(construct.node.path && { construct: construct.node.path }),
	};
}

function sourceOf(construct: IConstruct): SourceLocation | undefined {
	return (construct as { readonly source?: SourceLocation }).source;
}

/** An error about a construct. `at` is the path in the document, or empty. */
export function treeError(
	construct: IConstruct,
	code: string,
	at: string,
	message: string,
	remedy?: string,
): Problem {
	return { code, severity: "error", at, message, ...(remedy && { remedy }), ...originOf(construct) };
}
