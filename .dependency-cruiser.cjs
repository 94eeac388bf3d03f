// Who may import whom (see docs/architecture.md). Pure folders know no file system, process, network or clock.
const PURE =
	"^src/(submit|job|plan|chain|apply|gymconfig)/|^src/(engine|errors|io|points)\\.ts$|^constructs/(?!testing/)";
const IO_MODULES =
	"^(node:)?(fs|fs/promises|child_process|net|http|https|os|process|worker_threads|dns|tls|readline|readline/promises|timers|timers/promises)$";

module.exports = {
	forbidden: [
		{ name: "no-circular", severity: "error", from: {}, to: { circular: true } },
		{
			name: "pure-does-no-io",
			severity: "error",
			from: { path: PURE },
			to: { dependencyTypes: ["core"], path: IO_MODULES },
		},
		{
			name: "pure-imports-pure",
			severity: "error",
			from: { path: "^src/(submit|job|plan|chain)/" },
			to: {
				path: "^(src/(apply|load|cli|ui)/|src/cluster/(transport|fake|local)/|src/cluster/slurm/(scheduler|.*-script)|state/backends/)",
				dependencyTypesNot: ["type-only"],
			},
		},
		{
			name: "submit-stands-first",
			severity: "error",
			from: { path: "^src/submit/" },
			to: { path: "^src/(?!submit/|errors\\.ts)" },
		},
		{
			name: "job-knows-submit-only",
			severity: "error",
			from: { path: "^src/job/" },
			to: { path: "^src/(?!job/|submit/|errors\\.ts)" },
		},
		{
			name: "constructs-import-types-of-submit",
			severity: "error",
			from: { path: "^constructs/(?!testing/)" },
			to: { path: "^src/(?!errors\\.ts|submit/float\\.ts)", dependencyTypesNot: ["type-only"] },
		},
		{
			name: "slurm-is-one-scheduler",
			severity: "error",
			from: { path: "^(src/(?!cli/process-io\\.ts$|cluster/slurm/)|constructs/|state/)" },
			to: { path: "^src/cluster/slurm/" },
		},
		{
			name: "views-show",
			severity: "error",
			from: { path: "^src/cli/views/" },
			to: { path: "^src/(cluster/transport|load|apply/apply)", dependencyTypesNot: ["type-only"] },
		},
		{
			name: "only-the-cli-knows-the-cli",
			severity: "error",
			from: { pathNot: "^src/cli/" },
			to: { path: "^src/cli/" },
		},
		{
			name: "backends-are-injected",
			severity: "error",
			from: { pathNot: "^(src/cli/|state/backends/|src/cluster/local/supervisor\\.ts$|test/)" },
			to: { path: "^state/backends/" },
		},
	],
	options: {
		doNotFollow: { path: "node_modules" },
		tsPreCompilationDeps: true,
		enhancedResolveOptions: {
			exportsFields: ["exports"],
			conditionNames: ["import", "require", "node", "default", "types"],
		},
	},
};
