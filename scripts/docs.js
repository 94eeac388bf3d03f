// Writes the page of docs/ that is made from the sources.
import { writeFileSync } from "node:fs";
import { createJiti } from "jiti";

const { submitReference } = await createJiti(import.meta.url).import("./submit-reference/page.ts");
writeFileSync(new URL("../docs/submit-reference.md", import.meta.url), submitReference());
