/** The parts of a document that become steps of a job. */
import type { DriverConfig, ServiceConfig, SubmitConfig, VllmConfig } from "./config.ts";

/** A part with its place in the document. */
export interface Part {
	readonly path: readonly string[];
	readonly part: Pick<ServiceConfig | VllmConfig | DriverConfig, "container" | "env" | "mounts">;
}

/** The services, each before its tiers, in the order of the document, and the driver. */
export function parts({ services, driver }: Pick<SubmitConfig, "services" | "driver">): readonly Part[] {
	const ofServices = [...services].flatMap(([name, service]): readonly Part[] => {
		const path = ["services", name];
		const own = { path, part: service };
		if (service.type !== "vllm_pd") return [own];
		return [
			own,
			...(["prefill", "decode"] as const).map((tier) => ({ path: [...path, tier], part: service[tier] })),
		];
	});
	return [...ofServices, { path: ["driver"], part: driver }];
}

/** What a bind mount takes from the host. */
export function mountSource(mount: string): string {
	return mount.split(":")[0]!;
}
