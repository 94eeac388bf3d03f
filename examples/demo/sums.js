// The demo's benchmark: asks the model for 20 sums and writes one rollout a task, as `gym eval run` would.
import { appendFileSync, writeFileSync } from "node:fs";

const { NEMO_GYM_BENCH_DIR, NEMO_GYM_POLICY_BASE_URL, NEMO_GYM_POLICY_MODEL_NAME } = process.env;
const artifacts = `${NEMO_GYM_BENCH_DIR}/artifacts`;

const tasks = Array.from({ length: 20 }, (_, i) => ({
	prompt: `What is ${3 * i + 1} + ${2 * i}?`,
	expected: 5 * i + 1,
}));
writeFileSync(
	`${artifacts}/rollouts_materialized_inputs.jsonl`,
	tasks.map((task) => `${JSON.stringify(task)}\n`).join(""),
);

for (const [index, { prompt, expected }] of tasks.entries()) {
	const response = await fetch(`${NEMO_GYM_POLICY_BASE_URL}/chat/completions`, {
		method: "POST",
		headers: { "content-type": "application/json" },
		body: JSON.stringify({
			model: NEMO_GYM_POLICY_MODEL_NAME,
			messages: [{ role: "user", content: prompt }],
		}),
	});
	const { choices } = await response.json();
	const said = choices[0].message.content;
	const reward = said === String(expected) ? 1 : 0;
	appendFileSync(
		`${artifacts}/rollouts.jsonl`,
		`${JSON.stringify({ _ng_task_index: index, prompt, said, reward })}\n`,
	);
	console.log(`${prompt} ${said}${reward ? "" : "  (wrong)"}`);
}
