/** What every construct of ours is: named, located in the user's file, and a part of a submit document. */
import { Construct } from "constructs";
import type { SourceLocation } from "../src/errors.ts";
import { callSite } from "./call-site.ts";
import { KIND, type Kind } from "./kind.ts";
import type { Section } from "./section.ts";

/**
 * Key of the root's metadata that lists our constructs in the order they were made. The tree itself keeps
 * children in an object, which moves ids such as `10` to the front.
 */
export const CREATED = "gymfile.created";

/** Base of all our constructs below the App. */
export abstract class Element extends Construct {
	abstract readonly [KIND]: Kind;
	/** The id as it was written: the name in the submit document. */
	readonly name: string;
	/** Where the user wrote `new …`; undefined when the stack trace does not tell. */
	readonly source: SourceLocation | undefined;

	/**
	 * @param scope the stack, or any construct below it
	 * @param id name in the submit document, without `/` and line breaks
	 */
	constructor(scope: Construct, id: string) {
		super(scope, treeId(id));
		this.name = id;
		this.source = callSite(new.target);
		this.node.root.node.addMetadata(CREATED, this);
	}

	/** This construct's part of the submit document. */
	abstract toDocument(): Section;
}

/** The tree looks its children up in a plain object, where `constructor` and the like are always taken. */
function treeId(id: string): string {
	return id in Object.prototype ? `(${id})` : id;
}
