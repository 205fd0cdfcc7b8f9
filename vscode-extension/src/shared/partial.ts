/**
 * The arguments of a call while they stream: an object of what can be read of an unfinished JSON text.
 *
 * Pure. Read next: view/rows.ts.
 */
import type { JsonObject } from "../protocol";

const CLOSERS: { [opener: string]: string } = { "{": "}", "[": "]" };

/** A text that is cut off counts as far as it goes; a name without a value, or half a word, does not. */
export function soFar(text: string): JsonObject {
  let open = ""; // what would close all that is open
  let sure = ""; // the text up to its last whole member, closed
  let end = 0;
  let quoted = false;
  while (end < text.length) {
    const letter = text[end] ?? "";
    const next = end + (quoted && letter === "\\" ? (text[end + 1] === "u" ? 6 : 2) : 1);
    if (next > text.length) break; // half of an escape
    if (letter === '"') quoted = !quoted;
    if (!quoted && letter in CLOSERS) open = CLOSERS[letter] + open;
    if (!quoted && (letter === "}" || letter === "]")) open = open.slice(1);
    if (!quoted && letter in CLOSERS) sure = text.slice(0, next) + open;
    if (!quoted && letter === ",") sure = text.slice(0, end) + open;
    end = next;
  }
  return parsed(text.slice(0, end) + (quoted ? '"' : "") + open) ?? parsed(sure) ?? {};
}

function parsed(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : null;
  } catch {
    return null;
  }
}
