/** `gym schema submit|events`: JSON Schemas for editors and tools. */
import { toJSONSchema } from "zod";
import { EXIT, fail } from "../../errors.ts";
import type { Session } from "../session.ts";
import { eventSchema } from "../views/events.ts";

const SCHEMAS: Readonly<Record<string, () => Promise<unknown>>> = {
	submit: async () => (await import("../../submit/json-schema.ts")).submitJsonSchema(),
	events: async () => toJSONSchema(eventSchema),
};

export async function run(session: Session): Promise<number> {
	const [what = ""] = session.args;
	if (!Object.hasOwn(SCHEMAS, what)) {
		throw fail(
			"invalid",
			"schema-unknown",
			`no schema "${what}"`,
			`schemas: ${Object.keys(SCHEMAS).join(", ")}`,
		);
	}
	session.out(`${JSON.stringify(await SCHEMAS[what]!(), null, 2)}\n`);
	return EXIT.ok;
}
