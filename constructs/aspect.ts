import type { IConstruct } from "constructs";

/** Key under which a scope's metadata holds its aspects. */
export const ASPECT = "gymfile.aspect";

/** Looks at every construct of a tree when it is synthesized. */
export interface Aspect {
	/** @returns what is wrong with the construct, one message each; nothing when it is fine */
	visit(construct: IConstruct): readonly string[];
}

/**
 * Has `aspect` visit `scope` and everything below it at synth, also what is added later. Its messages become
 * errors that name the construct: a place for the rules of a team, e.g. "every benchmark is resumable".
 */
export function addAspect(scope: IConstruct, aspect: Aspect): void {
	scope.node.addMetadata(ASPECT, aspect);
}
