/**
 * The conversation on the page: rows in order, the newest in sight unless the person reads elsewhere.
 *
 * Read next: rows.ts; main.ts, which calls `sync` once per frame.
 */
import type { Item, View } from "../shared/view";
import { h, icon } from "./dom";
import { rowFor, type Post, type Row } from "./rows";

/** Pixels from the end at which a person still counts as reading the newest. */
const NEAR = 40;

export class Transcript {
  private readonly rows = new Map<string, { item: Item; row: Row }>();
  private readonly list = h("div", { className: "rows" });
  private readonly earlier = h("button", { className: "plain earlier", type: "button" }, "Earlier messages");
  private readonly latest = h("button", { className: "latest", type: "button", label: "Go to the newest" }, icon("down"));
  private readonly empty = h("div", { className: "empty" });
  private readonly scroller = h("div", { className: "scroller", tabIndex: 0 }, this.earlier, this.empty, this.list);
  readonly element = h("main", { className: "transcript", label: "Conversation" }, this.scroller, this.latest);
  private pinned = true;
  private top = 0;
  private asked: string | null = null;
  private view: View | undefined;

  constructor(private readonly post: Post) {
    this.element.removeAttribute("title");
    this.earlier.addEventListener("click", () => this.ask());
    this.latest.addEventListener("click", () => this.toEnd());
    this.scroller.addEventListener("scroll", () => this.scrolled(), { passive: true });
    const resized = new ResizeObserver(() => this.pinned && this.toEnd());
    resized.observe(this.scroller);
    resized.observe(this.list);
  }

  /** Show the view's items. `hint` stands where nothing was said yet. */
  sync(view: View, hint: string): void {
    const height = this.scroller.scrollHeight;
    const grewAtTop = this.view?.items[0]?.key !== view.items[0]?.key && this.rows.has(this.view?.items[0]?.key ?? "");
    this.view = view;
    this.forget(new Set(view.items.map((item) => item.key)));
    let before: ChildNode | null = this.list.firstChild;
    for (const item of view.items) {
      const element = this.rowOf(item).element;
      if (element === before) before = before.nextSibling;
      else this.list.insertBefore(element, before);
    }
    this.earlier.hidden = view.earlier === null;
    this.empty.hidden = view.items.length > 0;
    this.empty.textContent = hint;
    if (this.pinned) this.toEnd();
    else if (grewAtTop) this.scroller.scrollTop += this.scroller.scrollHeight - height;
  }

  /** The person has said something: they want to see what comes. */
  toEnd(): void {
    this.pinned = true;
    this.scroller.scrollTop = this.scroller.scrollHeight;
    this.latest.hidden = true;
  }

  private rowOf(item: Item): Row {
    const known = this.rows.get(item.key);
    if (known && known.item.kind === item.kind) {
      if (known.item !== item) known.row.show(item);
      known.item = item;
      return known.row;
    }
    known?.row.element.remove();
    const row = rowFor(item, this.post);
    row.show(item);
    this.rows.set(item.key, { item, row });
    return row;
  }

  private forget(kept: Set<string>): void {
    for (const [key, { row }] of this.rows) {
      if (kept.has(key)) continue;
      row.element.remove();
      this.rows.delete(key);
    }
  }

  /** Only going up lets go of the end: rows that become higher move nothing up. */
  private scrolled(): void {
    const { scrollTop, scrollHeight, clientHeight } = this.scroller;
    const near = scrollHeight - scrollTop - clientHeight < NEAR;
    this.pinned = near || (this.pinned && scrollTop >= this.top);
    this.top = scrollTop;
    this.latest.hidden = this.pinned;
    if (scrollTop < NEAR && !this.pinned) this.ask();
  }

  /** Once for each page. */
  private ask(): void {
    const page = this.view?.earlier ?? null;
    if (page === null || page === this.asked) return;
    this.asked = page;
    this.post({ type: "earlier" });
  }
}
