/** A folder that nobody else can write to: what lies in it gets executed. */
import { chmod, mkdir, stat } from "node:fs/promises";

/** Makes the folder, open to this user only. False when it cannot be made or is somebody else's. */
export async function privateFolder(folder: string): Promise<boolean> {
	try {
		await mkdir(folder, { recursive: true, mode: 0o700 });
		const { uid, mode } = await stat(folder);
		if (uid !== process.getuid?.()) return false;
		if ((mode & 0o077) !== 0) await chmod(folder, 0o700);
		return true;
	} catch {
		return false;
	}
}
