/**
 * Where everything is put together. Nothing starts before the view is opened or a command is called.
 *
 * Read next: daemon.ts (the connection), conversation.ts (the session), sidebar.ts (the view).
 */
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import * as vscode from "vscode";
import { Asks } from "./asks";
import { codeCommands } from "./code";
import { conversationCommands, plainCommands, registered } from "./commands";
import { Conversation } from "./conversation";
import { Daemon } from "./daemon";
import { Documents, documentCommands } from "./documents";
import { Drafts } from "./drafts";
import { answerForEditor } from "./editor";
import { treeCommands } from "./jumps";
import { pickerCommands } from "./pickers";
import { Sidebar, VIEW } from "./sidebar";
import { Status } from "./status";
import { SessionTree, TREE } from "./tree";

export interface Api {
  daemon: Daemon;
  conversation: Conversation;
  asks: Asks;
}

export function activate(context: vscode.ExtensionContext): Api {
  const log = vscode.window.createOutputChannel("Singletree", { log: true });
  const daemon = new Daemon(clientId(context.workspaceState), log);
  const conversation = new Conversation(daemon, context.workspaceState);
  const asks = new Asks();
  const drafts = new Drafts(context.storageUri && join(context.storageUri.fsPath, "draft.json"));
  const sidebar = new Sidebar(context.extensionUri, daemon, conversation, asks, drafts);
  const parts = { daemon, conversation, sidebar, drafts };
  const documents = new Documents();
  const tree = new SessionTree(context.extensionUri, daemon, conversation);
  daemon.answer("agent/permission/request", (params, token) => asks.permission(params, token));
  daemon.answer("agent/ui/request", (params, token) => asks.dialog(params, token));
  daemon.hear("agent/request/resolved", ({ requestId }) => asks.drop(requestId));
  answerForEditor(daemon);
  daemon.onLink((link) => {
    if (link.state === "up") conversation.comeBack();
    else asks.clear();
  });
  context.subscriptions.push(
    log, daemon,
    vscode.window.registerWebviewViewProvider(VIEW, sidebar),
    vscode.window.registerWebviewViewProvider(TREE, tree),
    vscode.workspace.onDidChangeConfiguration((changed) => {
      if (changed.affectsConfiguration("singletree.command") || changed.affectsConfiguration("singletree.arguments")) void daemon.restart();
    }),
    vscode.workspace.onDidChangeWorkspaceFolders(() => conversation.foldersChanged()),
    vscode.workspace.onDidGrantWorkspaceTrust(() => void (daemon.link.state === "missing" && daemon.restart())),
    documents, tree, new Status(daemon, conversation, asks),
    ...registered(() => Promise.resolve(), plainCommands(parts)),
    ...registered(() => conversation.ready(), {
      ...conversationCommands(parts), ...codeCommands(parts), ...documentCommands(parts, documents), ...pickerCommands(parts), ...treeCommands(parts, tree),
    }),
  );
  return { daemon, conversation, asks };
}

/** The same over reloads, so that the daemon knows the window again. */
function clientId(memory: vscode.Memento): string {
  const known = memory.get<string>("clientId");
  const id = known ?? `vscode-${randomUUID()}`;
  if (!known) void memory.update("clientId", id);
  return id;
}
