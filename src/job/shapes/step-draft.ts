/** A step of a service before it has its names, and what all services have in common. */
import type { HealthCheck, ServiceConfig, VllmConfig } from "../../submit/config.ts";
import { envEntries } from "../env.ts";
import type { Health, Placement, ServiceStep } from "../model.ts";

/** A step that still needs an id and a word; `name` is what they are made from. */
export type StepDraft = Omit<ServiceStep, "id" | "word"> & { readonly name: string };

/** What a step takes over from the service that it belongs to. */
export function commonParts(
	service: ServiceConfig | VllmConfig,
	at: string,
): Pick<StepDraft, "at" | "container" | "mounts" | "env" | "usesGpus" | "seesBench"> {
	const { container, mounts, env } = service;
	return { at, container, mounts, env: envEntries(env), usesGpus: true, seesBench: false };
}

/** The user's own statements, then the rest. */
export function afterPreCommand({ pre_command }: ServiceConfig | VllmConfig, rest: string): string {
	return pre_command.trim() === "" ? rest : `${pre_command.replace(/\n+$/, "")}\n${rest}`;
}

/** The probe of a service on one node. */
export function healthOn(node: number, check: HealthCheck | null, port: number): Health | null {
	if (check === null) return null;
	return { node, port: check.port ?? port, path: check.path, timeout: check.timeout_seconds };
}

/** One node. */
export function onNode(first: number): Placement {
	return { first, count: 1 };
}
