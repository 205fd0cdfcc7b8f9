/**
 * What host and webview say to each other. Only plain values: they pass through postMessage.
 *
 * Read next: host/sidebar.ts and view/main.ts, the two ends.
 */
import type { Completion, ContentBlock, DeltaParams, EventParams, History, PermissionAnswer, TreeRow, UiAnswer, UiUpdateParams } from "../protocol";
import type { Link, Question, View } from "./view";

/** Something of the editor's that goes along with a text, and how its chip reads. */
export interface Attachment {
  label: string;
  block: ContentBlock;
}

/** What stands in the box. */
export interface Draft {
  text: string;
  attachments: Attachment[];
}

/** A draft and when it was written (milliseconds since the epoch): the newest of two counts. */
export interface Dated {
  draft: Draft;
  at: number;
}

export const NO_DRAFT: Draft = { text: "", attachments: [] };

/** One draft before another; nothing is lost, nothing goes along twice. */
export function joined(first: Draft, second: Draft): Draft {
  const texts = [first.text, second.text].filter((text) => text.trim() !== "");
  const blocks = new Set(first.attachments.map((one) => JSON.stringify(one.block)));
  const news = second.attachments.filter((one) => !blocks.has(JSON.stringify(one.block)));
  return { text: texts.join("\n\n"), attachments: [...first.attachments, ...news] };
}

/** What the completion of a word begins with: a command, or a file. */
export type Sign = "/" | "@";

/** A text on its way; `id` makes a repeat after a reload harmless. */
export interface Sending extends Draft {
  id: string;
  how: "now" | "after";
}

export type ToView =
  | { type: "all"; view: View; link: Link; folder: string | null; questions: readonly Question[]; dated: Dated }
  | { type: "event"; told: EventParams }
  | { type: "delta"; told: DeltaParams }
  | { type: "sign"; told: UiUpdateParams }
  | { type: "page"; page: History }
  | { type: "questions"; questions: readonly Question[] }
  | { type: "link"; link: Link }
  | { type: "insert"; draft: Draft; focus: boolean }
  | { type: "sent"; id: string }
  | { type: "notSent"; id: string; text: string; hint?: string }
  | { type: "completions"; sign: Sign; prefix: string; items: Completion[] };

/** Buttons of the view that do what a command of the palette does. */
export type Action =
  | "new" | "sessions" | "folder" | "rename" | "model" | "thinking" | "mode" | "trust" | "compact" | "usage" | "settings" | "restart" | "openFolder";

export type ToHost =
  | { type: "ready" }
  | { type: "send"; sending: Sending }
  | { type: "stop" }
  | { type: "retry" }
  | { type: "earlier" }
  | { type: "draft"; dated: Dated }
  | { type: "complete"; sign: Sign; prefix: string }
  | { type: "unqueue"; queueId: string }
  | { type: "release"; queueId: string }
  | { type: "answer"; requestId: string; answer: PermissionAnswer | UiAnswer }
  | { type: "action"; action: Action }
  | { type: "openFile"; uri: string; line?: number }
  | { type: "openLink"; href: string }
  | { type: "openDiff"; callId: string }
  | { type: "openWhole"; uri: string }
  | { type: "stopTool"; callId: string };

/** To the page of the tree: the rows, and whether there are more before and behind them. */
export interface ToTree {
  rows: readonly TreeRow[];
  prev: boolean;
  next: boolean;
}

export type FromTree =
  | { type: "ready" }
  | { type: "more"; where: "prev" | "next" }
  | { type: "continue"; row: TreeRow }
  | { type: "label"; row: TreeRow };
