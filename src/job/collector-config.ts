/** Text of `otel/collector.yaml`. The token is in none of it: the collector takes it from its environment. */
import { stringify } from "yaml";
import type { Collector, Scrape } from "./model.ts";
import { COLLECTOR_PORTS, hostVariable } from "./shapes/collector.ts";

/** Seconds of the buckets into which the durations of spans are counted. */
const BUCKETS = ["100ms", "500ms", "1s", "5s", "15s", "1m", "5m", "15m", "1h"];

const SIGNALS = ["metrics", "traces", "logs"] as const;

/** Text that the collector does not take for a variable. */
const literal = (text: string) => text.replaceAll("$", "$$$$");

const upsert = (key: string, value: string) => ({ key, value, action: "upsert" });

/** What every signal of the job carries, in place of what its producer said; that stays as `service.name.override`. */
function attributes(collector: Collector, runId: string) {
	return [
		...[...collector.attributes].map(([key, value]) => upsert(key, literal(value))),
		upsert("run_id", runId),
		upsert("user", "${env:USER}"),
		upsert("slurm_job_id", "${env:SLURM_JOB_ID}"),
		// The collector reads the id as a number; who looks for it looks for text.
		{ key: "slurm_job_id", action: "convert", converted_type: "string" },
	];
}

const KEEP_NAME = {
	context: "resource",
	statements: [
		'set(attributes["service.name.override"], attributes["service.name"]) where attributes["service.name.override"] == nil',
	],
};

function scrapeConfig({ job, service, targets }: Scrape, { node, scrapeInterval }: Collector) {
	const host = (at: number) => (at === node ? "localhost" : `\${env:${hostVariable(at)}}`);
	return {
		job_name: literal(job),
		scrape_interval: `${scrapeInterval}s`,
		static_configs: [
			{
				targets: targets.map((target) => `${host(target.node)}:${target.port}`),
				...(service === null ? {} : { labels: { gym_service: literal(service) } }),
			},
		],
	};
}

/** Each signal goes through one pipeline, and from there to the files as it is, and with the token to the endpoint. */
function pipelines(hasScrapes: boolean) {
	const receivers = {
		metrics: [...(hasScrapes ? ["prometheus"] : []), "otlp", "span_metrics"],
		traces: ["otlp"],
		logs: ["otlp"],
	};
	return Object.fromEntries(
		SIGNALS.flatMap((signal) => [
			[
				`${signal}/in`,
				{
					receivers: receivers[signal],
					processors: [
						...(signal === "metrics" ? ["transform/names"] : []),
						"transform/identity",
						"resource/job",
					],
					exporters: [
						`forward/${signal}_files`,
						`forward/${signal}_managed`,
						...(signal === "traces" ? ["span_metrics"] : []),
					],
				},
			],
			[
				`${signal}/files`,
				{ receivers: [`forward/${signal}_files`], processors: ["batch"], exporters: [`file/${signal}`] },
			],
			[
				`${signal}/managed`,
				{
					receivers: [`forward/${signal}_managed`],
					processors: ["resource/token", "batch"],
					exporters: ["otlp_http/managed"],
				},
			],
		]),
	);
}

/**
 * The collector's configuration.
 * @param place.benchDir absolute path of the benchmark's directory on the cluster
 * @param place.runId last part of the run directory's path
 */
export function collectorConfig(
	collector: Collector,
	place: { readonly benchDir: string; readonly runId: string },
): string {
	const token = `\${env:${collector.tokenVariable}}`;
	const any = "0.0.0.0";
	const file = (signal: string) => ({ path: literal(`${place.benchDir}/otel/${signal}.jsonl`) });
	const scrapes = collector.scrapes.map((scrape) => scrapeConfig(scrape, collector));
	return stringify(
		{
			extensions: { health_check: { endpoint: `${any}:${COLLECTOR_PORTS.health}` } },
			receivers: {
				otlp: {
					protocols: {
						grpc: { endpoint: `${any}:${COLLECTOR_PORTS.grpc}` },
						http: { endpoint: `${any}:${COLLECTOR_PORTS.http}` },
					},
				},
				...(scrapes.length === 0 ? {} : { prometheus: { config: { scrape_configs: scrapes } } }),
			},
			processors: {
				batch: {},
				// vLLM's names hold a colon, which most stores of metrics refuse.
				"transform/names": {
					metric_statements: [
						{ context: "metric", statements: ['replace_pattern(name, "^vllm:", "vllm_")'] },
					],
				},
				"transform/identity": {
					metric_statements: [KEEP_NAME],
					trace_statements: [KEEP_NAME],
					log_statements: [KEEP_NAME],
				},
				"resource/job": { attributes: attributes(collector, place.runId) },
				// The receiving side routes by this attribute.
				"resource/token": { attributes: [upsert("Authorization", token)] },
			},
			connectors: {
				...Object.fromEntries(
					SIGNALS.flatMap((signal) => [
						[`forward/${signal}_files`, {}],
						[`forward/${signal}_managed`, {}],
					]),
				),
				span_metrics: {
					histogram: { explicit: { buckets: BUCKETS } },
					dimensions: [{ name: "service.name.override" }],
					metrics_flush_interval: `${collector.scrapeInterval}s`,
				},
			},
			exporters: {
				"otlp_http/managed": {
					endpoint: literal(collector.endpoint),
					headers: { Authorization: `Bearer ${token}` },
				},
				"file/metrics": file("metrics"),
				"file/traces": file("traces"),
				"file/logs": file("logs"),
			},
			service: { extensions: ["health_check"], pipelines: pipelines(scrapes.length > 0) },
		},
		{ lineWidth: 0, aliasDuplicateObjects: false },
	);
}
