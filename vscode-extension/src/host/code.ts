/**
 * From the editor to the agent: a selection, the problems at a place, as blocks that go along with a text.
 *
 * Read next: conversation.ts.
 */
import { randomUUID } from "node:crypto";
import * as vscode from "vscode";
import type { DiagnosticBlock, JsonObject, Range, SelectionBlock } from "../protocol";
import type { Attachment } from "../shared/messages";
import type { Parts, Table } from "./commands";
import { Refusal } from "./daemon";

const EXPLAIN = "Explain this.";
const FIX = "Fix these problems.";
/** Problems that go along at most: the model can ask for the rest. */
const MOST = 20;

export function codeCommands({ conversation, sidebar, drafts }: Parts): Table {
  const say = async (text: string, attachments: Attachment[]): Promise<void> => {
    await sidebar.reveal(false);
    await conversation.say({ id: randomUUID(), how: "now", text, attachments });
  };
  return {
    promptWithSelection: async () => {
      drafts.insert({ text: "", attachments: selection(active()) }, true);
      await sidebar.reveal(true);
    },
    explain: () => say(EXPLAIN, selection(active())),
    fix: () => say(FIX, problems(active())),
  };
}

/** What is selected; the line where nothing is. The text goes along as it is at this moment. */
function selection(editor: vscode.TextEditor): Attachment[] {
  const { document } = editor;
  const range = editor.selection.isEmpty ? document.lineAt(editor.selection.active).range : editor.selection;
  const block: SelectionBlock = {
    type: "selection", uri: document.uri.toString(), range: plain(range), version: document.version, text: document.getText(range),
  };
  return [{ label: place(document, range), block }];
}

/** The problems in the selection or on the line; in the whole document where there are none. */
function problems(editor: vscode.TextEditor): Attachment[] {
  const { document } = editor;
  const all = vscode.languages.getDiagnostics(document.uri);
  const lines = new vscode.Range(editor.selection.start.line, 0, editor.selection.end.line + 1, 0);
  const here = all.filter((one) => one.range.intersection(lines));
  const chosen = (here.length ? here : all).slice(0, MOST);
  if (!chosen.length) throw new Refusal("No problems are reported for this file.");
  return chosen.map((one) => ({ label: place(document, one.range), block: problem(document.uri, one) }));
}

function problem(uri: vscode.Uri, one: vscode.Diagnostic): DiagnosticBlock {
  const diagnostic: JsonObject = {
    range: { ...plain(one.range) } as unknown as JsonObject, message: one.message, severity: one.severity + 1, ...(one.source ? { source: one.source } : {}),
  };
  return { type: "diagnostic", uri: uri.toString(), diagnostic };
}

function active(): vscode.TextEditor {
  const editor = vscode.window.activeTextEditor;
  if (!editor) throw new Refusal("No text editor is active.");
  return editor;
}

/** `a.ts:3-9`, as a chip shows it. */
function place(document: vscode.TextDocument, range: vscode.Range): string {
  const name = document.uri.path.split("/").at(-1) ?? document.uri.path;
  const [first, last] = [range.start.line + 1, range.end.line + 1];
  return first === last ? `${name}:${first}` : `${name}:${first}-${last}`;
}

function plain(range: vscode.Range): Range {
  const { start, end } = range;
  return { start: { line: start.line, character: start.character }, end: { line: end.line, character: end.character } };
}
