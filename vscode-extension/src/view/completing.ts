/**
 * What a slash at the begin of the box may become: a list above it, gone through with the arrows.
 *
 * It takes keys only while it is shown, and Enter only after an arrow or Tab chose a line.
 * Read next: composer.ts.
 */
import type { Completion } from "../protocol";
import { h } from "./dom";

/** Lines that are shown at most. */
const MOST = 8;

export class Completing {
  readonly element = h("div", { className: "completions", role: "listbox", label: "Commands", hidden: true });
  private items: readonly Completion[] = [];
  private chosen = -1;

  constructor(private readonly take: (item: Completion) => void) {
    this.element.removeAttribute("title");
  }

  /** What is asked for with a text: one line behind a slash. */
  static wanted(text: string): string | null {
    return /^\/.*$/.exec(text)?.[0].slice(1) ?? null;
  }

  /** What is chosen stays so if the new list has it: answers come later than keys. */
  show(items: readonly Completion[]): void {
    const was = this.items[this.chosen]?.value;
    this.items = items.slice(0, MOST);
    this.chosen = this.items.findIndex((item) => item.value === was);
    this.draw();
  }

  /** True: the key was for the list. */
  key(event: KeyboardEvent): boolean {
    if (!this.items.length) return false;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") return this.move(event.key === "ArrowDown" ? 1 : -1);
    if (event.key === "Escape") return this.hide();
    if (event.key === "Tab" && !event.shiftKey) return this.accept(Math.max(this.chosen, 0));
    return event.key === "Enter" && this.chosen >= 0 && this.accept(this.chosen);
  }

  private move(step: number): true {
    this.chosen = (this.chosen + step + this.items.length) % this.items.length;
    if (this.chosen < 0) this.chosen = this.items.length - 1;
    this.draw();
    return true;
  }

  private hide(): true {
    this.show([]);
    return true;
  }

  private accept(index: number): true {
    const item = this.items[index];
    this.show([]);
    if (item) this.take(item);
    return true;
  }

  private draw(): void {
    this.element.hidden = this.items.length === 0;
    this.element.replaceChildren(...this.items.map((item, index) => this.line(item, index)));
  }

  private line(item: Completion, index: number): HTMLElement {
    const hint = item.inputHint ? ` ${item.inputHint}` : "";
    const mousedown = (event: MouseEvent): void => (event.preventDefault(), void this.accept(index));
    const value = h("span", { className: "value" }, `/${item.value}`, h("span", { className: "faint" }, hint));
    const about = h("span", { className: "faint about" }, item.description ?? "");
    const line = h("div", { className: "completion", role: "option", on: { mousedown } }, value, about);
    line.setAttribute("aria-selected", String(index === this.chosen));
    return line;
  }
}
