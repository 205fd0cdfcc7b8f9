/**
 * Snapshots, events and deltas in, view out. Every function gives a new view and changes nothing.
 *
 * An item that did not change stays the same object, so a renderer compares by identity. Never knows
 * where events come from. Read next: follow.ts.
 */
import type {
  Attached, CompactionEvent, ConfigEvent, DeltaParams, EventParams, History, InFlight, ItemEndedEvent, ItemStartedEvent,
  RetryEvent, SessionEvent, ToolEvent, TurnEndedEvent, UiUpdateParams,
} from "../protocol";
import { addEntries, addEntry, compacted, newTool, patchOf, put, quiet, textOf } from "./entries";
import type { Head, Item, NoteItem, TextItem, ToolItem, View } from "./view";

/** Characters of a running command's output that are kept; the whole comes at its end. */
export const OUTPUT_TAIL = 32_768;

/** Items beyond which the oldest are let go; they can be loaded again. */
export const MOST_ITEMS = 1500;

/** The session as it is told whole. */
export function opened(told: Omit<Attached, "mode">): View {
  const { state } = told;
  const head: Head = {
    sessionId: told.sessionId, name: state.name, model: state.model, thinking: state.thinking, mode: state.mode,
    phase: state.phase, turnId: state.turnId, leafId: state.leafId, context: state.contextUsage,
    readOnly: state.readOnly, skipped: state.skipped.length,
  };
  const items = addEntries([], told.history.entries);
  addStreaming(items, told);
  for (const [index, notice] of state.warnings.entries()) items.push(warning(`warning/${index}`, notice.message));
  const settled = state.phase === "idle" ? items.map(stillPending) : items;
  return { head, items: settled, earlier: told.history.prevCursor, queue: state.queue, cursor: told.cursor, activity: null, signs: [] };
}

/** What streams at this moment, after a replay: whatever deltas were missed. */
export function streaming(view: View, told: Flying): View {
  return withItems(view, (items) => addStreaming(items, told));
}

/** The page before the first item. */
export function withEarlier(view: View, page: History): View {
  const items = addEntries([], page.entries);
  for (const item of view.items) put(items, item);
  return { ...view, items, earlier: page.prevCursor };
}

/** One event. The cursor moves with it. */
export function applied(view: View, told: EventParams): View {
  const next = changed(view, told.event, told.seq);
  return { ...next, cursor: { epoch: told.epoch, seq: told.seq } };
}

/** A sign is put up, changed or taken down; a notice is a line of the conversation. */
export function signed(view: View, { kind, key, payload }: UiUpdateParams): View {
  if (kind === "editorText") return view; // it is for the box
  if (kind === "notice") return payload === null ? view : withItems(view, (items) => items.push(notice(`notice/${key}/${items.length}`, String(payload))));
  const others = view.signs.filter((sign) => sign.kind !== kind || sign.key !== key);
  if (payload === null) return { ...view, signs: others };
  return { ...view, signs: [...others, { kind, key, lines: (Array.isArray(payload) ? payload : [payload]).map(String) }] };
}

/** A piece of text of something that streams. */
export function grown(view: View, delta: DeltaParams): View {
  const items = [...view.items];
  const place = items.findLastIndex((item) => belongs(item, delta));
  const item = items[place];
  if (!item || item.kind === "user") return view;
  items[place] = item.kind === "note" ? { ...item, body: item.body + delta.text } : extended(item, delta);
  return { ...view, items };
}

type Flying = Pick<Attached, "tools" | "inFlight">;

function addStreaming(items: Item[], told: Flying): void {
  for (const call of told.tools) put(items, upserted(items, call));
  for (const part of told.inFlight) putFlying(items, part);
}

function changed(view: View, event: SessionEvent, seq: number): View {
  switch (event.type) {
    case "state":
      return { ...withHead(view, { phase: event.phase, turnId: event.turnId }), activity: event.phase === "retrying" ? view.activity : null };
    case "turn_started":
      return withHead(view, { turnId: event.turnId });
    case "turn_ended":
      return ended(view, event);
    case "entry":
      return withItems(view, (items) => addEntry(items, event.entry));
    case "leaf":
      return withHead(view, { leafId: event.leafId });
    case "item_started":
      return withItems(view, (items) => start(items, event));
    case "item_ended":
      return withItems(view, (items) => finish(items, event));
    case "tool":
      return withItems(view, (items) => put(items, upserted(items, event)));
    case "queue":
      return { ...view, queue: { items: event.items, version: event.version } };
    case "compaction":
      return compacting(view, event);
    case "retry":
      return { ...view, activity: retrying(event) };
    case "usage":
      return withHead(view, { context: event.contextUsage });
    case "config":
      return withHead(view, configured(event));
    case "warning":
      return withItems(view, (items) => items.push(warning(`warning/${seq}`, event.message)));
    case "extension_error":
      return withItems(view, (items) => items.push(warning(`warning/${seq}`, `${event.extension}: ${event.message}`)));
    case "settled":
      return trimmed(view);
    default:
      return view; // the protocol grows: what is not known is ignored
  }
}

function withHead(view: View, news: Partial<Head>): View {
  return view.head ? { ...view, head: { ...view.head, ...news } } : view;
}

function withItems(view: View, change: (items: Item[]) => void): View {
  const items = [...view.items];
  change(items);
  return { ...view, items };
}

function configured(event: ConfigEvent): Partial<Head> {
  return { model: event.model, thinking: event.thinking, name: event.name, mode: event.mode };
}

