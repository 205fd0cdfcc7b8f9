/**
 * Entries of the session -> items of the view. Entries that are bookkeeping give nothing.
 *
 * The keys are those under which the same things streamed: an answer's part is `entryId/part`, a call
 * its own id. Never knows events. Read next: reduce.ts.
 */
import type { AssistantMessage, Block, Entry, Json, JsonObject, StoredContent, ToolKind, ToolResultMessage } from "../protocol";
import type { Item, NoteItem, ToolItem } from "./view";

/** The items of one entry, in order. */
export function itemsOf(entry: Entry): Item[] {
  switch (entry.type) {
    case "message":
      return ofMessage(entry.id, entry.message);
    case "compaction":
      return [compacted(entry.id, entry.tokensBefore, null, entry.summary)];
    case "branch_summary":
      return [quiet(entry.id, "Summary of the branch that was left", entry.summary)];
    case "custom_message":
      return entry.display ? [quiet(entry.id, entry.customType, textOf(entry.content))] : [];
    case "model_change":
      return [quiet(entry.id, `Model: ${entry.provider}/${entry.modelId}`)];
    default:
      return [];
  }
}

/** A list of entries; a result finds its call wherever in `items` that stands. */
export function addEntries(items: readonly Item[], entries: readonly Entry[]): Item[] {
  const made = [...items];
  for (const entry of entries) addEntry(made, entry);
  return made;
}

/** One entry. The model with which a conversation begins needs no line. */
export function addEntry(items: Item[], entry: Entry): void {
  if (entry.type === "model_change" && !items.length) return;
  for (const item of itemsOf(entry)) put(items, item);
}

/** Add an item, or put it in the place of the one with its key; a call and its result are joined. */
export function put(items: Item[], item: Item): void {
  const place = items.findLastIndex((old) => old.key === item.key);
  const old = items[place];
  if (old === undefined) items.push(item);
  else items[place] = old.kind === "tool" && item.kind === "tool" ? joined(old, item) : item;
}

/** The words of a content; pictures are named. */
export function textOf(content: StoredContent): string {
  if (typeof content === "string") return content;
  return content.map(wordsOf).filter((words) => words !== "").join("\n\n");
}

/** A call that nothing is known of yet but its name, and where its arguments stream. */
export function newTool(key: string, name: string, part = ""): ToolItem {
  return {
    kind: "tool", key, name, title: name, tool: TOOL_KINDS[name] ?? "other", status: "streaming", part, args: "",
    input: null, output: "", isError: false, diff: null, locations: [], truncation: null, cut: null, durationMs: null, to: 0,
  };
}

/** The unified diff in a result's details, if it is one of a change. */
export function patchOf(details: Json | undefined): string | null {
  if (!isObject(details)) return null;
  return typeof details["patch"] === "string" ? details["patch"] : null;
}

/** Where what was cut of a call can be read, and how the button reads. A cut diff has a button of its own. */
export function wholeOf({ truncation, cut }: ToolItem): { uri: string; text: string } | null {
  const uri = truncation?.fullOutputUri ?? cut;
  if (!uri || uri.endsWith("/changes.diff")) return null;
  return { uri, text: uri.endsWith("/input.json") ? "Open all arguments" : "Open the whole output" };
}

/** The note that stands where the conversation was summed up. */
export function compacted(key: string, before: number, after: number | null, summary: string): NoteItem {
  const figures = after === null ? `${number(before)} tokens` : `${number(before)} to about ${number(after)} tokens`;
  return quiet(key, `Compacted: ${figures}`, summary);
}

/** A line that asks for no attention. */
export function quiet(key: string, title: string, body = ""): NoteItem {
  return { kind: "note", key, tone: "quiet", title, body };
}

/** 12345 -> "12.3k". */
export function number(count: number): string {
  return count < 1000 ? String(count) : `${(count / 1000).toFixed(count < 100_000 ? 1 : 0)}k`;
}

const TOOL_KINDS: { [name: string]: ToolKind } = {
  read: "read", ls: "search", grep: "search", find: "search", edit: "edit", write: "edit", bash: "execute",
};

