/**
 * Lists to choose from: sessions, models, thinking levels, what is asked, folders; and the figures of use.
 *
 * Each opens only by a command. Read next: commands.ts.
 */
import * as vscode from "vscode";
import type { ModelRow, SessionRow } from "../protocol";
import { number } from "../shared/entries";
import type { Parts, Table } from "./commands";

const MODES = [
  { mode: "ask", label: "Ask first", description: "before it writes, runs a command or looks outside the folder" },
  { mode: "acceptEdits", label: "Edit freely", description: "files of this folder are changed unasked, commands are asked for" },
  { mode: "readOnly", label: "Read only", description: "nothing is written and nothing runs" },
  { mode: "allowAll", label: "Ask nothing", description: "everything runs, unconfined" },
] as const;

export function pickerCommands(parts: Parts): Table {
  const { daemon, conversation } = parts;
  return {
    sessions: () => sessions(parts),
    rename: async () => {
      const name = await vscode.window.showInputBox({ title: "Name of the session", value: conversation.view.head?.name ?? "" });
      if (name !== undefined) await daemon.request("agent/session/rename", { sessionId: conversation.sessionId, name });
    },
    chooseFolder: async () => {
      const folder = await vscode.window.showWorkspaceFolderPick({ placeHolder: "Which folder's sessions?" });
      if (folder) await conversation.chooseFolder(folder);
    },
    model: () => model(parts),
    thinking: async () => {
      const { levels, current } = await daemon.request("agent/thinking/list", { sessionId: conversation.sessionId });
      const items = levels.map((level) => ({ label: level, description: level === current ? "now" : "" }));
      const chosen = await vscode.window.showQuickPick(items, { title: "How much the model thinks before it answers" });
      if (chosen) await daemon.request("agent/thinking/set", { sessionId: conversation.sessionId, level: chosen.label });
    },
    mode: async () => {
      const items = MODES.map((one) => ({ ...one, label: one.mode === conversation.view.head?.mode ? `$(check) ${one.label}` : one.label }));
      const chosen = await vscode.window.showQuickPick(items, { title: "What the agent may do unasked, in this session" });
      if (chosen) await daemon.request("agent/permission/setMode", { sessionId: conversation.sessionId, mode: chosen.mode });
    },
    rules: () => rules(parts),
    trust: () => trust(parts),
    usage: () => usage(parts),
  };
}

const WHERE = { once: "once", session: "in this session", workspace: "in this workspace", user: "in every workspace" };

/** The answers that are remembered; the chosen ones are forgotten. */
async function rules({ daemon, conversation }: Parts): Promise<void> {
  const sessionId = conversation.sessionId;
  const { rules } = await daemon.request("agent/permission/list", { sessionId });
  if (!rules.length) return void vscode.window.showInformationMessage("Singletree: no answer is remembered here.");
  const items = rules.map((rule) => ({
    label: `${rule.decision === "allow" ? "Allow" : "Deny"} ${rule.tool}: ${rule.pattern ?? "*"}`,
    description: `${WHERE[rule.scope]}, used ${rule.uses} times`, id: rule.id,
  }));
  const chosen = await vscode.window.showQuickPick(items, { title: "Which remembered answers shall be forgotten?", canPickMany: true });
  if (chosen?.length) await daemon.request("agent/permission/remove", { sessionId, ids: chosen.map((one) => one.id) });
}

/** Trust the folder of the session, or no more. The window's own trust comes first. */
async function trust({ daemon, conversation }: Parts): Promise<void> {
  const { head } = conversation.view;
  if (!vscode.workspace.isTrusted) return void vscode.commands.executeCommand("workbench.trust.manage");
  if (!head) return;
  const skipped = head.skipped.map((one) => one.path).join("\n");
  const [message, detail, yes] = skipped
    ? ["Do you trust this folder?", `It brings along:\n${skipped}\n\nThen that counts, and its code runs as you.`, "Trust"]
    : ["What this folder brings along counts.", "Its settings, prompts, skills and extensions.", "Trust no longer"];
  const chosen = await vscode.window.showWarningMessage(message, { modal: true, detail }, yes);
  if (chosen) await daemon.request("agent/trust/set", { sessionId: head.sessionId, trusted: skipped !== "" });
}

interface SessionItem extends vscode.QuickPickItem {
  row?: SessionRow;
}

const RENAME: vscode.QuickInputButton = { iconPath: new vscode.ThemeIcon("edit"), tooltip: "Rename" };

