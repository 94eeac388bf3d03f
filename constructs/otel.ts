import type { Construct } from "constructs";
import { Element } from "./element.ts";
import { KIND } from "./kind.ts";
import { type Section, section } from "./section.ts";

/** How the collector works, on or off. */
export interface OtelCommonProps {
	/**
	 * Variable of the submitting shell that holds the bearer token.
	 * @default "OTEL_TOKEN"
	 */
	readonly tokenEnv?: string;
	/**
	 * Program of the collector.
	 * @default "otelcol-contrib"
	 */
	readonly binary?: string;
	/**
	 * Image that it runs in; null runs it on the node itself.
	 * @default null
	 */
	readonly container?: string | null;
	/**
	 * Prefix of the job names under which services are scraped.
	 * @default "gym-vllm"
	 */
	readonly component?: string;
	/**
	 * Has Gym send traces; needs the driver's `gymInstall`.
	 * @default true
	 */
	readonly gymTelemetry?: boolean;
	/**
	 * Groups of spans that Gym sends, joined by commas.
	 * @default "default,verify"
	 */
	readonly gymSpanGroups?: string;
	/**
	 * Has Gym send logs.
	 * @default true
	 */
	readonly gymLogs?: boolean;
	/**
	 * Port of the GPU exporter (DCGM) on each node; null skips it.
	 * @default 9400
	 */
	readonly gpuMetricsPort?: number | null;
	/**
	 * Port of the node exporter on each node; null skips it.
	 * @default 9100
	 */
	readonly nodeMetricsPort?: number | null;
	/**
	 * Seconds between two scrapes, at least 1.
	 * @default 15
	 */
	readonly scrapeIntervalSeconds?: number;
	/**
	 * Seconds that the collector may take to get healthy, at least 1.
	 * @default 300
	 */
	readonly healthCheckTimeoutSeconds?: number;
}

/** A collector that runs. */
export interface OtelOnProps extends OtelCommonProps {
	/**
	 * Runs the collector beside every job.
	 * @default true
	 */
	readonly enabled?: boolean;
	/** Address that it sends to; required while enabled. */
	readonly endpoint: string;
	/** `service.name` of what is sent; required while enabled. */
	readonly serviceName: string;
}

/** No collector; its settings may stay written. */
export interface OtelOffProps extends OtelCommonProps {
	/** Switches it off. */
	readonly enabled: false;
	/**
	 * Address that it would send to.
	 * @default null
	 */
	readonly endpoint?: string | null;
	/**
	 * `service.name` of what would be sent.
	 * @default null
	 */
	readonly serviceName?: string | null;
}

/** Props of {@link Otel}. Document: `otel`. */
export type OtelProps = OtelOnProps | OtelOffProps;

/**
 * The OpenTelemetry collector beside every job. It is on unless switched off: a stack without this construct
 * means an enabled collector, which then asks for `endpoint` and `serviceName`. To have none write
 * `new Otel(stack, "otel", { enabled: false })`.
 */
export class Otel extends Element {
	readonly [KIND] = "otel" as const;
	readonly props: OtelProps;

	/** @param id name in the tree only; the document has one collector */
	constructor(scope: Construct, id: string, props: OtelProps) {
		super(scope, id);
		this.props = props;
	}

	/** The `otel` section. */
	toDocument(): Section {
		return section(this.props);
	}
}
