/** The grammar of a bind mount: `src`, `src:dst` or `src:dst:flags`. */
import type { Failure } from "./issue.ts";

/** A bind mount, taken apart. */
export interface Mount {
	/** Path on the node. */
	readonly source: string;
	/** Path in the container. */
	readonly target: string;
	/** Mount flags joined by `+`, e.g. `ro`; empty for none. */
	readonly flags: string;
}

/** Takes a valid mount apart; without `dst` the path is the same on both sides. */
export function parseMount(mount: string): Mount {
	const [source = "", target = source, flags = ""] = mount.split(":");
	return { source, target, flags };
}

/** What is wrong with a mount, or undefined. Pyxis splits its list on commas, and nothing expands `~` or `$`. */
export function mountProblem(mount: string): Failure | undefined {
	const shown = JSON.stringify(mount);
	if (/[,\0-\x1f\x7f]/.test(mount)) {
		return {
			code: "mount-separator",
			message: `mount ${shown} holds a comma or line break, which would end it`,
			remedy: "rename the folder, or mount its parent",
		};
	}
	if (/^~|\$/.test(mount)) {
		return {
			code: "mount-not-expanded",
			message: `mount ${shown}: ~ and $ are not expanded`,
			remedy: "write the absolute path",
		};
	}
	const parts = mount.split(":");
	const { source, target } = parseMount(mount);
	if (
		parts.length > 3 ||
		parts.some((part) => part === "") ||
		!source.startsWith("/") ||
		!target.startsWith("/")
	) {
		return {
			code: "bad-mount",
			message: `mount ${shown} is not src, src:dst or src:dst:flags with absolute paths`,
		};
	}
	return undefined;
}
