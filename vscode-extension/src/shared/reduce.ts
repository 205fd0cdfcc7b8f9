/**
 * Snapshots, events and deltas in, view out. Every function gives a new view and changes nothing.
 *
 * An item that did not change stays the same object, so a renderer compares by identity. Never knows
 * where events come from. Read next: streaming.ts.
 */
import type {
  Attached, CompactionEvent, ConfigEvent, DeltaParams, EventParams, History, RetryEvent, SessionEvent, Skipped, TurnEndedEvent, UiUpdateParams,
} from "../protocol";
import { addEntries, addEntry, compacted, put, quiet } from "./entries";
import { COMPACTING, addStreaming, finish, grow, start, upserted, type Flying } from "./streaming";
import type { Head, Item, NoteItem, View } from "./view";

const NOT_TRUSTED = "Not all of this folder's own settings count, since it is not trusted";
const SKIPPED = "skipped";

/** Items beyond which the oldest are let go; they can be loaded again. */
export const MOST_ITEMS = 1500;

/** The session as it is told whole. */
export function opened(told: Omit<Attached, "mode">): View {
  const { state } = told;
  const head: Head = {
    sessionId: told.sessionId, name: state.name, model: state.model, images: state.images, thinking: state.thinking, mode: state.mode,
    phase: state.phase, turnId: state.turnId, leafId: state.leafId, context: state.contextUsage,
    readOnly: state.readOnly, skipped: state.skipped,
  };
  const items = addEntries([], told.history.entries);
  addStreaming(items, told);
  putSkipped(items, state.skipped);
  for (const [index, notice] of state.warnings.entries()) items.push(warning(`warning/state/${index}`, notice.message));
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
  if (kind === "notice" && payload === null) return view;
  if (kind === "notice") return withItems(view, (items) => items.push(notice(`notice/${key}/${items.length}`, String(payload))));
  const others = view.signs.filter((sign) => sign.kind !== kind || sign.key !== key);
  if (payload === null) return { ...view, signs: others };
  return { ...view, signs: [...others, { kind, key, lines: (Array.isArray(payload) ? payload : [payload]).map(String) }] };
}

/** A piece of text of something that streams. */
export function grown(view: View, delta: DeltaParams): View {
  const items = [...view.items];
  return grow(items, delta) ? { ...view, items } : view;
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
      return configured(view, event);
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

function configured(view: View, event: ConfigEvent): View {
  const { model, images, thinking, name, mode, skipped } = event;
  const next = withHead(view, { model, images, thinking, name, mode, skipped });
  return same(view.head?.skipped ?? [], skipped) ? next : withItems(next, (items) => putSkipped(items, skipped));
}

/** The note on what does not count, where there is any. */
function putSkipped(items: Item[], skipped: readonly Skipped[]): void {
  const known = items.findIndex((item) => item.key === SKIPPED);
  if (known >= 0) items.splice(known, 1);
  const body = skipped.map((one) => `- ${one.kind}: \`${one.path}\``).join("\n");
  if (skipped.length) items.push({ ...quiet(SKIPPED, NOT_TRUSTED, body), trust: true });
}

function same(before: readonly Skipped[], after: readonly Skipped[]): boolean {
  return before.length === after.length && before.every((one, index) => one.path === after[index]?.path);
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
