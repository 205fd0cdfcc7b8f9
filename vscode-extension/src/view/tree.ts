/**
 * The page of the session's tree. Its lines stay the same elements while they change, and a press counts for
 * the line it began on, whatever moves before the button is let go.
 *
 * Never speaks to the daemon. Read next: shared/outline.ts, host/tree.ts.
 */
import type { TreeRow } from "../protocol";
import type { FromTree, ToTree } from "../shared/messages";
import { found, outlined, parentOf, type Line } from "../shared/outline";
import { h, icon, type IconName } from "./dom";

const EMPTY = "What is said in this session will stand here as a tree: every branch that was tried, to be gone back to.";
/** Pixels a pointer may wander between press and release. */
const STEADY = 5;
/** Milliseconds without a key after which another word is begun. */
const PAUSE = 1500;

type Deed = "continue" | "label" | "fold";

const host = acquireVsCodeApi<{ shut: string[] }>();
const post = (said: FromTree): void => host.postMessage(said);

class Tree {
  private readonly list = h("div", { className: "lines", role: "tree", label: "Session tree" });
  private readonly prev = h("button", { className: "plain earlier", type: "button", on: { click: () => post({ type: "more", where: "prev" }) } }, "Before…");
  private readonly next = h("button", { className: "plain earlier", type: "button", on: { click: () => post({ type: "more", where: "next" }) } }, "More…");
  private readonly empty = h("div", { className: "empty" }, EMPTY);
  private readonly sought = h("div", { className: "sought", role: "status", hidden: true });
  readonly element = h("main", { className: "tree" }, this.sought, this.prev, this.empty, this.list, this.next);
  private readonly shut = new Set(host.getState()?.shut ?? []);
  private readonly elements = new Map<string, { told: string; element: HTMLElement }>();
  private rows: readonly TreeRow[] = [];
  private lines: Line[] = [];
  private current = "";
  private leaf = "";
  private typed = "";
  private pause = 0;
  private pressed: { row: TreeRow; deed: Deed; x: number; y: number } | undefined;

  constructor() {
    this.list.removeAttribute("title");
    this.list.addEventListener("mousedown", (event) => this.press(event));
    this.list.addEventListener("focusin", (event) => this.stand(idOf(event.target)));
    this.list.addEventListener("keydown", (event) => this.key(event) && event.preventDefault());
    window.addEventListener("mouseup", (event) => this.release(event));
  }

  show({ rows, prev, next }: ToTree): void {
    this.rows = rows;
    this.prev.hidden = !prev;
    this.next.hidden = !next;
    this.empty.hidden = rows.length > 0;
    this.draw();
    const leaf = rows.find((row) => row.isLeaf)?.entryId ?? "";
    if (leaf !== this.leaf) this.elements.get(leaf)?.element.scrollIntoView({ block: "nearest" });
    this.leaf = leaf;
  }

  private draw(): void {
    this.lines = outlined(this.rows, this.shut);
    const kept = new Set(this.lines.map((line) => line.row.entryId));
    for (const [id, { element }] of this.elements) if (!kept.has(id)) {
      element.remove();
      this.elements.delete(id);
    }
    let before: ChildNode | null = this.list.firstChild;
    for (const line of this.lines) {
      const element = this.elementOf(line);
      if (element === before) before = before.nextSibling;
      else this.list.insertBefore(element, before);
    }
    if (!kept.has(this.current)) this.stand(this.lines.find((line) => line.row.isLeaf)?.row.entryId ?? this.lines[0]?.row.entryId ?? "");
  }

  private elementOf(line: Line): HTMLElement {
    const told = JSON.stringify(line);
    const known = this.elements.get(line.row.entryId);
    const element = known?.element ?? h("div", { role: "treeitem", tabIndex: -1 });
    if (known?.told !== told) fill(element, line);
    this.elements.set(line.row.entryId, { told, element });
    return element;
  }

  private press(event: MouseEvent): void {
    const row = this.rowOf(idOf(event.target));
    const deed = event.target instanceof Element ? event.target.closest<HTMLElement>("[data-deed]")?.dataset["deed"] : undefined;
    this.pressed = row && event.button === 0 ? { row, deed: (deed ?? "continue") as Deed, x: event.clientX, y: event.clientY } : undefined;
  }

  private release(event: MouseEvent): void {
    const { pressed } = this;
    this.pressed = undefined;
    if (pressed && Math.hypot(event.clientX - pressed.x, event.clientY - pressed.y) <= STEADY) this.act(pressed.deed, pressed.row);
  }

  private act(deed: Deed, row: TreeRow): void {
    if (deed === "fold") this.fold(row.entryId, !this.shut.has(row.entryId));
    else post({ type: deed, row });
  }

