/**
 * What is done with an entry of the tree: go on from it, label it, begin another session with it.
 *
 * Read next: tree.ts.
 */
import * as vscode from "vscode";
import type { NavigateParams, TreeFilter, TreeRow } from "../protocol";
import type { Parts, Table } from "./commands";
import { FILTERS, type SessionTree } from "./tree";

interface Chosen {
  row: TreeRow;
}

export function treeCommands(parts: Parts, tree: SessionTree): Table {
  const { daemon, conversation } = parts;
  return {
    "tree.refresh": () => tree.refresh(),
    "tree.filter": () => filter(tree),
    "tree.continue": ({ row }: Chosen) => goOn(parts, row),
    "tree.label": async ({ row }: Chosen) => {
      const title = "Label of this entry (empty takes it away)";
      const label = await vscode.window.showInputBox({ title, value: row.label ?? "" });
      if (label === undefined) return;
      await daemon.request("agent/tree/label", { sessionId: conversation.sessionId, entryId: row.entryId, label: label || null });
      await tree.refresh();
    },
    "tree.fork": async ({ row }: Chosen) => {
      const position = row.role === "user" ? "before" : "at";
      const made = await daemon.request("agent/session/fork", { sessionId: conversation.sessionId, entryId: row.entryId, position });
      await conversation.switchTo(made.sessionId);
      if (made.editorText) parts.drafts.insert({ text: made.editorText, attachments: [] });
    },
  };
}

interface Way extends vscode.QuickPickItem {
  summarize: boolean;
  directed?: true;
}

const STAYS = "The branch that is left stays in the tree.";
const PLAIN: Way = { label: "Continue here", detail: STAYS, summarize: false };
const ANEW: Way = { label: "Say this anew", detail: `Its text comes back into the box. ${STAYS}`, summarize: false };
const SUMMARY: Way = {
  label: "Continue here with a summary of what is left", detail: "The model sums up the branch, so that it knows what was tried.", summarize: true,
};
const DIRECTED: Way = {
  label: "Continue here with a summary, and say what matters…", detail: "As above, with your words to the model.", summarize: true, directed: true,
};

async function goOn(parts: Parts, row: TreeRow): Promise<void> {
  const { conversation, drafts, sidebar } = parts;
  if (row.isLeaf) return;
  const ways = [row.role === "user" ? ANEW : PLAIN, SUMMARY, DIRECTED];
  const chosen = await vscode.window.showQuickPick(ways, { title: row.preview, placeHolder: "How to go on" });
  if (!chosen) return;
  let params: NavigateParams = { entryId: row.entryId, summarize: chosen.summarize };
  if (chosen.directed) {
    const instructions = await vscode.window.showInputBox({ title: "What the summary should look at" });
    if (instructions === undefined) return;
    params = { ...params, summarize: { instructions } };
  }
  const said = chosen.summarize ? await summing((token) => conversation.navigate(params, token)) : await conversation.navigate(params);
  if (said) {
    drafts.insert(said, true);
    await sidebar.reveal(true);
  }
}

/** A summary takes a call of the model: it can be cancelled, and then nothing has moved. */
function summing<T>(work: (token: vscode.CancellationToken) => Promise<T>): Thenable<T> {
  const options = { location: vscode.ProgressLocation.Notification, title: "Summing up the branch that is left", cancellable: true };
  return vscode.window.withProgress(options, (_, token) => work(token));
}

async function filter(tree: SessionTree): Promise<void> {
  const names: { [filter in TreeFilter]: string } = { ...FILTERS, default: "conversation" };
  const items = (Object.keys(names) as TreeFilter[]).map((one) => ({ label: names[one], filter: one, description: one === tree.filter ? "now" : "" }));
  const search = { label: "$(search) Search…", filter: tree.filter, description: tree.search };
  const chosen = await vscode.window.showQuickPick([...items, search], { title: "Which entries the tree shows" });
  if (!chosen) return;
  if (chosen !== search) return tree.choose(chosen.filter, "");
  const words = await vscode.window.showInputBox({ title: "Show entries that hold these words", value: tree.search });
  if (words !== undefined) await tree.choose(tree.filter, words);
}
