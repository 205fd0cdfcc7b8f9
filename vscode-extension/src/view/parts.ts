/**
 * What opens under a tool call's line, and what a question shows: arguments, output, a diff.
 *
 * Read next: rows.ts, questions.ts.
 */
import type { JsonObject } from "../protocol";
import { hunksOf, type DiffLine } from "../shared/diff";
import { h } from "./dom";
import { withCopy } from "./markdown";

/** Lines of an output that are put on the page; the whole opens in an editor. */
const MOST_LINES = 400;

const SIGNS: { [kind in DiffLine["kind"]]: string } = { add: "+", del: "−", same: " ", hunk: "⋯" };

/** A unified diff, line by line. */
export function diffView(patch: string): HTMLElement {
  const lines = hunksOf(patch).flatMap((hunk, index) => (index ? [{ kind: "hunk" as const, text: "" }, ...hunk.lines] : hunk.lines));
  const rows = lines.slice(0, MOST_LINES).map(({ kind, text }) =>
    h("div", { className: `line ${kind}` }, h("span", { className: "sign" }, SIGNS[kind]), h("span", {}, text || " ")),
  );
  return h("div", { className: "diff", tabIndex: 0, label: "Changes" }, ...rows, more(lines.length - rows.length));
}

/** A text in a fixed font, its end if it is long. */
export function outputView(text: string, label: string): HTMLElement {
  const lines = text.split("\n");
  const shown = lines.length > MOST_LINES ? lines.slice(-MOST_LINES).join("\n") : text;
  const block = h("pre", { tabIndex: 0, label }, shown);
  return h("div", {}, lines.length > MOST_LINES && h("div", { className: "faint" }, `… ${lines.length - MOST_LINES} lines before`), withCopy(block));
}

/** The arguments of a call: a command or a text as itself, the rest as names and values. */
export function inputView(input: JsonObject): HTMLElement {
  const rows = Object.entries(input).map(([name, value]) => {
    const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
    return h("div", { className: "argument" }, h("span", { className: "name" }, name), h("pre", { tabIndex: text.includes("\n") ? 0 : -1 }, text));
  });
  return h("div", { className: "arguments" }, ...rows);
}

function more(count: number): HTMLElement | false {
  return count > 0 && h("div", { className: "line hunk" }, h("span", { className: "sign" }, "⋯"), h("span", {}, `${count} more lines`));
}
