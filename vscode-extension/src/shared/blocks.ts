/**
 * Where a Markdown text that still grows can be cut, so that what stands before is drawn once for all.
 *
 * Never draws. Read next: view/markdown.ts.
 */

const FENCE = /^ {0,3}(`{3,}|~{3,})/;
/** What may go on with the block before the blank line: a list, a quote, anything indented. */
const GOES_ON = /^(\s|[-*+]\s|\d+[.)]\s|>)/;

/** The end of the last whole block behind `from`, which is such an end itself. */
export function settledEnd(text: string, from: number): number {
  let end = from;
  let fence = "";
  let blank = false;
  for (let start = from; start < text.length; ) {
    const stop = text.indexOf("\n", start);
    if (stop < 0) break; // an unfinished line: nobody knows what it will be
    const line = text.slice(start, stop);
    if (blank && !fence && line.trim() && !GOES_ON.test(line)) end = start;
    const mark = FENCE.exec(line)?.[1];
    if (mark && !fence) fence = mark;
    else if (mark && line.trim() === mark && mark.startsWith(fence)) fence = "";
    blank = line.trim() === "";
    start = stop + 1;
  }
  return end;
}