  private fold(id: string, shut: boolean): void {
    if (shut) this.shut.add(id);
    else this.shut.delete(id);
    host.setState({ shut: [...this.shut] });
    this.draw();
  }

  /** True: the key was for the tree. */
  private key(event: KeyboardEvent): boolean {
    const at = this.lines.findIndex((line) => line.row.entryId === this.current);
    const line = this.lines[at];
    if (!line || event.altKey || event.ctrlKey || event.metaKey) return false;
    if (event.key.length === 1 && (this.typed || event.key !== " ")) return this.seek(at, this.typed + event.key);
    if (event.key === "Backspace" && this.typed) return this.seek(at, this.typed.slice(0, -1));
    if (event.shiftKey) return false;
    this.typing("");
    switch (event.key) {
      case "ArrowDown":
        return this.go(at + 1);
      case "ArrowUp":
        return this.go(at - 1);
      case "Home":
        return this.go(0);
      case "End":
        return this.go(this.lines.length - 1);
      case "ArrowRight":
        return line.open === false ? (this.fold(line.row.entryId, false), true) : line.open === true && this.go(at + 1);
      case "ArrowLeft":
        return line.open === true ? (this.fold(line.row.entryId, true), true) : this.go(parentOf(this.lines, at));
      case "Enter":
      case " ":
        return this.act("continue", line.row), true;
      case "F2":
        return this.act("label", line.row), true;
      default:
        return false;
    }
  }

  /** What is typed leads to the row that has it. */
  private seek(at: number, typed: string): boolean {
    const to = typed ? found(this.lines, at, typed) : at;
    this.typing(typed);
    this.sought.classList.toggle("none", to < 0);
    return this.go(to);
  }

  /** Show what was typed so far, for a while. */
  private typing(typed: string): void {
    this.typed = this.sought.textContent = typed;
    this.sought.hidden = !typed;
    window.clearTimeout(this.pause);
    if (typed) this.pause = window.setTimeout(() => this.typing(""), PAUSE);
  }

  private go(to: number): boolean {
    this.elements.get(this.lines[to]?.row.entryId ?? "")?.element.focus();
    return true;
  }

  /** One line can be reached by Tab: the one that was reached last. */
  private stand(id: string): void {
    const [old, now] = [this.elements.get(this.current), this.elements.get(id)];
    if (old) old.element.tabIndex = -1;
    if (now) now.element.tabIndex = 0;
    this.current = id;
  }

  private rowOf(id: string): TreeRow | undefined {
    return this.rows.find((row) => row.entryId === id);
  }
}

function idOf(target: EventTarget | null): string {
  return (target instanceof Element && target.closest<HTMLElement>(".entry")?.dataset["id"]) || "";
}

const SIGNS: { [what: string]: IconName } = {
  user: "person", assistant: "spark", toolResult: "other", bashExecution: "execute", compaction: "fold", branch_summary: "merge", label: "bookmark",
};

/** The marks stand before the text: what stands behind a long one is out of sight. */
function fill(element: HTMLElement, { row, level, open }: Line): void {
  const sign = icon(SIGNS[row.role ?? row.type] ?? SIGNS[row.type] ?? "dot");
  const twist = h("span", { className: "twist" }, open !== null && icon("more"));
  if (open !== null) twist.dataset["deed"] = "fold";
  const label = h("span", { className: "label-it", title: "Label… (F2)" }, icon("bookmark"));
  label.dataset["deed"] = "label";
  const marks = [row.isLeaf && h("span", { className: "here" }, "●"), row.label !== null && h("span", { className: "badge" }, row.label)];
  element.className = `entry${row.isLeaf ? " leaf" : ""}${row.onPath ? "" : " off"}`;
  element.title = `${row.preview}\n${new Date(row.timestamp).toLocaleString()}`;
  element.style.setProperty("--level", String(level));
  element.dataset["id"] = row.entryId;
  element.dataset["vscodeContext"] = JSON.stringify({ webviewSection: "entry", preventDefaultContextMenuItems: true, row });
  element.setAttribute("aria-level", String(level + 1));
  if (open === null) element.removeAttribute("aria-expanded");
  else element.setAttribute("aria-expanded", String(open));
  if (row.isLeaf) element.setAttribute("aria-current", "true");
  else element.removeAttribute("aria-current");
  element.replaceChildren(twist, sign, ...marks.filter((mark) => mark !== false), h("span", { className: "text" }, row.preview || row.type), label);
}

const tree = new Tree();
document.body.append(tree.element);
window.addEventListener("message", ({ data }: MessageEvent<ToTree>) => tree.show(data));
post({ type: "ready" });
