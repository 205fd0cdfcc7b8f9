/**
 * The session as a tree: every branch that was tried, the place where the conversation stands, labels.
 *
 * Read anew when the leaf moves, and only while it is on the screen. Drawn by a page of ours: the editor's own
 * tree view builds all rows anew when one is added, and a click that is under way then is lost.
 * Read next: view/tree.ts, jumps.ts.
 */
import * as vscode from "vscode";
import type { TreeFilter, TreeParams, TreeRow } from "../protocol";
import type { FromTree, ToTree } from "../shared/messages";
import type { Conversation } from "./conversation";
import type { Daemon } from "./daemon";
import { fill } from "./page";
import { tellError } from "./sidebar";

export const TREE = "singletree.tree";
const PAGE = 300;
/** Milliseconds in which several moves of the leaf count as one. */
const CALM = 250;

export class SessionTree implements vscode.WebviewViewProvider, vscode.Disposable {
  filter: TreeFilter = "default";
  search = "";
  private shown: vscode.WebviewView | undefined;
  private rows: TreeRow[] = [];
  private prev: string | undefined;
  private next: string | null = null;
  private version = "";
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly root: vscode.Uri, private readonly daemon: Daemon, private readonly conversation: Conversation) {
    conversation.onEvent((event) => event.type === "leaf" && this.soon());
    conversation.onTold((told) => told === "whole" && this.soon());
  }

  resolveWebviewView(shown: vscode.WebviewView): void {
    this.shown = shown;
    fill(shown.webview, this.root, "tree.js");
    shown.webview.onDidReceiveMessage((said: FromTree) => void this.hear(said).catch(tellError));
    shown.onDidDispose(() => (this.shown = undefined));
    this.describe();
  }

  /** Another choice of rows. */
  async choose(filter: TreeFilter, search: string): Promise<void> {
    this.filter = filter;
    this.search = search;
    this.describe();
    await this.refresh();
  }

  async refresh(): Promise<void> {
    this.version = "";
    await this.read();
  }

  dispose(): void {
    clearTimeout(this.timer);
  }

  private async hear(said: FromTree): Promise<void> {
    switch (said.type) {
      case "ready":
        return this.refresh();
      case "more":
        return this.extend(said.where);
      default:
        return void vscode.commands.executeCommand(`singletree.tree.${said.type}`, said);
    }
  }

  private describe(): void {
    if (this.shown) this.shown.description = [FILTERS[this.filter], this.search && `“${this.search}”`].filter((text) => text).join(" · ");
  }

  private soon(): void {
    if (!this.shown?.visible) return;
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      void this.read().catch(() => undefined); // a daemon that is gone is told elsewhere
    }, CALM);
  }

  /** The page round the leaf, unless nothing has changed since it was read. */
  private async read(): Promise<void> {
    const { head } = this.conversation.view;
    if (!head || this.daemon.link.state !== "up") return this.tell();
    const version = this.wanted();
    if (version === this.version) return;
    const around = head.leafId && !this.search ? { around: head.leafId } : {};
    const got = await this.daemon.request("agent/tree/get", { ...this.asked(), ...around });
    if (version !== this.wanted()) return; // something else is being read by now
    this.version = version;
    this.rows = got.rows;
    this.prev = got.prev;
    this.next = got.next;
    this.tell();
  }

  /** The page before or behind. */
  private async extend(where: "prev" | "next"): Promise<void> {
    const cursor = this[where];
    if (!cursor) return;
    const got = await this.daemon.request("agent/tree/get", { ...this.asked(), cursor });
    if (cursor !== this[where]) return;
    if (where === "next") this.next = got.next;
    else this.prev = got.prev;
    this.rows = where === "next" ? [...this.rows, ...got.rows] : [...got.rows, ...this.rows];
    this.tell();
  }

  /** What decides which rows there are. */
  private wanted(): string {
    const { head } = this.conversation.view;
    return [head?.sessionId, head?.leafId, this.filter, this.search].join("/");
  }

  private tell(): void {
    const told: ToTree = { rows: this.rows, prev: this.prev !== undefined, next: this.next !== null };
    void this.shown?.webview.postMessage(told);
  }

  private asked(): TreeParams {
    const sessionId = this.conversation.sessionId;
    return { sessionId, filter: this.filter, limit: PAGE, ...(this.search ? { search: this.search } : {}) };
  }
}

/** The filters, as they stand beside the view's title. */
export const FILTERS: { [filter in TreeFilter]: string } = {
  default: "", noTools: "without tools", userOnly: "what people said", labeled: "labeled", all: "everything",
};
