/**
 * The line above the conversation: its name, what goes on, what is wrong and what to do about it.
 *
 * Read next: main.ts.
 */
import type { Action } from "../shared/messages";
import type { Link, View } from "../shared/view";
import { h, icon } from "./dom";
import type { Post } from "./rows";
import { statusOf, titleOf } from "./signs";

export class Strip {
  private readonly folder = h("button", { className: "folder faint", type: "button", label: "Choose the folder of the chat", hidden: true });
  private readonly name = h("button", { className: "name", type: "button", label: "Sessions of this folder" });
  private readonly doing = h("span", { className: "doing faint" });
  private readonly trouble = h("div", { className: "trouble", hidden: true });
  readonly element = h("header", { className: "strip" }, h("div", { className: "top" }, this.folder, this.name, this.doing), this.trouble);

  constructor(private readonly post: Post) {
    this.name.addEventListener("click", () => post({ type: "action", action: "sessions" }));
    this.folder.addEventListener("click", () => post({ type: "action", action: "folder" }));
  }

  /** `folder`: whose session this is, where the window has more than one. */
  sync(view: View, link: Link, folder: string | null): void {
    this.folder.hidden = folder === null;
    this.folder.textContent = folder;
    this.name.textContent = view.head ? (titleOf(view.signs) ?? view.head.name ?? firstWords(view)) : "Singletree";
    const doing = view.activity ?? DOING[view.head?.phase ?? "idle"] ?? "";
    this.doing.textContent = doing || statusOf(view.signs);
    this.doing.title = [doing, statusOf(view.signs)].filter((text) => text).join("\n");
    this.doing.classList.toggle("lively", doing !== "");
    const told = this.told(view, link);
    this.trouble.hidden = told === null;
    if (told) this.trouble.replaceChildren(icon("hand"), h("span", {}, told.text), ...told.actions.map(([text, action]) => this.button(text, action)));
  }

  private told(view: View, link: Link): { text: string; actions: [string, Action][] } | null {
    switch (link.state) {
      case "missing":
        return { text: link.text, actions: [["Open settings", "settings"], ["Look again", "restart"]] };
      case "down":
        return { text: link.text, actions: [["Start it now", "restart"]] };
      case "noFolder":
        return { text: "Open a folder: a session belongs to one.", actions: [["Open folder", "openFolder"]] };
      case "starting":
        return view.head ? null : { text: "Starting…", actions: [] };
      case "up":
        return view.head?.model === null ? { text: "No model can be used yet.", actions: [["Choose a model", "model"]] } : null;
    }
  }

  private button(text: string, action: Action): HTMLElement {
    return h("button", { className: "plain", type: "button", on: { click: () => this.post({ type: "action", action }) } }, text);
  }
}

const DOING: { [phase: string]: string } = { running: "working…", requires_action: "asks you", compacting: "summing up…", retrying: "trying again…" };

function firstWords(view: View): string {
  const first = view.items.find((item) => item.kind === "user");
  return first?.kind === "user" && view.earlier === null ? (first.text.split("\n")[0] || "Conversation") : view.items.length ? "Conversation" : "New conversation";
}
