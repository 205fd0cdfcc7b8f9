/**
 * What the sidebar shows, as a value: the session's head, a list of items, what waits, what is asked.
 *
 * Host and webview hold the same value and change it by the same functions (reduce.ts). Never knows
 * VS Code, the DOM or a connection. Read next: entries.ts, reduce.ts.
 */
import type {
  ContextUsage, Cursor, FileLocation, JsonObject, PermissionParams, Phase, Queue, ThinkingLevel, Skipped, ToolKind, ToolStatus,
  ToolTruncation, UiRequestParams,
} from "../protocol";

/** The daemon's side of the line: what the person is told when it is not simply up. `again`: it comes by itself. */
export type Link =
  | { state: "starting" | "up" | "noFolder" }
  | { state: "down"; text: string; again: boolean }
  | { state: "missing"; text: string };

/** What stands above and below the conversation. */
export interface Head {
  sessionId: string;
  name: string | null;
  model: string | null;
  /** The model is shown pictures. */
  images: boolean;
  thinking: ThinkingLevel;
  mode: string;
  phase: Phase;
  turnId: string | null;
  leafId: string | null;
  context: ContextUsage;
  readOnly: boolean;
  /** What the folder brings along and does not count. */
  skipped: readonly Skipped[];
}

/** What a person said; `attached` is what the editor gave along: the active file, a selection. */
export interface UserItem {
  kind: "user";
  key: string;
  text: string;
  attached: string[];
  pictures: Picture[];
}

/** `data` is base64; empty where the picture was too large to be told. */
export interface Picture {
  type: "image";
  data: string;
  mimeType: string;
}

/** A part of an answer. `to`: the next piece expected; null: a piece was missed, or it is whole. */
export interface TextItem {
  kind: "text" | "thinking";
  key: string;
  text: string;
  streaming: boolean;
  to: number | null;
}

/**
 * A tool call. First its arguments stream, as JSON in `args` (`part` is where: `entryId/part`), then what it
 * prints, of which `output` is the end so far. `to` counts the pieces of what streams.
 */
export interface ToolItem {
  kind: "tool";
  key: string;
  name: string;
  title: string;
  tool: ToolKind;
  status: ToolStatus;
  part: string;
  args: string;
  input: JsonObject | null;
  output: string;
  isError: boolean;
  diff: string | null;
  locations: FileLocation[];
  truncation: ToolTruncation | null;
  /** Where the whole can be read, if this is cut. */
  cut: string | null;
  durationMs: number | null;
  to: number | null;
}

/** Anything else worth a line: a compaction, a summary, a warning, an error. */
export interface NoteItem {
  kind: "note";
  key: string;
  tone: "quiet" | "told" | "warning" | "error";
  title: string;
  body: string;
  hint?: string;
  /** Something can be tried again. */
  retry?: boolean;
  /** The folder can be trusted. */
  trust?: boolean;
}

export type Item = UserItem | TextItem | ToolItem | NoteItem;

/** A question that waits for a person. */
export type Question =
  | { kind: "permission"; requestId: string; params: PermissionParams }
  | { kind: "dialog"; requestId: string; params: UiRequestParams };

/** A sign of an extension of the daemon: a short status, or the lines of a widget. */
export interface Sign {
  kind: "status" | "widget" | "title";
  key: string;
  lines: string[];
}

/** All of it. `earlier`: what to ask for to see what stands before the first item. */
export interface View {
  head: Head | null;
  items: readonly Item[];
  earlier: string | null;
  queue: Queue;
  cursor: Cursor | null;
  /** One line on what goes on besides the turn: a retry, a compaction. */
  activity: string | null;
  signs: readonly Sign[];
}

export const EMPTY: View = {
  head: null, items: [], earlier: null, queue: { items: [], version: 0 }, cursor: null, activity: null, signs: [],
};

/** Something is going on that can be stopped. */
export function busy(view: View): boolean {
  return view.head !== null && view.head.phase !== "idle";
}
