/**
 * What the daemon asks of the editor: a document as the person sees it, a document saved.
 *
 * Edits come as `workspace/applyEdit`, which the language client answers. Nothing is shown or focused.
 * Read next: commands.ts.
 */
import * as vscode from "vscode";
import type { EditorReadParams, EditorReadResult, EditorSaveParams, EditorSaveResult, SaveFailure } from "../protocol";
import type { Daemon } from "./daemon";

export function answerForEditor(daemon: Daemon): void {
  daemon.answer("agent/editor/read", read);
  daemon.answer("agent/editor/save", save);
}

function read({ uri, range }: EditorReadParams): EditorReadResult {
  const document = open(uri);
  if (!document) throw new Error(`${uri} is not open.`);
  const span = range && new vscode.Range(range.start.line, range.start.character, range.end.line, range.end.character);
  return { text: document.getText(span), version: document.version, dirty: document.isDirty };
}

async function save({ uris }: EditorSaveParams): Promise<EditorSaveResult> {
  const saved: string[] = [];
  const failed: SaveFailure[] = [];
  for (const uri of uris) {
    const document = open(uri);
    if (!document || document.isUntitled) failed.push({ uri, message: "It is not open as a file." });
    else if (await document.save()) saved.push(uri);
    else failed.push({ uri, message: "The editor could not save it." });
  }
  return { saved, failed };
}

function open(uri: string): vscode.TextDocument | undefined {
  const wanted = vscode.Uri.parse(uri).toString();
  return vscode.workspace.textDocuments.find((document) => document.uri.toString() === wanted);
}
