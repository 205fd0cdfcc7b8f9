/**
 * Sessions, events and entries for the tests, and a view as lines a person would read.
 */
import type { AssistantMessage, Attached, DeltaParams, Entry, SessionEvent, Usage } from "../../src/protocol";
import { applied, opened } from "../../src/shared/reduce";
import type { View } from "../../src/shared/view";

const COST = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
export const USAGE: Usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: 2, cost: COST };

export const STATE: Attached["state"] = {
  sessionId: "s", cwd: "/w", path: null, name: null, phase: "idle", turnId: null, model: "a/b", images: true, thinking: "off", tools: [], mode: "ask",
  queue: { items: [], version: 0 }, leafId: null, treeVersion: 0, contextUsage: { tokens: 0, window: 100, percent: 0 },
  counts: { entries: 0, messages: 0 }, pending: [], trusted: true, skipped: [], readOnly: false, warnings: [],
};

/** A session that was just opened, with some entries. */
export function session(entries: Entry[] = [], more: Partial<Attached> = {}): View {
  return opened({
    sessionId: "s", inFlight: [], tools: [], pending: [], cursor: { epoch: "e", seq: 0 },
    history: { entries, leafId: null, prevCursor: null }, state: STATE, ...more,
  });
}

/** The view after events, one after the other. */
export function after(view: View, ...events: SessionEvent[]): View {
  return events.reduce((now, event) => applied(now, { sessionId: "s", epoch: "e", seq: (now.cursor?.seq ?? 0) + 1, ts: 0, event }), view);
}

/** One line an item. */
export function read(view: View): string[] {
  return view.items.map((item) => {
    switch (item.kind) {
      case "user":
        return `> ${item.text}`;
      case "tool":
        return `[${item.title}: ${item.status}] ${item.output}`.trim();
      case "note":
        return `(${item.tone}: ${item.title})`;
      default:
        return `${item.kind}: ${item.text}${item.streaming ? "…" : ""}`;
    }
  });
}

export function base(id: string): { id: string; parentId: null; timestamp: string } {
  return { id, parentId: null, timestamp: "" };
}

export function person(id: string, text: string): Entry {
  return { ...base(id), type: "message", message: { role: "user", content: text, timestamp: 0 } };
}

export function answer(id: string, content: AssistantMessage["content"], stopReason = "stop"): Entry {
  const message: AssistantMessage = { role: "assistant", content, api: "", provider: "", model: "", usage: USAGE, stopReason, timestamp: 0 };
  return { ...base(id), type: "message", message };
}

export function result(id: string, toolCallId: string, text: string, isError = false): Entry {
  return { ...base(id), type: "message", message: { role: "toolResult", toolCallId, toolName: "ls", content: text, isError, timestamp: 0 } };
}

export function delta(from: number, to: number, text: string, kind: DeltaParams["kind"] = "text", itemId = "a"): DeltaParams {
  return { sessionId: "s", after: 0, itemId, kind, part: 0, from, to, text };
}
