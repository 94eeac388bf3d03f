/** What the documents say about the program is what the program has. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { COMMANDS } from "../../../src/cli/commands.ts";
import { EXIT } from "../../../src/errors.ts";
import { sourceCodes } from "./source-codes.ts";

const root = new URL("../../../", import.meta.url).pathname;
const read = (path: string) => readFileSync(join(root, path), "utf8");
const PAGES = [
	"README.md",
	"CONTRIBUTING.md",
	"CHANGELOG.md",
	...readdirSync(join(root, "docs"))
		.filter((name) => name.endsWith(".md"))
		.map((name) => `docs/${name}`),
];

/** Cells of the tables of a page, rows whose first cell is one piece of code. */
function codeRows(page: string): readonly (readonly string[])[] {
	return [...read(page).matchAll(/^\| `([^`]+)` +\|(.*)\|$/gm)].map(([, first, rest]) => [
		first!,
		...rest!.split("|").map((cell) => cell.trim()),
	]);
}

describe.each(PAGES)("%s", (page) => {
	const text = read(page);

	it("names scripts that exist", () => {
		const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };
		const named = [...text.matchAll(/npm run ([\w:-]+)/g)].map(([, name]) => name!);
		expect(named.filter((name) => !Object.hasOwn(scripts, name))).toEqual([]);
	});

	it("shows commands and options that exist", () => {
		const calls = [...text.matchAll(/(?:^|\$ |`)(?:npx )?gym (?!eval\b)([a-z]+)((?: [^`\n·]*)?)/gm)];
		const wrong = calls.flatMap(([call, name, rest]) => {
			const command = COMMANDS.find((one) => one.name === name);
			if (!command) return name === "help" ? [] : [call];
			const known = new Set(
				command.options.flatMap((one) => [one.name, ...("short" in one ? [one.short] : [])]),
			);
			const given = [...rest!.matchAll(/(?<=\s)--?([a-z][a-z-]*)/g)].map(([, option]) => option!);
			return given.filter((option) => !known.has(option)).map((option) => `${call}: ${option}`);
		});
		expect(wrong).toEqual([]);
	});

	it("links to files that exist", () => {
		const links = [...text.matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, to]) => to!);
		expect(links.filter((to) => !existsSync(join(root, dirname(page), to)))).toEqual([]);
	});
});

describe("README.md", () => {
	it("has the exit codes of the program", () => {
		const [, table] = /## Exit codes\n([\s\S]*?)\n## /.exec(read("README.md"))!;
		const codes = [...table!.matchAll(/^\| (\d+) /gm)].map(([, code]) => Number(code));
		expect(codes).toEqual(Object.values(EXIT));
	});
});

describe("docs/errors.md", () => {
	it("lists exactly the codes that the program can give, once each, with exit, meaning and remedy", () => {
		const rows = codeRows("docs/errors.md");
		const listed = rows.map(([code]) => code!);
		const possible = sourceCodes();
		expect({
			missing: [...possible].filter((code) => !listed.includes(code)),
			unknown: listed.filter((code) => !possible.has(code)),
			twice: listed.filter((code, at) => listed.indexOf(code) !== at),
		}).toEqual({ missing: [], unknown: [], twice: [] });
		expect(rows.filter((cells) => cells.length !== 4 || cells.some((cell) => cell === ""))).toEqual([]);
	});
});
