/** The whole submit document (Configuration Reference), from the raw tree with a `Map` for every mapping. */
import type { z } from "zod";
import { compute } from "./compute.ts";
import { driver } from "./driver.ts";
import { struct } from "./mapping.ts";
import { otel } from "./otel.ts";
import { line } from "./scalar.ts";
import { type Containers, services } from "./services.ts";

/** The schema; `containers` says whether services must name one. */
export function documentSchema(containers: Containers) {
	return struct({
		services: services(containers),
		compute,
		driver,
		job: struct({
			output_path: line().describe("Folder on the cluster; each submission makes its own folder in it"),
		}).describe("Where jobs write"),
		otel,
	});
}

/** A document of the right form, before anything is derived from other fields. */
export type ParsedDocument = z.output<ReturnType<typeof documentSchema>>;
