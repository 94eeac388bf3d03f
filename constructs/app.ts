import { RootConstruct } from "constructs";
import type { SourceLocation } from "../src/errors.ts";
import { callSite } from "./call-site.ts";
import { ambientContext } from "./context.ts";
import { KIND } from "./kind.ts";

/** Props of {@link App}. */
export interface AppProps {
	/**
	 * Values for `node.tryGetContext(key)` anywhere in the tree. They win over `-c key=value`.
	 * @default only what `-c` gives
	 */
	readonly context?: Readonly<Record<string, unknown>>;
}

/**
 * The root of a gymfile: holds the stacks, and is what the gymfile exports by default. Values of
 * `-c key=value` are in its context: `app.node.tryGetContext("key")`.
 */
export class App extends RootConstruct {
	readonly [KIND] = "app" as const;
	/** Where the user wrote `new App(…)`. */
	readonly source: SourceLocation | undefined;

	constructor(props: AppProps = {}) {
		super();
		this.source = callSite(new.target);
		for (const [key, value] of Object.entries({ ...ambientContext(), ...props.context })) {
			this.node.setContext(key, value);
		}
	}
}
