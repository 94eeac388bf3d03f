/** Names that become file names and variables. */
import { nodePools, onlyCompute } from "../nodes.ts";
import type { Path } from "../path.ts";
import type { Rule } from "./report.ts";

/** Longest name that leaves room in a log's file name. */
const LONGEST_NAME = 200;

/** A name as part of a variable: upper case, everything but letters and digits as `_`. */
export function variablePart(name: string): string {
	return name.toUpperCase().replaceAll(/[^A-Z0-9]/g, "_");
}

/** Service names can be part of a log's file name. */
export const serviceNames: Rule = (config, report) => {
	for (const name of config.services.keys()) {
		const shown = JSON.stringify(name);
		const path = ["services", name];
		if (name === "" || /[/\0-\x1f\x7f]/.test(name)) {
			report(
				"error",
				"service-name",
				path,
				`${shown} cannot be part of a file name`,
				"no slashes and line breaks",
			);
		} else if (new TextEncoder().encode(name).length > LONGEST_NAME) {
			report("error", "service-name", path, "the service name is too long", `at most ${LONGEST_NAME} bytes`);
		} else if (name === "driver") {
			report("error", "service-name", path, "the driver's own log has this name", "rename the service");
		}
	}
};

/** Variables that the job exports under services' and pools' names are each of one thing. */
export const variablesApart: Rule = (config, report) => {
	const [compute] = onlyCompute(config);
	const owners = new Map<string, string>();
	const claim = (variable: string, path: Path, owner: string) => {
		const other = owners.get(variable);
		if (other === undefined) owners.set(variable, owner);
		else if (other !== owner) {
			const message = `its variable ${variable} is also that of ${other}`;
			report("error", "variable-clash", path, message, "rename one of them");
		}
	};
	for (const pool of nodePools(config).keys()) {
		const path = ["compute", compute, "node_pools", pool];
		claim(`GYM_POOL_${variablePart(pool)}_NODES`, path, `pool ${JSON.stringify(pool)}`);
	}
	for (const [name, service] of config.services) {
		if (service.type !== "ray") continue;
		const path = ["services", name];
		const owner = `service ${JSON.stringify(name)}`;
		claim(`GYM_RAY_ADDRESS_${variablePart(name)}`, path, owner);
		for (const pool of new Set(service.node_pools)) {
			const variable = `GYM_RAY_${variablePart(name)}_${variablePart(pool)}_WORKERS`;
			claim(variable, path, `${owner} on pool ${JSON.stringify(pool)}`);
		}
	}
};
