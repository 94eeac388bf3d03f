/**
 * Claims of processes of this machine. A claim ends with its process, whatever ends that.
 *
 * A claim that can pass on is a folder of numbered files; the highest number holds. A number is made exclusively
 * and only above one whose holder is gone, so of two that find the same dead holder one wins.
 */
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Host } from "../../../state/host.ts";
import { createExclusively, makeFolder, readIfThere } from "./atomic-files.ts";

/** Names one process for good: pids are reused, and mean something only within one boot. */
export interface Owner {
	readonly bootId: string | null;
	readonly pid: number;
	readonly startTime: string | null;
}

/** A claim that is held. */
export interface Claim {
	release(): Promise<void>;
}

/** Text that names this process in a claim. */
export function signature(host: Host): string {
	const owner: Owner = {
		bootId: host.bootId,
		pid: host.pid,
		startTime: host.processAt(host.pid)?.startTime ?? null,
	};
	return `${JSON.stringify(owner)}\n`;
}

/** Does the process still run? After a reboot, and from another pid namespace, it does not. */
export function isAlive(owner: Owner, host: Host): boolean {
	if (owner.bootId !== host.bootId || owner.startTime === null) return false;
	return host.processAt(owner.pid)?.startTime === owner.startTime;
}

/** Claims what `folder` stands for; null while another living process has it. The parent folder must be there. */
export async function claim(folder: string, host: Host): Promise<Claim | null> {
	await makeFolder(folder);
	for (;;) {
		const numbers = (await readdir(folder)).filter((name) => /^\d+$/.test(name)).map(Number);
		const last = Math.max(0, ...numbers);
		const text = last === 0 ? null : await readIfThere(join(folder, String(last)));
		if (last > 0 && text === null) continue; // released since we looked
		if (text !== null && isAlive(JSON.parse(text) as Owner, host)) return null;
		const path = join(folder, String(last + 1));
		if (await createExclusively(path, signature(host))) {
			return { release: () => rm(path, { force: true }) };
		}
	}
}
