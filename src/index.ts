/** The library: constructs for gymfiles, and the engine behind the command line. */
export * from "../constructs/index.ts";
export { type AdoptOptions, adoptRun } from "./apply/adopt.ts";
export { type CancelOptions, cancelRuns } from "./apply/cancel.ts";
export * from "./engine.ts";
export { EXIT, type ExitName, GymError, type Problem, type SourceLocation } from "./errors.ts";
export type { Io, Stack } from "./io.ts";
