/**
 * One item of the conversation -> one row. A row is drawn anew only where its item is another.
 *
 * Read next: transcript.ts, which keeps the rows in order.
 */
import type { ToHost } from "../shared/messages";
import { countOf } from "../shared/diff";
import { number, titleOf, wholeOf } from "../shared/entries";
import { soFar } from "../shared/partial";
import type { Item, NoteItem, Picture, TextItem, ToolItem, UserItem } from "../shared/view";
import { h, icon, type IconName } from "./dom";
import { Markdown } from "./markdown";
import { diffView, inputView, outputView } from "./parts";
import { sourceOf } from "./pictures";

export type Post = (said: ToHost) => void;

export interface Row {
  readonly element: HTMLElement;
  /** Show the item as it is now; it is of the same kind as before. */
  show(item: Item): void;
}

/** The row for a kind of item. */
export function rowFor(item: Item, post: Post): Row {
  switch (item.kind) {
    case "user":
      return userRow(item);
    case "text":
      return textRow();
    case "thinking":
      return thinkingRow();
    case "tool":
      return new ToolRow(post);
    case "note":
      return noteRow(post);
  }
}

function userRow(first: UserItem): Row {
  const text = h("div", { className: "said" });
  const element = h("div", { className: "row user" }, text, pictureViews(first.pictures), ...first.attached.map(attachedView));
  return { element, show: (item) => void (text.textContent = (item as UserItem).text) };
}

function pictureViews(pictures: readonly Picture[]): HTMLElement | null {
  if (!pictures.length) return null;
  return h("div", { className: "pictures" }, ...pictures.map((one) =>
    one.data ? h("img", { src: sourceOf(one), alt: "A picture that went along" }) : h("span", { className: "along faint" }, "(a large picture)")));
}

function attachedView(text: string): HTMLElement {
  const [line = "", ...rest] = text.split("\n");
  if (!rest.length) return h("div", { className: "along faint" }, line);
  return h("details", { className: "along faint" }, h("summary", {}, line.replace(/:$/, "")), h("pre", {}, rest.join("\n")));
}

function textRow(): Row {
  const markdown = new Markdown();
  const element = h("div", { className: "row answer" }, markdown.element);
  return {
    element,
    show: (item) => {
      const { text, streaming } = item as TextItem;
      markdown.show(text, streaming);
      element.classList.toggle("streaming", streaming);
    },
  };
}

function thinkingRow(): Row {
  const title = h("span");
  const body = h("div", { className: "thought" });
  const element = h("details", { className: "row thinking" }, h("summary", {}, icon("more"), title), body);
  return {
    element,
    show: (item) => {
      const { text, streaming } = item as TextItem;
      title.textContent = streaming ? "Thinking…" : "Thought";
      body.textContent = text.trim();
      element.classList.toggle("streaming", streaming);
    },
  };
}

function noteRow(post: Post): Row {
  const element = h("div");
  return {
    element,
    show: (item) => {
      const note = item as NoteItem;
      element.className = `row note ${note.tone}`;
      const title = h("span", {}, note.title);
      const line = note.body ? h("details", {}, h("summary", {}, icon("more"), title), foldedText(note.body)) : h("div", { className: "line" }, title);
      element.replaceChildren(
        line,
        ...(note.hint ? [h("div", { className: "hint" }, note.hint)] : []),
        ...(note.trust ? [h("button", { className: "plain", type: "button", on: { click: () => post({ type: "action", action: "trust" }) } }, "Trust this folder…")] : []),
        ...(note.retry ? [h("button", { className: "plain", type: "button", on: { click: () => post({ type: "retry" }) } }, "Try again")] : []),
      );
    },
  };
}

function foldedText(text: string): HTMLElement {
  const markdown = new Markdown();
  markdown.show(text, false);
  return markdown.element;
}

const SIGNS: { [status in ToolItem["status"]]: { icon: IconName; label: string } } = {
  streaming: { icon: "wait", label: "being written" }, pending: { icon: "wait", label: "waiting" }, running: { icon: "wait", label: "running" },
  completed: { icon: "check", label: "done" }, failed: { icon: "cross", label: "failed" },
  cancelled: { icon: "stop", label: "stopped" }, rejected: { icon: "cross", label: "not allowed" },
};

