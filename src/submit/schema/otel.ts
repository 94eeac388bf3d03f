/** `otel`: the collector beside every job. On unless switched off. */
import { struct } from "./mapping.ts";
import { line, port, seconds, text, toggle, variableName } from "./scalar.ts";

/** The otel section. */
export const otel = struct({
	enabled: toggle().default(true).describe("Run the collector"),
	endpoint: line().nullable().default(null).describe("Where it sends; required while enabled"),
	service_name: line().nullable().default(null).describe("service.name; required while enabled"),
	token_env: variableName().default("OTEL_TOKEN").describe("Variable of the submitting shell with the token"),
	binary: line().default("otelcol-contrib").describe("Collector program"),
	container: line().nullable().default(null).describe("Image it runs in; null: on the node itself"),
	component: line().default("gym-vllm").describe("Prefix of its Prometheus job names"),
	gym_telemetry: toggle().default(true).describe("Gym's own spans and logs; needs driver.gym_install"),
	gym_span_groups: text().default("default,verify").describe("Groups of spans that Gym records"),
	gym_logs: toggle().default(true).describe("Send Gym's logs"),
	gpu_metrics_port: port().nullable().default(9400).describe("DCGM exporter; null: skipped"),
	node_metrics_port: port().nullable().default(9100).describe("Node exporter; null: skipped"),
	scrape_interval_seconds: seconds().default(15).describe("Seconds between scrapes"),
	health_check_timeout_seconds: seconds().default(300).describe("How long it may take to start"),
})
	.prefault(() => new Map())
	.describe("OpenTelemetry collector beside every job");
