/** Values of a submit document as JSON has them. */
import type { Value } from "../../submit/config.ts";
import { asNumber } from "../../submit/float.ts";

/** What JSON can hold. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** A document value as JSON has it; `fromEntries` keeps a key such as `__proto__` a key. */
export function plain(value: Value): Json {
	if (value instanceof Map) {
		const entries = [...(value as ReadonlyMap<string, Value>)];
		return Object.fromEntries(entries.map(([key, item]) => [key, plain(item)]));
	}
	if (Array.isArray(value)) return (value as readonly Value[]).map(plain);
	return asNumber(value) as null | boolean | number | string;
}
