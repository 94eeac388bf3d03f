/** The lock by which submit exchanges of one stack, output path and user take turns. */
import { quote } from "../../job/script/quote.ts";

/** Longest part of a stack's name in it: stacks that share a lock only wait for each other. */
const LONGEST = 100;

/** A bash word: path of the lock. The file is its user's own, so each user has one. */
export function stackLock(outputPath: string, stack: string): string {
	const folder = outputPath.replace(/\/+$/, "");
	return `${quote(`${folder}/.gym-stack-${stack.slice(0, LONGEST)}`)}"-$UID.lock"`;
}
