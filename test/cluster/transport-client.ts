/**
 * A process of its own that runs one exchange, to be killed in the middle of it: `transport-client.js SCRIPT
 * [HOST]`. Without a host it uses this machine.
 */
import { randomUUID } from "node:crypto";
import { connect } from "../../src/cluster/transport/connect.ts";
import { noPoints } from "../../src/points.ts";

const [script, host] = process.argv.slice(2);
const transport = connect(host ?? null, {
	points: noPoints,
	nonce: () => randomUUID().replaceAll("-", ""),
	env: process.env,
	terminal: null,
});
await transport.run("submit", script!);