function start(items: Item[], event: ItemStartedEvent): void {
  if (event.kind === "tool") {
    if (event.toolCallId) put(items, { ...newTool(event.toolCallId, event.name ?? ""), to: 0 });
    return;
  }
  put(items, { kind: event.kind, key: `${event.itemId}/${event.part}`, text: "", streaming: true, to: 0 });
}

function finish(items: Item[], event: ItemEndedEvent): void {
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

function upserted(items: readonly Item[], event: ToolEvent): ToolItem {
  const found = items.findLast((item) => item.key === event.toolCallId);
  const old = found?.kind === "tool" ? found : newTool(event.toolCallId, event.name ?? "");
  const result = event.result;
  return {
    ...old, status: event.status,
    name: news(event.name, old.name, ""), title: news(event.title, old.title, old.name), tool: news(event.kind, old.tool, "other"),
    input: news(event.input, old.input, null), locations: news(event.locations, old.locations, []), diff: patchOf(result?.details) ?? news(event.diff, old.diff, null),
    truncation: news(event.truncation, old.truncation, null), cut: news(event.cut, old.cut, null),
    durationMs: news(event.durationMs, old.durationMs, null),
    output: result ? textOf(result.content) : old.output, isError: result ? result.isError : old.isError,
  };
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
      const key = part.toolCallId ?? `${part.itemId}/${part.part}`;
      return put(items, { ...newTool(key, part.name ?? ""), args: text, to: part.to });
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
  if (delta.kind === "text" || delta.kind === "thinking") return item.key === `${delta.itemId}/${delta.part}`;
  return item.key === delta.itemId;
}

function extended(item: TextItem | ToolItem, delta: DeltaParams): Item {
  if (item.to === null || delta.from !== item.to) return { ...item, to: null }; // a hole: its end will tell
  if (item.kind === "tool") return { ...item, output: tail(item.output + delta.text), to: delta.to };
  return item.streaming ? { ...item, text: item.text + delta.text, to: delta.to } : item;
}

function tail(text: string): string {
  return text.length > 2 * OUTPUT_TAIL ? `… ${text.slice(-OUTPUT_TAIL)}` : text;
}

function ended(view: View, event: TurnEndedEvent): View {
  const items = view.items.map((item) => (item.kind === "text" || item.kind === "thinking" ? { ...item, streaming: false } : item));
  if (event.error) {
    const last = items.at(-1);
    const key = last?.kind === "note" && last.tone === "error" ? last.key : `${event.turnId}/end`;
    const { message, hint } = event.error;
    put(items, { kind: "note", key, tone: "error", title: message, body: "", retry: true, ...(hint ? { hint } : {}) });
  } else if (event.reason === "refusal") {
    items.push({ kind: "note", key: `${event.turnId}/end`, tone: "warning", title: "The model refused to answer.", body: "" });
  } else if (event.reason === "max_turns") {
    items.push({ kind: "note", key: `${event.turnId}/end`, tone: "warning", title: "The turn reached its limit of steps.", body: "" });
  }
  return { ...view, items, activity: null };
}

const COMPACTING = "Summing up the conversation…";

function compacting(view: View, event: CompactionEvent): View {
  const items = view.items.filter((item) => item.key !== event.id);
  switch (event.status) {
    case "started":
      items.push(quiet(event.id, COMPACTING));
      return { ...view, items, activity: COMPACTING };
    case "completed":
      if (event.result) {
        const { entryId, tokensBefore, tokensAfterEstimate, summary } = event.result;
        put(items, compacted(entryId, tokensBefore, tokensAfterEstimate, summary));
      }
      return { ...view, items, activity: null };
    case "failed":
      items.push(failedNote(event));
      return { ...view, items, activity: null };
    case "cancelled":
      return { ...view, items, activity: null };
  }
}

function failedNote(event: CompactionEvent): NoteItem {
  const hint = event.error?.hint;
  const title = event.error?.message ?? "The conversation could not be summed up.";
  return { kind: "note", key: event.id, tone: "error", title, body: "", ...(hint ? { hint } : {}) };
}

function retrying(event: RetryEvent): string | null {
  if (event.status !== "waiting" && event.status !== "retrying") return null;
  const why = event.error ? `: ${event.error.message}` : "";
  const when = event.status === "waiting" ? ` in ${Math.ceil(event.delayMs / 1000)} s` : "";
  return `Trying again${when} (${event.attempt} of ${event.max})${why}`;
}

/** What a command or an extension says: its first line, and the rest where it is opened. */
function notice(key: string, text: string): NoteItem {
  const [title = "", ...rest] = text.split("\n");
  return { kind: "note", key, tone: "told", title, body: rest.join("\n") };
}

function warning(key: string, message: string): NoteItem {
  return { kind: "note", key, tone: "warning", title: message, body: "" };
}

/** In a session at rest a call without a result was cut short. */
function stillPending(item: Item): Item {
  return item.kind === "tool" && item.status === "pending" ? { ...item, status: "cancelled" } : item;
}

/** Let the oldest go, up to a message of the person's: it is what the page before is asked by. */
function trimmed(view: View): View {
  if (view.items.length <= MOST_ITEMS) return view;
  const first = view.items.findIndex((item, index) => index >= view.items.length - MOST_ITEMS && item.kind === "user");
  const kept = view.items[first];
  return kept ? { ...view, items: view.items.slice(first), earlier: kept.key } : view;
}
