/**
 * The folder's files, as a person names them behind an @: offered while they type, and pointed to when they send.
 *
 * Never reads one. Read next: shared/mentions.ts.
 */
import { statSync } from "node:fs";
import * as vscode from "vscode";
import type { FileMention } from "../protocol";
import { mentioned, ranked } from "../shared/mentions";

/** Files of a folder that are looked through, and lines of the list. */
const MOST = 20_000;
const OFFERED = 20;
/** Milliseconds for which a list of files counts as the files that are there. */
const FRESH = 5000;

export class Files {
  private listed = { folder: "", at: 0, paths: [] as string[] };

  /** Paths from the folder on that may be meant; those that are open first. */
  async offered(folder: vscode.WorkspaceFolder, typed: string): Promise<string[]> {
    const open = new Set(vscode.workspace.textDocuments.map(({ uri }) => pathIn(folder, uri)));
    return ranked(await this.list(folder), typed, open, OFFERED);
  }

  private async list(folder: vscode.WorkspaceFolder): Promise<string[]> {
    const key = folder.uri.toString();
    if (this.listed.folder !== key || Date.now() - this.listed.at > FRESH) {
      const found = await vscode.workspace.findFiles(new vscode.RelativePattern(folder, "**/*"), await hidden(folder), MOST);
      this.listed = { folder: key, at: Date.now(), paths: found.map((uri) => pathIn(folder, uri)) };
    }
    return this.listed.paths;
  }
}

/** What the text names and is there, as blocks that go along with it. */
export function mentions(text: string, folder: vscode.WorkspaceFolder | undefined): FileMention[] {
  if (!folder) return [];
  return mentioned(text).flatMap(({ path, first, last }): FileMention[] => {
    const uri = path.startsWith("/") ? vscode.Uri.file(path) : vscode.Uri.joinPath(folder.uri, path);
    if (!statSync(uri.fsPath, { throwIfNoEntry: false })) return [];
    const lines = first === undefined || last === undefined ? {} : { range: { start: line(first - 1), end: line(last) } };
    return [{ type: "fileMention", uri: uri.toString(), ...lines }];
  });
}

function line(number: number): { line: number; character: number } {
  return { line: Math.max(number, 0), character: 0 };
}

function pathIn(folder: vscode.WorkspaceFolder, uri: vscode.Uri): string {
  const root = `${folder.uri.path.replace(/\/$/, "")}/`;
  return uri.path.startsWith(root) ? uri.path.slice(root.length) : uri.path;
}

/** What the editor's own search leaves out, and plain names in the folder's .gitignore. */
async function hidden(folder: vscode.WorkspaceFolder): Promise<string> {
  const settings = ["files.exclude", "search.exclude"].map((key) => vscode.workspace.getConfiguration(undefined, folder).get<{ [glob: string]: unknown }>(key, {}));
  const globs = settings.flatMap((one) => Object.keys(one).filter((glob) => one[glob] === true));
  return `{${[...globs, ...(await ignored(folder))].join(",")}}`;
}

async function ignored(folder: vscode.WorkspaceFolder): Promise<string[]> {
  const uri = vscode.Uri.joinPath(folder.uri, ".gitignore");
  const text = await vscode.workspace.fs.readFile(uri).then((bytes) => new TextDecoder().decode(bytes), () => "");
  const names = text.split("\n").map((line) => /^\/?([\w.-]+)\/?\s*$/.exec(line)?.[1]);
  return names.filter((name) => name !== undefined).map((name) => `**/${name}`);
}
