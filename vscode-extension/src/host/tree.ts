/**
 * The session as a tree: every branch that was tried, the place where the conversation stands, labels.
 *
 * Read anew when the leaf moves, and only while it is on the screen. Read next: shared/nest.ts, jumps.ts.
 */
import * as vscode from "vscode";
import type { TreeFilter, TreeParams, TreeRow } from "../protocol";
import { nested, type Node } from "../shared/nest";
import type { Conversation } from "./conversation";
import type { Daemon } from "./daemon";

export const TREE = "singletree.tree";
const PAGE = 300;
/** Milliseconds in which several moves of the leaf count as one. */
const CALM = 250;

export interface More {
  more: "prev" | "next";
}

export class SessionTree implements vscode.TreeDataProvider<Node | More>, vscode.Disposable {
  filter: TreeFilter = "default";
  search = "";
  readonly panel: vscode.TreeView<Node | More>;
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.changed.event;
  private rows: TreeRow[] = [];
  private prev: string | undefined;
  private next: string | null = null;
  private version = "";
  private leaf = "";
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly daemon: Daemon, private readonly conversation: Conversation) {
    this.panel = vscode.window.createTreeView(TREE, { treeDataProvider: this, showCollapseAll: true });
    this.panel.onDidChangeVisibility(({ visible }) => visible && this.soon());
    conversation.onEvent((event) => event.type === "leaf" && this.soon());
    conversation.onTold((told) => told === "whole" && this.soon());
  }

  getTreeItem(node: Node | More): vscode.TreeItem {
    return "more" in node ? moreItem(node) : entryItem(node);
  }

  getParent(node: Node | More): Node | undefined {
    return "more" in node ? undefined : node.parent;
  }

  async getChildren(node?: Node | More): Promise<(Node | More)[]> {
    if (node) return "more" in node ? [] : node.children;
    await this.read();
    const more: More[] = this.next === null ? [] : [{ more: "next" }];
    const less: More[] = this.prev === undefined ? [] : [{ more: "prev" }];
    const roots = nested(this.rows);
    this.showLeaf(roots);
    return [...less, ...roots, ...more];
  }

  /** Another choice of rows. */
  choose(filter: TreeFilter, search: string): void {
    this.filter = filter;
    this.search = search;
    this.panel.description = [FILTERS[filter], search && `“${search}”`].filter((text) => text).join(" · ");
    this.refresh();
  }

  refresh(): void {
    this.version = "";
    this.changed.fire();
  }

  /** The page before or behind. */
  async extend({ more }: More): Promise<void> {
    const cursor = more === "next" ? this.next : this.prev;
    if (!cursor) return;
    const got = await this.daemon.request("agent/tree/get", { ...this.asked(), cursor });
    if (more === "next") {
      this.rows.push(...got.rows);
      this.next = got.next;
    } else {
      this.rows.unshift(...got.rows);
      this.prev = got.prev;
    }
    this.changed.fire();
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.panel.dispose();
  }

  /** Scroll to where the conversation stands, after it moved. The focus stays where it is. */
  private showLeaf(roots: readonly Node[]): void {
    const leaf = found(roots);
    if (!leaf || leaf.row.entryId === this.leaf || !this.panel.visible) return;
    this.leaf = leaf.row.entryId;
    setTimeout(() => void this.panel.reveal(leaf, { select: false, focus: false }).then(undefined, () => undefined), 0);
  }

  private soon(): void {
    if (!this.panel.visible) return;
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.refresh();
    }, CALM);
  }

  /** The page round the leaf, unless nothing has changed since it was read. */
  private async read(): Promise<void> {
    const { head } = this.conversation.view;
    if (!head || this.daemon.link.state !== "up") return;
    const version = [head.sessionId, head.leafId, this.filter, this.search].join("/");
    if (version === this.version) return;
    const around = head.leafId && !this.search ? { around: head.leafId } : {};
    const got = await this.daemon.request("agent/tree/get", { ...this.asked(), ...around });
    this.rows = got.rows;
    this.prev = got.prev;
    this.next = got.next;
    this.version = version;
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

function found(nodes: readonly Node[]): Node | undefined {
  const waiting = [...nodes];
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    if (node.row.isLeaf) return node;
    waiting.push(...node.children);
  }
  return undefined;
}

const ICONS: { [what: string]: string } = {
  user: "account", assistant: "sparkle", toolResult: "tools", bashExecution: "terminal", compaction: "fold", branch_summary: "git-merge",
  model_change: "settings-gear", thinking_level_change: "settings-gear", label: "bookmark", session_info: "tag",
};

/** The marks stand before the text: what stands behind a long one is out of sight. */
function entryItem({ row, children }: Node): vscode.TreeItem {
  const marks = `${row.isLeaf ? "● " : ""}${row.label ? `[${row.label}] ` : ""}`;
  const { Expanded, None } = vscode.TreeItemCollapsibleState;
  const item = new vscode.TreeItem(marks + (row.preview || row.type), children.length ? Expanded : None);
  item.id = row.entryId;
  item.contextValue = "entry";
  item.tooltip = `${row.preview}\n${new Date(row.timestamp).toLocaleString()}`;
  const colour = row.isLeaf ? "charts.green" : row.onPath ? undefined : "disabledForeground";
  const sign = ICONS[row.role ?? row.type] ?? ICONS[row.type] ?? "circle-small";
  item.iconPath = new vscode.ThemeIcon(sign, colour ? new vscode.ThemeColor(colour) : undefined);
  item.command = { command: "singletree.tree.continue", title: "Continue from here", arguments: [{ row }] };
  return item;
}

function moreItem(node: More): vscode.TreeItem {
  const item = new vscode.TreeItem(node.more === "next" ? "More…" : "Before…");
  item.id = node.more;
  item.iconPath = new vscode.ThemeIcon("ellipsis");
  item.command = { command: "singletree.tree.more", title: "More", arguments: [node] };
  return item;
}
