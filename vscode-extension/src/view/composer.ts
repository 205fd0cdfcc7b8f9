/**
 * The box a person writes in, what goes along, the buttons under it. Enter sends, Shift+Enter is a new line.
 *
 * A text stays here until the daemon has it; after a reload it is sent again under the same id.
 * Read next: main.ts.
 */
import type { Completion } from "../protocol";
import { written } from "../shared/mentions";
import { NO_DRAFT, joined, type Action, type Attachment, type Dated, type Draft, type Sending, type Sign } from "../shared/messages";
import { number } from "../shared/entries";
import { busy, type View } from "../shared/view";
import { Completing, type Wanted } from "./completing";
import { h, icon, iconButton } from "./dom";
import { filesOf, pictureOf, sourceOf } from "./pictures";
import type { Post } from "./rows";

/** What outlives a reload of the page. */
export interface Kept extends Dated {
  sending: Sending | null;
}

export class Composer {
  private readonly box = h("textarea", { rows: 1, label: "Say something to the agent" });
  private readonly chips = h("div", { className: "chips" });
  private readonly unseen = h("div", { className: "unseen-pictures", role: "status", hidden: true });
  private readonly failure = h("div", { className: "failure", hidden: true });
  private readonly model = this.switch("model", "Model");
  private readonly thinking = this.switch("thinking", "Thinking level");
  private readonly mode = this.switch("mode", "What the agent may do unasked");
  private readonly meter = h("button", { className: "meter", type: "button", on: { click: () => this.post({ type: "action", action: "usage" }) } });
  private readonly completing = new Completing((item) => this.completed(item));
  private readonly stop = roundButton("stop", "Stop", () => this.post({ type: "stop" }));
  private readonly go = roundButton("send", "Send (Enter; Alt+Enter says it after the turn)", () => this.send("now"));
  readonly element = h(
    "section", { className: "composer" }, this.failure, this.completing.element,
    h("div", { className: "frame" }, this.chips, this.unseen, this.box,
      h("div", { className: "bar" }, this.model, this.thinking, this.mode, h("span", { className: "space" }), this.meter, this.stop, this.go)),
  );
  private kept: Kept = { draft: NO_DRAFT, at: 0, sending: null };
  private running = false;
  private blind: string | null = null;

  constructor(private readonly post: Post, private readonly keep: (kept: Kept) => void, private readonly sent: () => void) {
    this.box.removeAttribute("title");
    this.box.addEventListener("input", () => this.typed());
    this.box.addEventListener("keydown", (event) => this.key(event));
    this.box.addEventListener("paste", (event) => this.given(event, event.clipboardData));
    this.element.addEventListener("dragover", (event) => event.dataTransfer?.types.includes("Files") && event.preventDefault());
    this.element.addEventListener("drop", (event) => this.given(event, event.dataTransfer));
  }

  /** Page and host both remember the draft; what was on its way is sent again. */
  restore(kept: Kept | undefined, dated: Dated): void {
    const newest = kept && kept.at > dated.at ? kept : dated;
    this.take({ ...newest, sending: kept?.sending ?? null });
    if (this.kept.sending) this.post({ type: "send", sending: this.kept.sending });
  }

