/**
 * Files that a person names by @ in a text: found in it, offered while one is typed, written so that it is found.
 *
 * `@src/a.ts`, `@src/a.ts:3-9`, `@"a name with spaces.txt"`. Pure. Read next: host/files.ts, view/completing.ts.
 */

/** A path as it was named, and lines of it counted from 1. */
export interface Mention {
  path: string;
  first?: number;
  last?: number;
}

const NAMED = /(?<![^\s(])@(?:"([^"\n]+)"|([^\s"]+))/g;
const UNFINISHED = /(?<![^\s(])@(?:"([^"\n]*)|([^\s"]*))$/;
/** What ends a sentence is no part of a name. */
const STOPS = /[.,;:!?)\]]+$/;
const LINES = /^(.+):(\d+)(?:-(\d+))?$/;

/** All names in a text, each once. Whether there are such files, who asks must see. */
export function mentioned(text: string): Mention[] {
  const names = new Set([...text.matchAll(NAMED)].map(([, quoted, bare = ""]) => quoted ?? bare.replace(STOPS, "")));
  return [...names].filter((name) => name !== "").map((name) => {
    const [, path, first, last = first] = LINES.exec(name) ?? [];
    return path === undefined ? { path: name } : { path, first: Number(first), last: Number(last) };
  });
}

/** The name that is being typed at the end of a text, and where its @ stands; null where none is. */
export function unfinished(before: string): { prefix: string; start: number } | null {
  const found = UNFINISHED.exec(before);
  return found && { prefix: found[1] ?? found[2] ?? "", start: found.index };
}

/** A path as it stands in a text. */
export function written(path: string): string {
  return /\s/.test(path) || STOPS.test(path) ? `@"${path}"` : `@${path}`;
}

/** The paths that fit what was typed, best first: the name's begin, the name, the path, its letters in order. */
export function ranked(paths: readonly string[], typed: string, open: ReadonlySet<string>, most: number): string[] {
  const wanted = typed.toLowerCase();
  const fits = paths.map((path) => ({ path, rank: rank(path.toLowerCase(), wanted) - (open.has(path) ? 0.5 : 0) }));
  const order = (a: { path: string; rank: number }, b: typeof a): number => a.rank - b.rank || a.path.length - b.path.length || (a.path < b.path ? -1 : 1);
  return fits.filter((one) => one.rank < NO).sort(order).slice(0, most).map((one) => one.path);
}

const NO = 4;

function rank(path: string, wanted: string): number {
  const name = path.slice(path.lastIndexOf("/") + 1);
  if (name.startsWith(wanted)) return 0;
  if (name.includes(wanted)) return 1;
  if (path.includes(wanted)) return 2;
  let at = -1;
  return [...wanted].every((letter) => (at = path.indexOf(letter, at + 1)) >= 0) ? 3 : NO + 1;
}
