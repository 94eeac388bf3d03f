/** Where a document names bind mounts. */
import type { SubmitConfig } from "./config.ts";
import type { Path } from "./path.ts";

/** Every list of bind mounts with its place: of the services, their tiers, and the driver. */
export function mountLists(
	config: SubmitConfig,
): readonly { readonly path: Path; readonly mounts: readonly string[] }[] {
	const services = [...config.services].flatMap(([name, service]) => {
		const path = ["services", name];
		const own = { path: [...path, "mounts"], mounts: service.mounts };
		if (service.type !== "vllm_pd") return [own];
		const tiers = (["prefill", "decode"] as const).map((tier) => ({
			path: [...path, tier, "mounts"],
			mounts: service[tier].mounts,
		}));
		return [own, ...tiers];
	});
	return [...services, { path: ["driver", "mounts"], mounts: config.driver.mounts }];
}

/** What a bind mount takes from the host. */
export function mountSource(mount: string): string {
	return mount.split(":")[0]!;
}
