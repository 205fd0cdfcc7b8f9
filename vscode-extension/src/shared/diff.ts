/**
 * Unified diffs: their lines for the eye, and the two texts they stand between.
 *
 * Pure. Read next: view/parts.ts and host/documents.ts.
 */

export interface DiffLine {
  kind: "add" | "del" | "same" | "hunk";
  text: string;
}

export interface Hunk {
  /** First line on either side, from 1. */
  oldStart: number;
  newStart: number;
  lines: DiffLine[];
}

const HUNK = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/;

/** The hunks of a unified diff of one file. */
export function hunksOf(patch: string): Hunk[] {
  const hunks: Hunk[] = [];
  for (const line of patch.split("\n")) {
    const found = HUNK.exec(line);
    if (found) hunks.push({ oldStart: Number(found[1]), newStart: Number(found[2]), lines: [] });
    else hunks.at(-1)?.lines.push(...lineOf(line));
  }
  return hunks;
}

/** How many lines come and go. */
export function countOf(patch: string): { added: number; removed: number } {
  const lines = hunksOf(patch).flatMap((hunk) => hunk.lines);
  return { added: lines.filter((line) => line.kind === "add").length, removed: lines.filter((line) => line.kind === "del").length };
}

/** The text from before, made from the text after; null where the text is another by now. */
export function before(after: string, patch: string): string | null {
  const lines = after.split("\n");
  for (const hunk of hunksOf(patch).reverse()) {
    const news = side(hunk, "add");
    const start = Math.max(hunk.newStart - 1, 0);
    const there = lines.slice(start, start + news.length);
    if (there.length !== news.length || there.some((line, index) => line.replace(/\r$/, "") !== news[index])) return null;
    lines.splice(start, news.length, ...side(hunk, "del"));
  }
  return lines.join("\n");
}

/** Both sides as far as the diff knows them, with empty lines for what it leaves out. */
export function sides(patch: string): { before: string; after: string } {
  const texts = { before: [] as string[], after: [] as string[] };
  for (const hunk of hunksOf(patch)) {
    fill(texts.before, hunk.oldStart, side(hunk, "del"));
    fill(texts.after, hunk.newStart, side(hunk, "add"));
  }
  return { before: texts.before.join("\n"), after: texts.after.join("\n") };
}

function fill(lines: string[], start: number, more: string[]): void {
  while (lines.length < start - 1) lines.push("");
  lines.push(...more);
}

function side(hunk: Hunk, kind: "add" | "del"): string[] {
  return hunk.lines.filter((line) => line.kind === kind || line.kind === "same").map((line) => line.text);
}

function lineOf(line: string): DiffLine[] {
  if (line.startsWith("+")) return [{ kind: "add", text: line.slice(1) }];
  if (line.startsWith("-")) return [{ kind: "del", text: line.slice(1) }];
  return line.startsWith(" ") ? [{ kind: "same", text: line.slice(1) }] : [];
}