/** The sessions of the folder, newest first; more of them as the list is gone through. */
async function sessions({ daemon, conversation }: Parts): Promise<void> {
  const list = vscode.window.createQuickPick<SessionItem>();
  list.title = "Sessions of this folder";
  list.matchOnDescription = list.matchOnDetail = true;
  list.busy = true;
  list.show();
  try {
    const workspace = conversation.folder?.uri.toString();
    const { sessions } = await daemon.request("agent/session/list", { ...(workspace ? { workspace } : {}), limit: 200 });
    const current = conversation.view.head?.sessionId;
    list.items = [{ label: "$(add) New session", alwaysShow: true }, ...sessions.map((row) => sessionItem(row, current))];
  } catch (error) {
    list.dispose();
    throw error;
  }
  list.busy = false;
  list.onDidTriggerItemButton(async ({ item }) => {
    const name = await vscode.window.showInputBox({ title: "Name of the session", value: item.row?.name ?? "" });
    if (name !== undefined && item.row) await daemon.request("agent/session/rename", { sessionId: item.row.sessionId, name });
  });
  const chosen = await new Promise<SessionItem | undefined>((resolve) => {
    list.onDidAccept(() => resolve(list.selectedItems[0]));
    list.onDidHide(() => resolve(undefined));
  });
  list.dispose();
  if (!chosen) return;
  await (chosen.row ? conversation.switchTo(chosen.row.sessionId) : conversation.open("new"));
}

function sessionItem(row: SessionRow, current: string | undefined): SessionItem {
  const label = row.name || row.preview || "(nothing said yet)";
  return {
    label: row.sessionId === current ? `$(check) ${label}` : label, description: new Date(row.updatedAt).toLocaleString(),
    detail: row.leafPreview ?? "", buttons: row.live ? [RENAME] : [], row,
  };
}

interface ModelItem extends vscode.QuickPickItem {
  row?: ModelRow;
}

/** Those that can be used first; for one that lacks a key, the key is asked for. */
async function model({ daemon, conversation }: Parts): Promise<void> {
  const sessionId = conversation.sessionId;
  const { models, current } = await daemon.request("agent/model/list", { sessionId });
  const usable = models.filter((row) => row.auth !== "missing").map((row) => modelItem(row, current));
  const others = models.filter((row) => row.auth === "missing").map((row) => modelItem(row, current));
  const items: ModelItem[] = [...usable, { label: "a key is missing", kind: vscode.QuickPickItemKind.Separator }, ...others];
  const chosen = await vscode.window.showQuickPick(items, { title: "Which model answers", matchOnDescription: true });
  if (!chosen?.row) return;
  if (chosen.row.auth === "missing" && !(await login(daemon, chosen.row.provider))) return;
  await daemon.request("agent/model/set", { sessionId, model: chosen.row.model });
}

async function login(daemon: Parts["daemon"], provider: string): Promise<boolean> {
  const prompt = "It is kept in auth.json, readable by you alone.";
  const key = await vscode.window.showInputBox({ title: `Key for ${provider}`, password: true, ignoreFocusOut: true, prompt });
  if (!key) return false;
  await daemon.request("agent/auth/login", { provider, key });
  return true;
}

function modelItem(row: ModelRow, current: string | null): ModelItem {
  return { label: row.model === current ? `$(check) ${row.name}` : row.name, description: `${row.model} · ${number(row.contextWindow)} tokens`, row };
}

/** What the session took, as lines to read. */
async function usage({ daemon, conversation }: Parts): Promise<void> {
  const { contextUsage, total, models } = await daemon.request("agent/usage/get", { sessionId: conversation.sessionId });
  const full = contextUsage.tokens === null ? "not known until the next answer" : `${number(contextUsage.tokens)} of ${number(contextUsage.window)} tokens`;
  const price = (cost: number): string => (cost ? ` · $${cost.toFixed(cost < 1 ? 4 : 2)}` : "");
  const line = (label: string, used: typeof total): vscode.QuickPickItem => ({
    label, description: `${number(used.input)} in · ${number(used.output)} out · ${number(used.cacheRead)} from cache${price(used.cost.total)}`,
  });
  const compact: vscode.QuickPickItem = { label: "$(fold) Sum up the conversation now" };
  const items = [{ label: "Context", description: full }, line("All branches", total), ...models.map((one) => line(one.model, one.usage)), compact];
  const chosen = await vscode.window.showQuickPick(items, { title: "What this session took" });
  if (chosen === compact) await vscode.commands.executeCommand("singletree.compact");
}
