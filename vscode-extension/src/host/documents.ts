/**
 * What a click in the view opens: a file, a link, the whole of a long output, the diff of a tool call.
 *
 * The texts are virtual documents that nobody can edit. Read next: shared/diff.ts.
 */
import * as vscode from "vscode";
import { before, sides } from "../shared/diff";
import type { ToolItem } from "../shared/view";
import type { Parts, Table } from "./commands";
import { Refusal, type Daemon } from "./daemon";

const SCHEME = "singletree";
/** Bytes of a long output that are opened at most. */
const MOST = 16 * 1024 * 1024;
/** Links that may leave the view. */
const LINKS = /^(https?|mailto):/;

export class Documents implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly texts = new Map<string, string>();
  private readonly registered = vscode.workspace.registerTextDocumentContentProvider(SCHEME, this);
  private readonly closed = vscode.workspace.onDidCloseTextDocument(({ uri }) => void this.texts.delete(uri.toString()));

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.texts.get(uri.toString()) ?? "";
  }

  /** A text under a name, as something to open. */
  of(name: string, key: string, text: string): vscode.Uri {
    const uri = vscode.Uri.from({ scheme: SCHEME, path: `/${name}`, query: key });
    this.texts.set(uri.toString(), text);
    return uri;
  }

  dispose(): void {
    this.registered.dispose();
    this.closed.dispose();
  }
}

export function documentCommands({ daemon, conversation }: Parts, documents: Documents): Table {
  return {
    openFile: ({ uri, line }: { uri: string; line?: number }) => {
      const selection = line === undefined ? {} : { selection: new vscode.Range(line, 0, line, 0) };
      return vscode.window.showTextDocument(vscode.Uri.parse(uri), { preview: true, ...selection });
    },
    openLink: ({ href }: { href: string }) => openLink(href, conversation.folder),
    openWhole: async ({ uri }: { uri: string }) => {
      const name = uri.split("/").at(-1) ?? uri;
      const opened = uri.startsWith("agent:") ? documents.of(name, uri, await whole(daemon, uri)) : vscode.Uri.parse(uri);
      await vscode.window.showTextDocument(opened, { preview: true });
    },
    openDiff: async ({ callId }: { callId: string }) => {
      const call = conversation.view.items.find((item): item is ToolItem => item.kind === "tool" && item.key === callId);
      if (call) await showDiff(daemon, documents, call);
    },
  };
}

/** Both sides whole where the file is still as the call left it, else as much as the diff knows. */
async function showDiff(daemon: Daemon, documents: Documents, call: ToolItem): Promise<void> {
  const patch = call.cut?.endsWith("changes.diff") ? await whole(daemon, call.cut) : call.diff;
  if (!patch) throw new Refusal("This call has no diff.");
  const place = call.locations[0]?.uri;
  const name = place ? (vscode.Uri.parse(place).path.split("/").at(-1) ?? "file") : "file";
  const now = place ? await textOf(vscode.Uri.parse(place)) : null;
  const old = now === null ? null : before(now, patch);
  const known = sides(patch);
  const left = documents.of(name, `${call.key}-before`, old ?? known.before);
  const right = documents.of(name, `${call.key}-after`, old === null ? known.after : (now ?? ""));
  await vscode.commands.executeCommand("vscode.diff", left, right, `${name} (${call.title})`, { preview: true });
}

async function textOf(uri: vscode.Uri): Promise<string | null> {
  try {
    return (await vscode.workspace.openTextDocument(uri)).getText();
  } catch {
    return null; // gone, or no text
  }
}

/** A cut text, piece by piece. */
async function whole(daemon: Daemon, uri: string): Promise<string> {
  const pieces: string[] = [];
  for (let start: number | null = 0; start !== null && start < MOST; ) {
    const got: { text: string; next: number | null } = await daemon.request("agent/content/read", { uri, range: { start } });
    pieces.push(got.text);
    start = got.next;
  }
  return pieces.join("");
}

/** A page outside, or a file of the folder that the model named by its path. */
async function openLink(href: string, folder: vscode.WorkspaceFolder | undefined): Promise<void> {
  if (LINKS.test(href)) return void vscode.env.openExternal(vscode.Uri.parse(href));
  if (!folder || /^[a-z]+:/i.test(href)) return;
  const [path = "", line] = decodeURI(href).split(/[#:]L?(?=\d+$)/);
  const uri = path.startsWith("/") ? vscode.Uri.file(path) : vscode.Uri.joinPath(folder.uri, path);
  const at = Math.max(Number(line ?? 1) - 1, 0);
  await vscode.window.showTextDocument(uri, { preview: true, selection: new vscode.Range(at, 0, at, 0) });
}
