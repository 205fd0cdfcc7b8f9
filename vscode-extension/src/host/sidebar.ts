/**
 * The webview: its page, and the messages that go in and out. It is shown by the person alone.
 *
 * Never decides anything about a session. Read next: shared/messages.ts, view/main.ts.
 */
import { randomBytes } from "node:crypto";
import * as vscode from "vscode";
import type { Completion } from "../protocol";
import type { Action, Sign, ToHost, ToView } from "../shared/messages";
import type { Asks } from "./asks";
import type { Conversation } from "./conversation";
import { Refusal, type Daemon } from "./daemon";
import type { Drafts } from "./drafts";
import { Files } from "./files";
import { fill } from "./page";

export const VIEW = "singletree.chat";

/** What the buttons do beyond talking: commands of the palette, by their short names. */
const COMMANDS: { [action in Action]: string } = {
  new: "singletree.newSession", sessions: "singletree.sessions", folder: "singletree.chooseFolder", rename: "singletree.rename", model: "singletree.model",
  thinking: "singletree.thinking", mode: "singletree.mode", trust: "singletree.trust", compact: "singletree.compact", usage: "singletree.usage",
  settings: "singletree.settings", restart: "singletree.restart", openFolder: "vscode.openFolder",
};

export class Sidebar implements vscode.WebviewViewProvider {
  private shown: vscode.WebviewView | undefined;
  private readonly files = new Files();

  constructor(
    private readonly root: vscode.Uri, private readonly daemon: Daemon, private readonly conversation: Conversation,
    private readonly asks: Asks, private readonly drafts: Drafts,
  ) {
    conversation.onTold((told) => (told === "whole" ? this.tellAll() : this.post(told)));
    conversation.onText((text) => drafts.insert({ text, attachments: [] }));
    daemon.onLink((link) => this.post({ type: "link", link }));
    asks.onChange(() => this.asked());
    vscode.workspace.onDidChangeWorkspaceFolders(() => this.tellAll());
    drafts.onInsert(({ draft, focus }) => this.post({ type: "insert", draft, focus }));
  }



  resolveWebviewView(shown: vscode.WebviewView): void {
    this.shown = shown;
    fill(shown.webview, this.root, "view.js");
    shown.webview.onDidReceiveMessage((said: ToHost) => void this.hear(said).catch(tellError));
    shown.onDidDispose(() => (this.shown = undefined));
    this.asked();
    void this.daemon.start();
  }

  /** Show the view; only what a person does leads here. */
  async reveal(focus: boolean): Promise<void> {
    if (this.shown) this.shown.show(!focus);
    else await vscode.commands.executeCommand(`${VIEW}.focus`, { preserveFocus: !focus });
  }

  private async hear(said: ToHost): Promise<void> {
    switch (said.type) {
      case "ready":
        return this.tellAll();
      case "send":
        return this.send(said.sending);
      case "stop":
        return this.drafts.insert(await this.conversation.stop());
      case "retry":
        return this.conversation.retry(randomBytes(8).toString("hex"));
      case "earlier":
        return this.conversation.earlier();
      case "draft":
        return this.drafts.keep(said.dated);
      case "complete":
        return this.complete(said.sign, said.prefix);
      case "unqueue":
        return this.drafts.insert(await this.conversation.unqueue(said.queueId));
      case "release":
        return this.conversation.release(said.queueId);
      case "answer":
        return this.asks.answer(said.requestId, said.answer);
      case "stopTool":
        await this.daemon.request("agent/abort", { sessionId: this.conversation.sessionId, scope: "tool", toolCallId: said.callId });
        return;
      case "action":
        return void vscode.commands.executeCommand(COMMANDS[said.action]);
      default:
        return void vscode.commands.executeCommand(`singletree.${said.type}`, said);
    }
  }

  private async send(sending: Extract<ToHost, { type: "send" }>["sending"]): Promise<void> {
    try {
      await this.conversation.say(sending);
      this.post({ type: "sent", id: sending.id });
    } catch (error) {
      const { message, hint } = Refusal.of(error);
      this.post({ type: "notSent", id: sending.id, text: message, ...(hint ? { hint } : {}) });
    }
  }

  private async complete(sign: Sign, prefix: string): Promise<void> {
    const items = await (sign === "/" ? this.commands(prefix) : this.paths(prefix));
    this.post({ type: "completions", sign, prefix, items });
  }

  private async commands(prefix: string): Promise<Completion[]> {
    return (await this.daemon.request("agent/command/complete", { sessionId: this.conversation.sessionId, prefix })).items;
  }

  private async paths(prefix: string): Promise<Completion[]> {
    const { folder } = this.conversation;
    return folder ? (await this.files.offered(folder, prefix)).map((value) => ({ value })) : [];
  }

  private tellAll(): void {
    const { view } = this.conversation;
    const folder = (vscode.workspace.workspaceFolders ?? []).length > 1 ? (this.conversation.folder?.name ?? null) : null;
    const link = this.conversation.folder ? this.daemon.link : { state: "noFolder" as const };
    this.post({ type: "all", view, link, folder, questions: this.asks.questions, dated: this.drafts.dated });
  }

  private asked(): void {
    const { questions } = this.asks;
    this.post({ type: "questions", questions });
    const tooltip = questions.length === 1 ? "The agent asks for an answer" : `The agent asks for ${questions.length} answers`;
    if (this.shown) this.shown.badge = questions.length ? { value: questions.length, tooltip } : undefined;
  }

  private post(told: ToView): void {
    void this.shown?.webview.postMessage(told);
  }
}

/** One line, with what to do about it. */
export function tellError(error: unknown): void {
  const { message, hint } = Refusal.of(error);
  void vscode.window.showErrorMessage(hint ? `Singletree: ${message} ${hint}` : `Singletree: ${message}`);
}
