/** Our YAML in the peer's `gym eval submit --resolve-only`: accepted, and resolved as we resolve it. */
import { beforeAll, describe, expect, test } from "vitest";
import { emitYaml, toPlain } from "../../src/submit/emit.ts";
import { asPeer, comparable, DIFFERENCES, exampleDocuments, forPeer, kitDocuments } from "./documents.ts";
import { Other, type Read, read } from "./peer.ts";

const examples = await exampleDocuments();
const documents = [...examples, ...(await kitDocuments())];

let resolved: ReadonlyMap<string, Read>;

beforeAll(() => {
	const results = read(
		"submit",
		documents.map(({ raw }) => forPeer(raw)),
	);
	resolved = new Map(documents.map(({ name }, i) => [name, results[i]!]));
});

/** What the peer made of a document, as text. */
function theirs(name: string): string {
	const read = resolved.get(name)!;
	return read instanceof Other ? read.description : comparable(read);
}

test("the documents are there", () => {
	expect(examples.length).toBeGreaterThanOrEqual(3);
	expect(documents.length).toBeGreaterThan(40);
	expect(resolved.size).toBe(documents.length);
});

describe("the peer resolves as we do", () => {
	test.each(documents)("$name", ({ name, config }) => {
		expect(theirs(name)).toBe(comparable(asPeer(toPlain(config))));
	});
});

describe("what differs on purpose still does", () => {
	test.each(DIFFERENCES)("$subject: $why", (difference) => {
		const ours = documents.map(({ config }) => comparable(asPeer(toPlain(config), difference)));
		expect(ours).not.toEqual(documents.map(({ name }) => theirs(name)));
	});

	test("the peer refuses a document with forward_env", () => {
		const { raw } = documents.find(({ name }) => name === "forward-env")!;
		const [answer] = read("submit", [{ yaml: emitYaml(raw), env: {} }]);
		expect(answer).toMatchObject({ description: expect.stringContaining("forward_env") });
	});
});
