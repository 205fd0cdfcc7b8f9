/**
 * Texts that wait for their turn, one line each; any can be taken back into the box.
 *
 * Read next: composer.ts.
 */
import type { QueueItem } from "../protocol";
import { h, iconButton } from "./dom";
import type { Post } from "./rows";

export class Waiting {
  readonly element = h("section", { className: "waiting", label: "Waiting" });
  private shown: readonly QueueItem[] = [];

  constructor(private readonly post: Post) {
    this.element.removeAttribute("title");
  }

  sync(items: readonly QueueItem[]): void {
    if (items === this.shown) return;
    this.shown = items;
    this.element.replaceChildren(...items.map((item) => this.line(item)));
  }

  private line({ queueId, kind, paused, content }: QueueItem): HTMLElement {
    const own = content.filter((block) => !(block.type === "text" && block.context)); // an editor adds the rest
    const text = own.map((block) => (block.type === "text" ? block.text : `(${block.type})`)).join(" ");
    return h(
      "div", { className: "queued" },
      h("span", { className: "faint" }, paused ? "paused" : kind === "steer" ? "next step" : "afterwards"),
      h("span", { className: "about", title: text }, text),
      paused && iconButton("send", "Send it now", () => this.post({ type: "release", queueId })),
      iconButton("cross", "Take it back", () => this.post({ type: "unqueue", queueId })),
    );
  }
}
