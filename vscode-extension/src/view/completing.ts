/**
 * What a slash at the begin of the box, or an @ before a word, may become: a list above it, gone through with the arrows.
 *
 * It takes keys only while it is shown, and Enter only after an arrow or Tab chose a line.
 * Read next: composer.ts.
 */
import type { Completion } from "../protocol";
import { unfinished } from "../shared/mentions";
import type { Sign } from "../shared/messages";
import { h } from "./dom";

/** Lines that are shown at most. */
const MOST = 8;

/** What is being typed, and where in the box its sign stands. */
export interface Wanted {
  sign: Sign;
  prefix: string;
  start: number;
}

const LABELS: { [sign in Sign]: string } = { "/": "Commands", "@": "Files" };

export class Completing {
  readonly element = h("div", { className: "completions", role: "listbox", hidden: true });
  private items: readonly Completion[] = [];
  private sign: Sign = "/";
  private chosen = -1;

  constructor(private readonly take: (item: Completion) => void) {}

  /** What is asked for: one line behind a slash, or the word behind an @ that ends at the caret. */
  static wanted(text: string, caret: number): Wanted | null {
    if (/^\/.*$/.test(text)) return { sign: "/", prefix: text.slice(1), start: 0 };
    const name = unfinished(text.slice(0, caret));
    return name && { sign: "@", ...name };
  }

  /** What is chosen stays so if the new list has it: answers come later than keys. */
  show(items: readonly Completion[], sign = this.sign): void {
    this.sign = sign;
    this.element.setAttribute("aria-label", LABELS[sign]);
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
    const [name, beside] = this.sign === "/" ? [`/${item.value}`, item.description ?? ""] : parted(item.value);
    const hint = item.inputHint ? ` ${item.inputHint}` : "";
    const mousedown = (event: MouseEvent): void => (event.preventDefault(), void this.accept(index));
    const value = h("span", { className: "value" }, name, h("span", { className: "faint" }, hint));
    const about = h("span", { className: "faint about" }, beside);
    const line = h("div", { className: "completion", role: "option", on: { mousedown } }, value, about);
    line.setAttribute("aria-selected", String(index === this.chosen));
    return line;
  }
}

/** A path as its name and the folder it is in. */
function parted(path: string): [name: string, folder: string] {
  const end = path.lastIndexOf("/");
  return [path.slice(end + 1), path.slice(0, Math.max(end, 0))];
}
