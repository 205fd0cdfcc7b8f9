/**
 * Flat rows of the tree, as the daemon draws them -> nodes with children, as VS Code draws them.
 *
 * `depth` grows where the tree forks, so a straight conversation stays one column. Pure.
 */
import type { TreeRow } from "../protocol";

export interface Node {
  row: TreeRow;
  parent: Node | undefined;
  children: Node[];
}

/** The nodes without a parent, in order. A page may begin deep inside the tree. */
export function nested(rows: readonly TreeRow[]): Node[] {
  const roots: Node[] = [];
  const last: Node[] = [];
  for (const row of rows) {
    while (last.length && (last.at(-1)?.row.depth ?? 0) >= row.depth) last.pop();
    const parent = last.at(-1);
    const node: Node = { row, parent, children: [] };
    (parent?.children ?? roots).push(node);
    last.push(node);
  }
  return roots;
}
