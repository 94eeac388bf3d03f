/** `gym version -json`; the plain form is answered before anything is loaded. */
import { EXIT } from "../../errors.ts";
import { VERSION } from "../../version.ts";
import type { Session } from "../session.ts";

export async function run(session: Session): Promise<number> {
	const { json } = session.options;
	session.out(
		json ? `${JSON.stringify({ gymfile: VERSION, node: process.versions.node })}\n` : `gymfile ${VERSION}\n`,
	);
	return EXIT.ok;
}
