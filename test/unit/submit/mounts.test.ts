import { expect, test } from "vitest";
import type { SubmitConfig } from "../../../src/submit/config.ts";
import { mountLists, mountSource } from "../../../src/submit/mounts.ts";

test("mounts of services, of both tiers and of the driver are found at their places", () => {
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
	const found = mountLists(config as unknown as SubmitConfig).map(({ path, mounts }) => [
		path.join("."),
		mounts.map(mountSource),
	]);
	expect(found).toEqual([
		["services.judge.mounts", ["/a"]],
		["services.split.mounts", ["/b"]],
		["services.split.prefill.mounts", ["/c"]],
		["services.split.decode.mounts", ["/d"]],
		["driver.mounts", ["/e"]],
	]);
});
