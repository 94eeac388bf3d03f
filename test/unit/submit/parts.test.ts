import { expect, test } from "vitest";
import type { SubmitConfig } from "../../../src/submit/config.ts";
import { mountSource, parts } from "../../../src/submit/parts.ts";

test("services, both tiers and the driver are found at their places", () => {
	const config = {
		services: new Map<string, object>([
			["judge", { type: "vllm", mounts: ["/a:/x"] }],
			[
				"split",
				{ type: "vllm_pd", mounts: ["/b"], prefill: { mounts: ["/c:/y:ro"] }, decode: { mounts: ["/d"] } },
			],
		]),
		driver: { mounts: ["/e"] },
	};
	const found = parts(config as unknown as SubmitConfig).map(({ path, part }) => [
		path.join("."),
		part.mounts.map(mountSource),
	]);
	expect(found).toEqual([
		["services.judge", ["/a"]],
		["services.split", ["/b"]],
		["services.split.prefill", ["/c"]],
		["services.split.decode", ["/d"]],
		["driver", ["/e"]],
	]);
});