  /** Show how things stand. */
  sync(view: View): void {
    const { head } = view;
    this.running = busy(view);
    this.stop.hidden = !this.running;
    this.model.textContent = head?.model?.replace(/^.*\//, "") ?? "No model";
    this.model.title = head?.model ? `Model: ${head.model}` : "Choose a model";
    this.thinking.textContent = head?.thinking ?? "";
    this.mode.textContent = MODES[head?.mode ?? ""] ?? head?.mode ?? "";
    for (const one of [this.model, this.thinking, this.mode, this.meter]) one.hidden = head === null;
    this.box.disabled = head?.readOnly ?? false;
    this.box.placeholder = head?.readOnly ? "This session can only be read" : this.running ? "Steer the turn…" : "Ask or tell the agent…";
    this.blind = head && head.model !== null && !head.images ? head.model : null;
    this.tellBlind();
    this.measure(view);
  }

  /** Put something before what stands in the box. */
  insert(draft: Draft, focus: boolean): void {
    this.take({ ...this.kept, draft: joined(draft, this.kept.draft) });
    if (focus) this.box.focus();
  }

  /** The daemon has it. */
  accepted(id: string): void {
    if (this.kept.sending?.id === id) this.take({ ...this.kept, sending: null });
  }

  /** It was refused: the text comes back. */
  refused(id: string, text: string, hint?: string): void {
    if (this.kept.sending?.id === id) this.take({ draft: joined(this.kept.sending, this.kept.draft), at: 0, sending: null });
    this.fail(text, hint);
  }

  private fail(text: string, hint?: string): void {
    this.failure.replaceChildren(h("span", {}, hint ? `${text} ${hint}` : text), iconButton("cross", "Close", () => (this.failure.hidden = true)));
    this.failure.hidden = false;
  }

  /** What the daemon offers for a text, if the box still says it. */
  complete(sign: Sign, prefix: string, items: readonly Completion[]): void {
    const wanted = this.wanted();
    const said = items.some((item) => item.value === prefix) && sign === "@"; // no other file is meant
    if (wanted?.sign === sign && wanted.prefix === prefix) this.completing.show(said ? [] : items.filter((item) => item.value !== prefix.trimEnd()), sign);
  }

  private completed(item: Completion): void {
    const wanted = this.wanted();
    if (!wanted) return;
    const text = wanted.sign === "@" ? `${written(item.value)} ` : item.inputHint ? `/${item.value} ` : `/${item.value}`;
    this.box.setRangeText(text, wanted.start, wanted.sign === "@" ? this.box.selectionEnd : this.box.value.length, "end");
    this.typed(false);
  }

  private wanted(): Wanted | null {
    return Completing.wanted(this.box.value, this.box.selectionEnd);
  }

  private key(event: KeyboardEvent): void {
    if (this.completing.key(event)) return event.preventDefault();
    if (event.key !== "Enter" || event.shiftKey || event.ctrlKey || event.metaKey || event.isComposing) return;
    event.preventDefault();
    this.send(event.altKey ? "after" : "now");
  }

  private send(how: Sending["how"]): void {
    const { draft, sending } = this.kept;
    if (sending || (!draft.text.trim() && !draft.attachments.length)) return;
    this.failure.hidden = true;
    this.completing.show([]);
    const next: Sending = { ...draft, id: crypto.randomUUID(), how };
    this.take({ draft: NO_DRAFT, at: 0, sending: next });
    this.post({ type: "send", sending: next });
    this.sent();
  }

  private typed(offer = true): void {
    this.kept = { ...this.kept, draft: { ...this.kept.draft, text: this.box.value } };
    this.store();
    const wanted = this.wanted();
    if (wanted && offer) this.post({ type: "complete", sign: wanted.sign, prefix: wanted.prefix });
    else this.completing.show([]);
  }

  private take(kept: Kept): void {
    this.kept = kept;
    if (this.box.value !== kept.draft.text) this.box.value = kept.draft.text;
    this.chips.replaceChildren(...kept.draft.attachments.map((one) => this.chip(one)));
    this.tellBlind();
    this.store();
  }

  private chip(one: Attachment): HTMLElement {
    const picture = one.block.type === "image" && h("img", { src: sourceOf(one.block), alt: "" });
    return h("span", { className: "chip" }, picture, one.label, iconButton("cross", `Leave out ${one.label}`, () => this.leaveOut(one)));
  }

  private leaveOut(left: Attachment): void {
    const { draft } = this.kept;
    this.take({ ...this.kept, draft: { ...draft, attachments: draft.attachments.filter((one) => one !== left) } });
    this.box.focus();
  }

  /** Files that were pasted or dropped: pictures go along. */
  private given(event: Event, given: DataTransfer | null): void {
    const files = filesOf(given);
    if (!files.length) return;
    event.preventDefault();
    for (const file of files) {
      pictureOf(file).then(
        (one) => this.take({ ...this.kept, draft: joined(this.kept.draft, { text: "", attachments: [one] }) }),
        () => this.fail(`${file.name} is no picture.`, "Other files are named by @ and their path."),
      );
    }
  }

  /** Said before they are sent: who answers will not see them. */
  private tellBlind(): void {
    this.unseen.hidden = this.blind === null || !this.kept.draft.attachments.some((one) => one.block.type === "image");
    this.unseen.textContent = this.unseen.hidden ? "" : `${this.blind} is not shown pictures: it will get a note instead.`;
  }

  private store(): void {
    this.kept = { ...this.kept, at: Date.now() };
    this.keep(this.kept);
    this.box.style.height = "auto";
    this.box.style.height = `${Math.min(this.box.scrollHeight, window.innerHeight * 0.4)}px`;
  }

  private measure(view: View): void {
    const usage = view.head?.context;
    if (!usage) return;
    const percent = usage.percent ?? 0;
    this.meter.textContent = usage.tokens === null ? "–" : `${Math.round(percent)}%`;
    this.meter.dataset["full"] = percent >= 80 ? "high" : percent >= 50 ? "half" : "low";
    const tokens = usage.tokens === null ? "not known yet" : number(usage.tokens);
    this.meter.title = `Context: ${tokens} of ${number(usage.window)} tokens`;
    this.meter.setAttribute("aria-label", this.meter.title);
  }

  private switch(action: Action, label: string): HTMLButtonElement {
    return h("button", { className: `switch ${action}`, type: "button", label, on: { click: () => this.post({ type: "action", action }) } });
  }
}

function roundButton(name: "stop" | "send", label: string, click: () => void): HTMLButtonElement {
  return h("button", { className: `round ${name}`, type: "button", label, on: { click } }, icon(name));
}

const MODES: { [mode: string]: string } = { ask: "asks", acceptEdits: "edits", readOnly: "reads only", allowAll: "asks nothing" };
