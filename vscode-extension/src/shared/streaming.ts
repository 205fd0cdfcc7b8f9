/**
 * Items that are on their way: a part of an answer, a call's arguments and output, a summary.
 *
 * Each function changes the list it is given, which is the caller's own. Read next: reduce.ts.
 */
import type { Attached, DeltaParams, InFlight, ItemEndedEvent, ItemStartedEvent, ToolEvent } from "../protocol";
import { newTool, patchOf, put, quiet, textOf } from "./entries";
import type { Item, TextItem, ToolItem } from "./view";

/** What the note of a compaction says while the summary is made. */
export const COMPACTING = "Summing up the conversation…";

/** Characters of a running command's output that are kept; the whole comes at its end. */
export const OUTPUT_TAIL = 32_768;

/** What streams at a moment, as the daemon tells it to who comes late. */
export type Flying = Pick<Attached, "tools" | "inFlight">;

/** Put in all that streams. */
export function addStreaming(items: Item[], told: Flying): void {
  for (const call of told.tools) put(items, upserted(items, call));
  for (const part of told.inFlight) putFlying(items, part);
}

/** A part begins. */
export function start(items: Item[], event: ItemStartedEvent): void {
  if (event.kind === "tool") {
    if (event.toolCallId) put(items, newTool(event.toolCallId, event.name ?? "", `${event.itemId}/${event.part}`));
    return;
  }
  put(items, { kind: event.kind, key: `${event.itemId}/${event.part}`, text: "", streaming: true, to: 0 });
}

/** A part is whole, or was thrown away. */
export function finish(items: Item[], event: ItemEndedEvent): void {
  const key = `${event.itemId}/${event.part}`;
  const place = items.findLastIndex((item) => item.key === key);
  const { content } = event;
  if (content?.type === "text" || content?.type === "thinking") {
    const text = content.type === "text" ? content.text : content.thinking;
    const whole: TextItem = { kind: content.type, key, text, streaming: false, to: null };
    if (text.trim()) put(items, whole);
    else if (place >= 0) items.splice(place, 1);
  } else if (content === null && place >= 0) items.splice(place, 1);
}

/** A call with what is told of it now. */
export function upserted(items: readonly Item[], event: ToolEvent): ToolItem {
  const found = items.findLast((item) => item.key === event.toolCallId);
  const old = found?.kind === "tool" ? found : newTool(event.toolCallId, event.name ?? "");
  const result = event.result;
  const streams = event.status === "streaming";
  return {
    ...old, status: event.status, args: streams ? old.args : "", to: old.status === "streaming" && !streams ? 0 : old.to,
    name: news(event.name, old.name, ""), title: news(event.title, old.title, old.name), tool: news(event.kind, old.tool, "other"),
    input: news(event.input, old.input, null), locations: news(event.locations, old.locations, []),
    diff: patchOf(result?.details) ?? news(event.diff, old.diff, null),
    truncation: news(event.truncation, old.truncation, null), cut: news(event.cut, old.cut, null),
    durationMs: news(event.durationMs, old.durationMs, null),
    output: result ? textOf(result.content) : old.output, isError: result ? result.isError : old.isError,
  };
}

/** A piece of text for the item it belongs to. False: there is none. */
export function grow(items: Item[], delta: DeltaParams): boolean {
  const place = items.findLastIndex((item) => belongs(item, delta));
  const item = items[place];
  if (!item || item.kind === "user") return false;
  items[place] = item.kind === "note" ? { ...item, body: item.body + delta.text } : extended(item, delta);
  return true;
}

/** Absent: unchanged. null: cleared. */
function news<T>(told: T | null | undefined, old: T, cleared: T): T {
  if (told === undefined) return old;
  return told === null ? cleared : told;
}

function putFlying(items: Item[], part: InFlight): void {
  const text = part.skipped ? `… ${part.text}` : part.text;
  switch (part.kind) {
    case "text":
    case "thinking":
      return put(items, { kind: part.kind, key: `${part.itemId}/${part.part}`, text, streaming: true, to: part.to });
    case "toolArgs": {
      const place = `${part.itemId}/${part.part}`;
      return put(items, { ...newTool(part.toolCallId ?? place, part.name ?? "", place), args: text, to: part.to });
    }
    case "toolOutput": {
      const place = items.findLastIndex((item) => item.key === part.itemId);
      const item = items[place];
      if (item?.kind === "tool") items[place] = { ...item, output: text, to: part.to };
      return;
    }
    case "summary":
      return put(items, quiet(part.itemId, COMPACTING, text));
    default:
      return;
  }
}

function belongs(item: Item, delta: DeltaParams): boolean {
  const part = `${delta.itemId}/${delta.part}`;
  if (delta.kind === "text" || delta.kind === "thinking") return item.key === part;
  if (delta.kind === "toolArgs") return item.kind === "tool" && item.status === "streaming" && item.part === part;
  return item.key === delta.itemId;
}

function extended(item: TextItem | ToolItem, delta: DeltaParams): Item {
  if (item.to === null || delta.from !== item.to) return { ...item, to: null }; // a hole: its end will tell
  if (delta.kind === "toolArgs") return item.kind === "tool" ? { ...item, args: item.args + delta.text, to: delta.to } : item;
  if (item.kind === "tool") return { ...item, output: tail(item.output + delta.text), to: delta.to };
  return item.streaming ? { ...item, text: item.text + delta.text, to: delta.to } : item;
}

function tail(text: string): string {
  return text.length > 2 * OUTPUT_TAIL ? `… ${text.slice(-OUTPUT_TAIL)}` : text;
}
