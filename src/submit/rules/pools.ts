/** Pools of one job are one Slurm request: they agree (checked when the job is rendered). */
import type { Problem } from "../../errors.ts";
import type { NodePoolConfig, SourceMap, SubmitConfig } from "../config.ts";
import { nodePools, onlyCompute } from "../nodes.ts";
import { collector } from "./collect.ts";
import type { Rule } from "./report.ts";

const FIELDS = ["partition", "ntasks_per_node", "gpus_per_node"] as const;

type Setting = readonly [field: readonly string[], value: unknown];

/** What a pool asks of the whole job; its text is what Slurm would be told. */
function settings(pool: NodePoolConfig): readonly Setting[] {
	const fields = FIELDS.map((field): Setting => [[field], pool[field]]);
	return [...fields, ...[...pool.extra_args].map(([key, value]): Setting => [["extra_args", key], value])];
}

const poolsAgree: Rule = (config, report) => {
	const [compute] = onlyCompute(config);
	const first = new Map<string, { readonly pool: string; readonly value: unknown }>();
	for (const [pool, entry] of nodePools(config)) {
		for (const [field, value] of settings(entry)) {
			const key = field.join(".");
			const other = first.get(key);
			if (!other) first.set(key, { pool, value });
			else if (String(other.value) !== String(value)) {
				const message =
					`pools must agree on ${key}: ${JSON.stringify(other.pool)} has ${JSON.stringify(other.value)}, ` +
					`${JSON.stringify(pool)} has ${JSON.stringify(value)}`;
				report("error", "pools-disagree", ["compute", compute, "node_pools", pool, ...field], message);
			}
		}
	}
};

/** Problems of pools that cannot be one Slurm request; empty when they agree. */
export function checkPools(config: SubmitConfig, sources?: SourceMap): readonly Problem[] {
	const { report, problems } = collector(sources);
	poolsAgree(config, report);
	return problems;
}
