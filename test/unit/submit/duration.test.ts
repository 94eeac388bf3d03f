import { describe, expect, test } from "vitest";
import { formatDuration, limitSeconds, parseDuration } from "../../../src/submit/duration.ts";

const MINUTE = 60;
const HOUR = 3_600;
const DAY = 86_400;

describe("parseDuration", () => {
	test.each([
		["90", 90 * MINUTE],
		["90:00", 90 * MINUTE],
		["48:00", 48 * MINUTE],
		["10:30", 10 * MINUTE + 30],
		["12:30:00", 12 * HOUR + 30 * MINUTE],
		["1:2:3", HOUR + 2 * MINUTE + 3],
		["00:90:00", 90 * MINUTE],
		["3-0", 3 * DAY],
		["3-00", 3 * DAY],
		["3-0:00", 3 * DAY],
		["3-00:00:00", 3 * DAY],
		["1-2:3:4", DAY + 2 * HOUR + 3 * MINUTE + 4],
		["0", 0],
		["UNLIMITED", Number.POSITIVE_INFINITY],
		["infinite", Number.POSITIVE_INFINITY],
	])("%s", (text, seconds) => {
		expect(parseDuration(text)).toBe(seconds);
	});

	test.each([
		"",
		"4h",
		"1.5",
		"1:2:3:4",
		"1-",
		"-5",
		"1-2-3",
		"1-2:3:4:5",
		"+5",
		"1: 2",
		"INVALID",
		" 5",
		"9".repeat(30),
	])("%j is none", (text) => {
		expect(parseDuration(text)).toBeNull();
	});
});

test.each([
	["04:00:00", 4 * HOUR],
	["UNLIMITED", null],
	["infinite", null],
	["-1", null],
	[null, null],
])("the limit %s is %s seconds", (text, seconds) => expect(limitSeconds(text)).toBe(seconds));

test.each([
	[0, "00:00:00"],
	[48 * MINUTE, "00:48:00"],
	[DAY - 1, "23:59:59"],
	[3 * DAY, "3-00:00:00"],
	[DAY + HOUR + MINUTE + 1, "1-01:01:01"],
	[Number.POSITIVE_INFINITY, "UNLIMITED"],
])("%d seconds are %s", (seconds, clock) => {
	expect(formatDuration(seconds)).toBe(clock);
});
