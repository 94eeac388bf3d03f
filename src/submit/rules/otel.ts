/** The collector. */
import type { Rule } from "./report.ts";

/** An enabled collector knows where to send and as whom. */
export const otelDestination: Rule = (config, report) => {
	const { otel } = config;
	if (!otel.enabled) return;
	for (const field of ["endpoint", "service_name"] as const) {
		if (otel[field] !== null) continue;
		const message = "required while the collector is enabled, which is the default";
		report(
			"error",
			"otel-incomplete",
			["otel", field],
			message,
			'set it, or otel.enabled: false (in a gymfile: new Otel(stack, "otel", { enabled: false }))',
		);
	}
};

/** Gym's own telemetry is installed with Gym. */
export const otelTelemetry: Rule = (config, report) => {
	const { otel, driver } = config;
	if (!otel.enabled || !otel.gym_telemetry || driver.gym_install !== null) return;
	const message = "gym_telemetry (on by default) needs driver.gym_install";
	report(
		"error",
		"otel-telemetry",
		["otel", "gym_telemetry"],
		message,
		"set driver.gym_install, or gym_telemetry: false",
	);
};
