/**
 * Which program to start: the setting, then PATH, then a trusted workspace's own environment.
 *
 * Never starts anything. Read next: daemon.ts.
 */
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";

export interface Wanted {
  /** The setting `singletree.command`: a name or a whole path. */
  command: string;
  /** The variable PATH. */
  path: string;
  /** Folders whose `.venv` may be used: those of a trusted workspace, none otherwise. */
  trustedFolders: readonly string[];
}

/** The program's whole path; null where there is none. */
export function locate(wanted: Wanted): string | null {
  const { command } = wanted;
  if (isAbsolute(command)) return runs(command) ? command : null;
  if (/[\\/]/.test(command)) return null; // meant from a folder: from which, nobody could say
  const folders = [
    ...wanted.path.split(delimiter).filter(isAbsolute),
    ...wanted.trustedFolders.map((folder) => join(folder, ".venv", BIN)),
  ];
  for (const folder of folders) for (const end of ENDS) {
    const place = join(folder, command + end);
    if (runs(place)) return place;
  }
  return null;
}

const BIN = process.platform === "win32" ? "Scripts" : "bin";
const ENDS = process.platform === "win32" ? [".exe", ".cmd", ""] : [""];

function runs(place: string): boolean {
  try {
    accessSync(place, constants.X_OK);
    return statSync(place).isFile();
  } catch {
    return false;
  }
}
