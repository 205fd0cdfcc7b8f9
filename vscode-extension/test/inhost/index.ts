/**
 * Inside the real extension host: what the agent does to documents, seen with VS Code's own eyes.
 *
 * Started by clicks/inhost.test.ts. Throws where something is not so.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import * as vscode from "vscode";
import type { Api } from "../../src/host/extension";

const PATIENCE = 40_000;

export async function run(): Promise<void> {
  const extension = vscode.extensions.getExtension<Api>("singletree.singletree");
  assert.ok(extension);
  assert.equal(extension.isActive, false, "nothing starts by itself");
  const api = await extension.activate();
  await api.conversation.ready();
  await editsOfDocuments(api);
  await undoOfATurn(api);
  await readAndSave();
  await selectionsAndProblems(api);
  await filesOutOfSight(api);
}

/** One open and dirty, one open and clean, one closed: in one turn, with one step of undo each. */
async function editsOfDocuments(api: Api): Promise<void> {
  const dirty = await open("dirty.txt");
  await typed(dirty, "unsaved ");
  const clean = await open("clean.txt");
  const front = await open("front.txt");
  const versions = [dirty.version, clean.version];
  await turn(api, "edit all");
  assert.equal(dirty.getText(), "unsaved 1st\nsecond\n");
  assert.equal(dirty.isDirty, true, "what was not saved before is not saved by the agent");
  assert.equal(text("dirty.txt"), "first\nsecond\n");
  assert.equal(clean.getText(), "1st\nsecond\n");
  await until(() => !clean.isDirty);
  assert.equal(text("clean.txt"), "1st\nsecond\n");
  assert.equal(text("closed.txt"), "1st\nsecond\n");
  assert.deepEqual([dirty.version, clean.version], versions.map((version) => version + 1), "one change each");
  assert.equal(vscode.window.activeTextEditor?.document.uri.path, front.uri.path, "the focus stays");
  assert.equal(tabs().includes("closed.txt"), false);
  await vscode.window.showTextDocument(dirty);
  await vscode.commands.executeCommand("undo");
  assert.equal(dirty.getText(), "unsaved first\nsecond\n");
  await vscode.commands.executeCommand("redo");
  assert.equal(dirty.getText(), "unsaved 1st\nsecond\n");
}

async function undoOfATurn(api: Api): Promise<void> {
  await vscode.commands.executeCommand("singletree.undoTurn");
  const [dirty, clean] = [await open("dirty.txt"), await open("clean.txt")];
  await until(() => clean.getText() === "first\nsecond\n" && text("closed.txt") === "first\nsecond\n");
  assert.equal(dirty.getText(), "unsaved first\nsecond\n");
  const { edits } = await api.daemon.request("agent/edits/list", { sessionId: api.conversation.sessionId });
  assert.deepEqual(edits.map((edit) => edit.undone), [true, true, true]);
}

/** A tool reads what the person sees, saved or not. */
async function readAndSave(): Promise<void> {
  const dirty = await open("dirty.txt");
  assert.equal(dirty.isDirty, true);
  assert.equal(dirty.getText().startsWith("unsaved"), true);
}

async function selectionsAndProblems(api: Api): Promise<void> {
  const document = await open("clean.txt");
  const editor = await vscode.window.showTextDocument(document);
  editor.selection = new vscode.Selection(0, 0, 0, 5);
  const problems = vscode.languages.createDiagnosticCollection("test");
  problems.set(document.uri, [new vscode.Diagnostic(new vscode.Range(0, 0, 0, 5), "a word too many", vscode.DiagnosticSeverity.Error)]);
  let settled = rests(api);
  await vscode.commands.executeCommand("singletree.explain");
  await until(() => said(api).some((one) => one.startsWith("Explain this.") && one.includes("```\nfirst\n```")));
  await settled;
  settled = rests(api);
  await vscode.commands.executeCommand("singletree.fix");
  await until(() => said(api).some((one) => one.startsWith("Fix these problems.") && one.includes("a word too many")));
  await settled;
  problems.dispose();
  const actions = await vscode.commands.executeCommand<vscode.CodeAction[]>("vscode.executeCodeActionProvider", document.uri, editor.selection);
  assert.ok(actions.length > 0, "the daemon offers code actions");
}

/** A turn in a hidden view opens nothing. */
async function filesOutOfSight(api: Api): Promise<void> {
  await vscode.commands.executeCommand("workbench.view.explorer");
  const before = tabs();
  await turn(api, "edit all");
  assert.deepEqual(tabs(), before);
}

/** Say something, allow whatever is asked, and wait for the end. */
async function turn(api: Api, words: string): Promise<void> {
  const settled = rests(api);
  await api.conversation.say({ id: `${words} ${Date.now()}`, how: "now", text: words, attachments: [] });
  const allowed = api.asks.onChange(() => {
    for (const one of api.asks.questions) api.asks.answer(one.requestId, { outcome: "selected", optionId: allowing(one) });
  });
  await settled;
  allowed.dispose();
}

function allowing(question: Api["asks"]["questions"][number]): string {
  const option = question.kind === "permission" ? question.params.options.find((one) => one.kind === "allow") : undefined;
  assert.ok(option);
  return option.id;
}

/** Called before something is said: the end of all that follows from it. */
function rests(api: Api): Promise<void> {
  return new Promise((resolve) => {
    const heard = api.conversation.onEvent((event) => event.type === "settled" && (heard.dispose(), resolve()));
  });
}

function said(api: Api): string[] {
  return api.conversation.view.items.filter((item) => item.kind === "user").map((item) => [item.text, ...item.attached].join("\n"));
}

async function until(so: () => boolean): Promise<void> {
  for (const end = Date.now() + PATIENCE; !so(); await new Promise((resolve) => setTimeout(resolve, 50))) {
    if (Date.now() > end) throw new Error(`this did not become so: ${so}`);
  }
}

function place(name: string): vscode.Uri {
  const folder = vscode.workspace.workspaceFolders?.[0];
  assert.ok(folder);
  return vscode.Uri.joinPath(folder.uri, name);
}

async function open(name: string): Promise<vscode.TextDocument> {
  const document = await vscode.workspace.openTextDocument(place(name));
  await vscode.window.showTextDocument(document, { preview: false });
  return document;
}

async function typed(document: vscode.TextDocument, words: string): Promise<void> {
  const edit = new vscode.WorkspaceEdit();
  edit.insert(document.uri, new vscode.Position(0, 0), words);
  await vscode.workspace.applyEdit(edit);
}

function text(name: string): string {
  return readFileSync(place(name).fsPath, "utf8");
}

function tabs(): string[] {
  return vscode.window.tabGroups.all.flatMap((group) => group.tabs.map((tab) => tab.label));
}
