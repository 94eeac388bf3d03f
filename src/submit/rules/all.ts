/** All cross-field rules, in the order their findings are shown. */
import { chainCapped, commandAlone, durationsMeant } from "./benchmarks.ts";
import { directiveNames, directiveValues } from "./directives.ts";
import { exportKeepsEnvironment, type HostEnv, hostVariablesSet, valuesFit } from "./environment.ts";
import { gpusFit, gpusFitTogether, replicasEven } from "./gpus.ts";
import { serviceNames, variablesApart } from "./names.ts";
import { otelDestination, otelTelemetry } from "./otel.ts";
import { containersUsed, imagesReadable, outputPathAbsolute } from "./places.ts";
import { derivedPorts, nodesWhole, portsApart } from "./ports.ts";
import {
	routerFits,
	routerOnFirstPool,
	routerPatient,
	tierNamesFree,
	tierPools,
	tierRpcPorts,
	tierServerPerNode,
} from "./prefill-decode.ts";
import { rayPoolsOnce, rayPortOnce, rayResourcesSpanned } from "./ray.ts";
import { placementExists, policyExists, policyIsModel, policyKeysFree, poolsExist } from "./references.ts";
import type { Rule } from "./report.ts";
import { largeModelsTimed } from "./start-up.ts";

/**
 * The rules of a document.
 * @param hostEnv reads the submitting shell
 * @param missingHost how bad an unset variable is
 * @param leftOut malformed services that are not in the config
 */
export function documentRules(
	hostEnv: HostEnv,
	missingHost: "error" | "note",
	leftOut: ReadonlySet<string>,
): readonly Rule[] {
	return [
		placementExists,
		poolsExist,
		serviceNames,
		variablesApart,
		tierNamesFree,
		tierPools,
		tierRpcPorts,
		tierServerPerNode,
		routerOnFirstPool,
		routerPatient,
		routerFits,
		rayPoolsOnce,
		rayResourcesSpanned,
		rayPortOnce,
		gpusFit,
		gpusFitTogether,
		replicasEven,
		largeModelsTimed,
		derivedPorts,
		portsApart,
		nodesWhole,
		imagesReadable,
		containersUsed,
		directiveNames,
		directiveValues,
		exportKeepsEnvironment,
		hostVariablesSet(hostEnv, missingHost),
		valuesFit(hostEnv),
		policyExists(leftOut),
		policyIsModel,
		policyKeysFree,
		commandAlone,
		chainCapped,
		durationsMeant,
		outputPathAbsolute,
		otelDestination,
		otelTelemetry,
	];
}
