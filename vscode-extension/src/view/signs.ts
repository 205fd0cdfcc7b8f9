/**
 * Signs that extensions of the daemon put up: widgets under the conversation, a status above it.
 *
 * Read next: strip.ts.
 */
import type { Sign } from "../shared/view";
import { h } from "./dom";

/** The widgets, one under the other, each as its lines. */
export function showWidgets(place: HTMLElement, signs: readonly Sign[]): void {
  const widgets = signs.filter((sign) => sign.kind === "widget");
  place.hidden = widgets.length === 0;
  place.replaceChildren(...widgets.map((sign) => h("div", { className: "widget" }, sign.lines.join("\n"))));
}

/** What the line above the conversation says besides. */
export function statusOf(signs: readonly Sign[]): string {
  return signs.filter((sign) => sign.kind === "status").map((sign) => sign.lines.join(" ")).join(" · ");
}

/** A name an extension gave to what is on the screen. */
export function titleOf(signs: readonly Sign[]): string | null {
  return signs.findLast((sign) => sign.kind === "title")?.lines.join(" ") ?? null;
}
