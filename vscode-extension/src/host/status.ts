/**
 * The item in the status bar: whether the agent works, waits for an answer, or can't be reached.
 *
 * Read next: conversation.ts.
 */
import * as vscode from "vscode";
import type { Asks } from "./asks";
import type { Conversation } from "./conversation";
import type { Daemon } from "./daemon";

export class Status implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem("singletree.status", vscode.StatusBarAlignment.Right, 90);

  constructor(private readonly daemon: Daemon, private readonly conversation: Conversation, private readonly asks: Asks) {
    this.item.name = "Singletree";
    this.item.command = "singletree.open";
    daemon.onLink(() => this.show());
    asks.onChange(() => this.show());
    conversation.onEvent((event) => (event.type === "state" || event.type === "config") && this.show());
    conversation.onTold((told) => told === "whole" && this.show());
    this.show();
    this.item.show();
  }

  dispose(): void {
    this.item.dispose();
  }

  private show(): void {
    const { head } = this.conversation.view;
    const { link } = this.daemon;
    const asked = this.asks.questions.length > 0;
    this.item.backgroundColor = asked ? new vscode.ThemeColor("statusBarItem.warningBackground") : undefined;
    if (link.state === "down" || link.state === "missing") return this.tell("$(warning) Singletree", link.text);
    if (asked) return this.tell("$(bell-dot) Singletree asks", "The agent waits for your answer");
    const working = head !== null && head.phase !== "idle";
    this.tell(working ? "$(loading~spin) Singletree" : "$(list-tree) Singletree", head?.model ? `Model: ${head.model}` : "Open the chat");
  }

  private tell(text: string, tooltip: string): void {
    this.item.text = text;
    this.item.tooltip = tooltip;
  }
}
