/**
 * Markdown of a model -> elements. Markup inside it stays text, pictures are not loaded.
 *
 * A text that streams is drawn in pieces: what stands before its last whole block is not touched again.
 * Read next: rows.ts.
 */
import MarkdownIt from "markdown-it";
import { settledEnd } from "../shared/blocks";
import { h, iconButton } from "./dom";

const parser = new MarkdownIt({ html: false, linkify: true, breaks: false });
parser.disable("image");
parser.core.ruler.push("no_styles", (state) => {
  for (const token of state.tokens) {
    const style = token.attrGet("style");
    if (style !== null) token.attrs = [["class", String(style).replace("text-align:", "align-")]]; // the page allows no inline style
  }
});

/** An element that shows a text, and draws no more of it anew than it must. */
export class Markdown {
  readonly element = h("div", { className: "markdown" });
  private settled = "";
  private tail = h("div");

  constructor() {
    this.element.append(this.tail);
  }

  show(text: string, streaming: boolean): void {
    if (!streaming) {
      this.settled = "";
      this.tail = drawn(text);
      this.element.replaceChildren(this.tail);
      return;
    }
    if (!text.startsWith(this.settled)) {
      this.settled = "";
      this.element.replaceChildren(this.tail);
    }
    const end = settledEnd(text, this.settled.length);
    if (end > this.settled.length) {
      this.tail.before(drawn(text.slice(this.settled.length, end)));
      this.settled = text.slice(0, end);
    }
    const tail = drawn(text.slice(end));
    this.tail.replaceWith(tail);
    this.tail = tail;
  }
}

function drawn(text: string): HTMLDivElement {
  const made = h("div");
  made.innerHTML = parser.render(text); // `html: false`: every tag in it is one of the parser's own
  for (const block of made.querySelectorAll("pre")) {
    const place = document.createComment("");
    block.replaceWith(place);
    place.replaceWith(withCopy(block));
  }
  for (const table of made.querySelectorAll("table")) {
    const frame = h("div", { className: "wide" });
    table.replaceWith(frame);
    frame.append(table);
  }
  return made;
}

/** A block of code, with a button that takes it along. */
export function withCopy(block: HTMLElement): HTMLElement {
  const button = iconButton("copy", "Copy", () => {
    void navigator.clipboard.writeText(block.textContent ?? "").then(() => {
      button.classList.add("done");
      setTimeout(() => button.classList.remove("done"), 1200);
    });
  });
  return h("div", { className: "code" }, block, button);
}