/** Characters of streaming arguments from which on their number is shown. */
const LONG = 200;

/**
 * A line that opens; what is under it is made when it is opened. What can be pressed stays the same element
 * while the rest is drawn anew, many times a second: a press that is under way is not lost.
 */
class ToolRow implements Row {
  readonly element = h("details", { className: "row tool" });
  private readonly line = h("summary");
  private readonly content = h("div", { className: "content" });
  private readonly deeds = h("div", { className: "buttons" });
  private offered = "";
  private item: ToolItem | undefined;

  constructor(private readonly post: Post) {
    this.element.append(this.line, h("div", { className: "body" }, this.content, this.deeds));
    this.element.addEventListener("toggle", () => this.fill());
  }

  show(item: Item): void {
    this.item = streamed(item as ToolItem);
    this.element.dataset["status"] = this.item.status;
    this.line.title = this.item.title;
    this.line.replaceChildren(...this.lineOf(this.item));
    this.fill();
  }

  private lineOf(item: ToolItem): Node[] {
    const sign = SIGNS[item.status];
    const [name = item.name, about = ""] = split(item.title);
    const counts = item.diff ? countOf(item.diff) : null;
    return [
      icon(item.tool),
      h("span", { className: "name" }, name),
      h("span", { className: "about" }, about),
      ...(counts ? [h("span", { className: "count add" }, `+${counts.added}`), h("span", { className: "count del" }, `−${counts.removed}`)] : []),
      ...(item.args.length >= LONG ? [h("span", { className: "faint" }, number(item.args.length))] : []),
      ...(item.durationMs !== null && item.durationMs >= 100 ? [h("span", { className: "faint" }, duration(item.durationMs))] : []),
      h("span", { className: "status", label: sign.label }, icon(sign.icon)),
    ];
  }

  private fill(): void {
    const { item } = this;
    if (!item || !this.element.open) return this.content.replaceChildren();
    this.content.replaceChildren(
      ...(item.diff ? [diffView(item.diff)] : item.input && Object.keys(item.input).length ? [inputView(item.input)] : []),
      ...(item.output && !(item.diff && !item.isError) ? [outputView(item.output, "Output")] : []),
    );
    const grows = item.status === "running" || item.status === "streaming";
    if (grows) for (const text of this.content.querySelectorAll("pre")) text.scrollTop = text.scrollHeight;
    const deeds = deedsOf(item);
    if (JSON.stringify(deeds) === this.offered) return;
    this.offered = JSON.stringify(deeds);
    this.deeds.replaceChildren(...deeds.map(([sign, text, said]) =>
      h("button", { className: "plain", type: "button", on: { click: () => this.post(said) } }, icon(sign), text)));
  }
}

/** What can be done about a call: the icon, the words, what is said to the host. */
function deedsOf(item: ToolItem): [IconName, string, ToHost][] {
  const whole = wholeOf(item);
  const place = item.locations[0];
  const deeds: [IconName, string, ToHost][] = [];
  if (item.status === "running") deeds.push(["stop", "Stop this call", { type: "stopTool", callId: item.key }]);
  if (item.diff) deeds.push(["diff", "Open the diff", { type: "openDiff", callId: item.key }]);
  if (place) deeds.push(["open", "Open the file", { type: "openFile", uri: place.uri, ...(place.line ? { line: place.line } : {}) }]);
  if (whole) deeds.push(["open", whole.text, { type: "openWhole", uri: whole.uri }]);
  return deeds;
}

/** A call with its arguments as far as they have come. */
function streamed(item: ToolItem): ToolItem {
  if (!item.args) return item;
  const input = soFar(item.args);
  return { ...item, input, title: titleOf(item.name, input) };
}

function split(title: string): [string, string] {
  const end = title.indexOf(" ");
  return end < 0 ? [title, ""] : [title.slice(0, end), title.slice(end + 1)];
}

function duration(ms: number): string {
  return ms < 60_000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;
}