type Message = Extract<Entry, { type: "message" }>["message"];

function ofMessage(id: string, message: Message): Item[] {
  switch (message.role) {
    case "user":
      return [ofPerson(id, message.content)];
    case "assistant":
      return ofAnswer(id, message);
    case "toolResult":
      return [ofResult(message)];
    case "bashExecution":
      return [{
        ...newTool(id, "bash"), title: `! ${message.command}`, status: message.exitCode === 0 ? "completed" : "failed",
        output: message.output, isError: message.exitCode !== 0, input: { command: message.command }, to: null,
      }];
    case "custom":
      return message.display ? [quiet(id, message.customType, textOf(message.content))] : [];
    default:
      return [];
  }
}

/** The first block is what was typed, the others came along. */
function ofPerson(key: string, content: StoredContent): Item {
  if (typeof content === "string") return { kind: "user", key, text: content, attached: [], pictures: [] };
  const pictures = content.filter((block) => block.type === "image");
  const [text = "", ...attached] = content.filter((block) => block.type === "text").map(wordsOf);
  return { kind: "user", key, text, attached, pictures };
}

function ofAnswer(id: string, message: AssistantMessage): Item[] {
  const items: Item[] = [];
  message.content.forEach((block, part) => {
    const item = ofBlock(`${id}/${part}`, block);
    if (item) items.push(item);
  });
  if (message.stopReason === "aborted") items.push(quiet(`${id}/end`, "Stopped"));
  if (message.stopReason === "error") {
    items.push({ kind: "note", key: `${id}/end`, tone: "error", title: message.errorMessage ?? "The answer failed.", body: "" });
  }
  if (message.stopReason === "length") {
    items.push({ kind: "note", key: `${id}/end`, tone: "warning", title: "The answer was cut off at the model's limit.", body: "" });
  }
  return items;
}

function ofBlock(key: string, block: Block): Item | null {
  switch (block.type) {
    case "text":
      return block.text.trim() ? { kind: "text", key, text: block.text, streaming: false, to: null } : null;
    case "thinking":
      return block.thinking.trim() ? { kind: "thinking", key, text: block.thinking, streaming: false, to: null } : null;
    case "toolCall":
      return { ...newTool(block.id, block.name), title: titleOf(block.name, block.arguments), status: "pending", input: block.arguments };
    default:
      return null;
  }
}

function ofResult(message: ToolResultMessage): ToolItem {
  return {
    ...newTool(message.toolCallId, message.toolName), status: message.isError ? "failed" : "completed", isError: message.isError,
    output: textOf(message.content), diff: patchOf(message.details), to: null,
  };
}

/** What two tellings of the same call say together; the later one says how it stands. */
function joined(old: ToolItem, now: ToolItem): ToolItem {
  const ended = old.status !== "streaming" && old.status !== "pending" && old.status !== "running";
  const status = ended && (now.status === "pending" || now.status === "failed") ? old.status : now.status;
  const to = now.to === null || old.status === "streaming" ? now.to : old.to;
  return {
    ...now, status, to, title: now.input ? now.title : old.title, tool: now.tool === "other" ? old.tool : now.tool,
    input: now.input ?? old.input, output: now.output || old.output, isError: now.isError || old.isError,
    diff: now.diff ?? old.diff, locations: now.locations.length ? now.locations : old.locations,
    truncation: now.truncation ?? old.truncation, cut: now.cut ?? old.cut, durationMs: now.durationMs ?? old.durationMs,
  };
}

/** One line that says what a call does, as the daemon's own titles do. */
export function titleOf(name: string, input: JsonObject): string {
  const about = ["command", "pattern", "path"].map((key) => input[key]).find((value) => typeof value === "string");
  return typeof about === "string" ? `${name} ${about.split("\n")[0]}` : name;
}

function wordsOf(block: Block): string {
  if (block.type === "text") return block.text;
  return block.type === "image" ? "(picture)" : "";
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
