/**
 * Flat rows of the tree, as the daemon draws them -> the lines that are seen while some rows are shut.
 *
 * `depth` grows where the tree forks, so a straight conversation stays one column. Pure. Read next: view/tree.ts.
 */
import type { TreeRow } from "../protocol";

export interface Line {
  row: TreeRow;
  /** From 0. A page may begin deep inside the tree. */
  level: number;
  /** Whether what is below it is shown; null: there is nothing below. */
  open: boolean | null;
}

/** The lines in order; `shut` are ids of rows whose branches are hidden. */
export function outlined(rows: readonly TreeRow[], shut: ReadonlySet<string>): Line[] {
  const top = Math.min(...rows.map((row) => row.depth));
  const lines: Line[] = [];
  let hidden = Infinity; // the depth from which on rows are under a shut one
  rows.forEach((row, index) => {
    if (row.depth >= hidden) return;
    const above = (rows[index + 1]?.depth ?? 0) > row.depth;
    const open = above ? !shut.has(row.entryId) : null;
    hidden = open === false ? row.depth + 1 : Infinity;
    lines.push({ row, level: row.depth - top, open });
  });
  return lines;
}

/** The line a line hangs from: the nearest one before it on a lower level. */
export function parentOf(lines: readonly Line[], index: number): number {
  const level = lines[index]?.level ?? 0;
  return lines.slice(0, index).findLastIndex((line) => line.level < level);
}

/**
 * The line to go to for what was typed: the next one behind `at` with a first letter in it, then the one that has
 * all of it; the same letter again goes on to the next. -1: there is none.
 */
export function found(lines: readonly Line[], at: number, typed: string): number {
  const whole = next(lines, typed.length === 1 ? at + 1 : at, typed);
  const [letter = ""] = typed;
  const again = typed.length > 1 && typed === letter.repeat(typed.length);
  return whole < 0 && again ? next(lines, at + 1, letter) : whole;
}

/** Round the end. */
function next(lines: readonly Line[], from: number, text: string): number {
  const wanted = text.toLowerCase();
  for (let step = 0; step < lines.length; step++) {
    const index = (from + step) % lines.length;
    const row = lines[index]?.row;
    if (row && `${row.label ?? ""} ${row.preview || row.type}`.toLowerCase().includes(wanted)) return index;
  }
  return -1;
}
