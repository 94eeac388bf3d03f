/** A run's `resolved-config.yaml` → the document as one benchmark's job saw it. */
import { writeDocument } from "../plan/document-text.ts";
import type { Value } from "../submit/config.ts";
import { loadSubmitYaml } from "./submit-yaml.ts";

function mapping(value: Value | undefined): ReadonlyMap<string, Value> | null {
	return value instanceof Map ? (value as ReadonlyMap<string, Value>) : null;
}

/** Text of the document, in the form in which the state keeps it; null when it cannot be read. */
export function readResolvedConfig(text: string, benchmark: string): string | null {
	const { raw, problems } = loadSubmitYaml(text, "resolved-config.yaml");
	const driver = mapping(raw.get("driver"));
	const entry = mapping(driver?.get("benchmarks"))?.get(benchmark);
	if (!driver || entry === undefined || problems.some(({ severity }) => severity === "error")) return null;
	const benchmarks: ReadonlyMap<string, Value> = new Map([[benchmark, entry]]);
	return writeDocument(new Map([...raw, ["driver", new Map([...driver, ["benchmarks", benchmarks]])]]));
}
