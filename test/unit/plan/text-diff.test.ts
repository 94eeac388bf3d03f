import { expect, test } from "vitest";
import { diffFiles, diffText, fold } from "../../../src/plan/text-diff.ts";

const lines = (count: number, word: string) =>
	Array.from({ length: count }, (_, i) => `${word} ${i}`).join("\n");

test("equal texts have no diff", () => {
	expect(diffText("a\n", "a\n")).toEqual([]);
	expect(diffFiles({ "job.sh": "a\n" }, { "job.sh": "a\n" })).toEqual([]);
});

test("a change shows with three lines of context", () => {
	const before = `${lines(20, "line")}\n`;
	const diff = diffText(before, before.replace("line 10\n", "changed\n"));
	expect(diff).toEqual([
		"@@ -8,7 +8,7 @@",
		" line 7",
		" line 8",
		" line 9",
		"-line 10",
		"+changed",
		" line 11",
		" line 12",
		" line 13",
	]);
});

test("files that are new or gone are one hunk of all lines", () => {
	expect(diffFiles({ old: "x\n" }, { "job.sh": "a\nb\n" })).toEqual([
		{ file: "job.sh", lines: ["@@ -0,0 +1,2 @@", "+a", "+b"] },
		{ file: "old", lines: ["@@ -1,1 +0,0 @@", "-x"] },
	]);
});

test("a line feed at the end counts where only one text has it", () => {
	expect(diffText("a\nb", "a\nc")).toEqual(["@@ -1,2 +1,2 @@", " a", "-b", "+c"]);
	expect(diffText("", "a")).toEqual(["@@ -0,0 +1,1 @@", "+a"]);
	expect(diffText("a", "a\n")).toContain("\\ No newline at end of file");
});

test("texts that have nothing in common become a whole block, without searching for ever", () => {
	const diff = diffText(`${lines(5000, "old")}\n`, `${lines(5000, "new")}\n`);
	expect(diff).toHaveLength(10_001);
	expect(diff[0]).toBe("@@ -1,5000 +1,5000 @@");
	expect(diff[1]).toBe("-old 0");
	expect(diff.at(-1)).toBe("+new 4999");
});

test("a diff is folded beyond forty lines", () => {
	expect(fold(Array(40).fill("+x"))).toMatchObject({ hidden: 0 });
	const folded = fold(Array(45).fill("+x"));
	expect(folded.lines).toHaveLength(40);
	expect(folded.hidden).toBe(5);
});
