/**
 * The commands of the palette and the menus. Each is what a person chose: only these may show the view.
 *
 * Read next: code.ts, pickers.ts, documents.ts, tree.ts, whose commands join these.
 */
import * as vscode from "vscode";
import type { Conversation } from "./conversation";
import type { Daemon } from "./daemon";
import type { Drafts } from "./drafts";
import { type Sidebar, tellError } from "./sidebar";

/** What the commands work with. */
export interface Parts {
  daemon: Daemon;
  conversation: Conversation;
  sidebar: Sidebar;
  drafts: Drafts;
}

/** Commands by their name behind `singletree.`; what a menu hands over is their argument. */
export type Table = { [name: string]: (argument: never) => unknown };

/** The commands about the conversation as a whole. */
export function conversationCommands({ daemon, conversation, drafts }: Parts): Table {
  return {
    newSession: () => conversation.open("new"),
    stop: async () => drafts.insert(await conversation.stop()),
    compact: () => daemon.request("agent/compact", { sessionId: conversation.sessionId }),
    undoTurn: () => undoTurn(daemon, conversation.sessionId),
  };
}

/** Those that do without a session. */
export function plainCommands({ daemon, sidebar }: Parts): Table {
  return {
    open: () => sidebar.reveal(true),
    restart: () => daemon.restart(),
    settings: () => vscode.commands.executeCommand("workbench.action.openSettings", "@ext:singletree.singletree"),
    showLog: () => daemon.log.show(true),
  };
}

/** Register them, to run when `ready` is. What fails is told in one line. */
export function registered(ready: () => Promise<void>, table: Table): vscode.Disposable[] {
  return Object.entries(table).map(([name, run]) =>
    vscode.commands.registerCommand(`singletree.${name}`, async (argument: unknown) => {
      try {
        await ready();
        await run(argument as never);
      } catch (error) {
        tellError(error);
      }
    }),
  );
}

/** Take back what the last turn that changed something changed. */
async function undoTurn(daemon: Daemon, sessionId: string): Promise<void> {
  const { edits } = await daemon.request("agent/edits/list", { sessionId });
  const last = edits.findLast((edit) => !edit.undone);
  if (!last) return void vscode.window.showInformationMessage("Singletree: there is no edit to undo.");
  const { reverted, refused } = await daemon.request("agent/edits/revert", { sessionId, turnId: last.turnId });
  const files = new Set(edits.filter((edit) => reverted.includes(edit.editId)).map((edit) => edit.uri)).size;
  const done = `Singletree: ${count(reverted.length, "edit")} in ${count(files, "file")} undone.`;
  if (!refused.length) return void vscode.window.showInformationMessage(done);
  void vscode.window.showWarningMessage([done, ...refused.map((one) => one.message)].join(" "));
}

function count(number: number, of: string): string {
  return `${number} ${of}${number === 1 ? "" : "s"}`;
}
