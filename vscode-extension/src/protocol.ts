// Made by `singletree describe typescript` from daemon/singletree/rpc/protocol/. Do not edit.

export const PROTOCOL_VERSION = 1;

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

/** The numbers of error answers; `data.code` says what happened. */
export const ErrorNumber = {
  ParseError: -32700,
  InvalidRequest: -32600,
  MethodNotFound: -32601,
  InvalidParams: -32602,
  InternalError: -32603,
  ServerNotInitialized: -32002,
  RequestCancelled: -32800,
  ContentModified: -32801,
  ServerCancelled: -32802,
  RequestFailed: -32803,
} as const;

/** Nothing to tell but that it is done. */
export type Empty = { [key: string]: never };

/**
 * Which session: by id, or the current one of a workspace folder (URI).
 *
 * With neither, the only session this client has open.
 */
export interface SessionParams {
  sessionId?: string;
  workspace?: string;
}

/** A request that may take long: progress goes to `workDoneToken`, `$/cancelRequest` ends it. */
export interface LongParams extends SessionParams {
  workDoneToken?: number | string;
}

export type ErrorCode =
  | "auth_failed"
  | "auth_required"
  | "cancelled"
  | "cancelled_by_extension"
  | "context_overflow"
  | "denied"
  | "entry_not_found"
  | "extension_failed"
  | "input_empty"
  | "input_rejected"
  | "internal"
  | "locked"
  | "message_too_large"
  | "no_active_turn"
  | "no_model"
  | "no_workspace"
  | "not_a_user_message"
  | "not_found"
  | "not_steerable"
  | "nothing_to_compact"
  | "overloaded"
  | "provider_error"
  | "queue_full"
  | "quota_exceeded"
  | "rate_limited"
  | "session_busy"
  | "session_error"
  | "session_not_found"
  | "session_read_only"
  | "session_unreadable"
  | "settings_invalid"
  | "stale"
  | "tool_failed"
  | "too_many_requests"
  | "turn_mismatch"
  | "unsupported"
  | "unsupported_protocol_version"
  | "untrusted_workspace"
  | "workspace_not_found";

/** What the provider said, as far as it said something. */
export interface ProviderInfo {
  name?: string;
  status?: number;
}

/** An error as a value inside events: a code, one line for a person, what to do about it. */
export interface ErrorInfo {
  code: string;
  message: string;
  retryable: boolean;
  retryAfterMs?: number;
  hint?: string;
  detail?: JsonObject;
  provider?: ProviderInfo;
}

/** One thing wrong with the params. */
export interface ParamError {
  pointer: string;
  message: string;
}

/**
 * `error.data` of a failed request. Only what is known is there.
 *
 * `errors` goes with -32602, `ref` (a mark in the daemon's log) with -32603.
 */
export interface ErrorData {
  code?: string;
  retryable?: boolean;
  retryAfterMs?: number;
  hint?: string;
  detail?: JsonObject;
  provider?: ProviderInfo;
  errors?: ParamError[];
  ref?: string;
}

export type ContentBlock =
  | TextBlock
  | ImageBlock
  | AudioBlock
  | ResourceLink
  | ResourceBlock
  | SelectionBlock
  | DiagnosticBlock
  | FileMention;

export type Content = string | ContentBlock[];

/** A place in a document, counted from 0. */
export interface Position {
  line: number;
  character: number;
}

/** From `start` up to, not including, `end`. */
export interface Range {
  start: Position;
  end: Position;
}

/** A run of text. `context`: an editor added it; the person wrote none of it. */
export interface TextBlock {
  type: "text";
  text: string;
  context?: boolean;
}

/** A picture; `data` is base64. What it is, its bytes say; one that no model takes is a note. */
export interface ImageBlock {
  type: "image";
  data: string;
  mimeType: string;
  uri?: string;
}

/** A recording; `data` is base64. `contentKinds` says whether the daemon takes it. */
export interface AudioBlock {
  type: "audio";
  data: string;
  mimeType: string;
}

/** A file or page named by URI; its content is read when it is needed. */
export interface ResourceLink {
  type: "resource_link";
  uri: string;
  name?: string;
  title?: string;
  description?: string;
  mimeType?: string;
  size?: number;
}

/** The text or the bytes (base64) of a resource; one of them is there. */
export interface ResourceContents {
  uri: string;
  mimeType?: string;
  text?: string;
  blob?: string;
}

/** A resource with its content in the message. */
export interface ResourceBlock {
  type: "resource";
  resource: ResourceContents;
}

/**
 * A selected piece of a document.
 *
 * Without `text` it is cut out of the open document, if `version` is still its version; otherwise
 * the model is told the place alone.
 */
export interface SelectionBlock {
  type: "selection";
  uri: string;
  range: Range;
  version?: number;
  text?: string;
}

/** A problem an editor shows: an LSP Diagnostic and the document it stands in. */
export interface DiagnosticBlock {
  type: "diagnostic";
  uri: string;
  diagnostic: JsonObject;
}

/**
 * A file a person named, whole or in part: told by its path, not pasted.
 *
 * Their own words name it too: this does not come back with them to be written anew.
 */
export interface FileMention {
  type: "fileMention";
  uri: string;
  range?: Range;
}

export type Phase = "idle" | "running" | "requires_action" | "compacting" | "retrying";

export type TurnReason = "end_turn" | "aborted" | "error" | "max_tokens" | "max_turns" | "refusal";

export type PartKind = "text" | "thinking" | "tool";

export type DeltaKind = "text" | "thinking" | "toolArgs" | "toolOutput" | "bashOutput" | "summary";

/**
 * A place in a session's stream of events.
 *
 * `epoch` is one life of the session in the daemon's memory. `entryId` (the last entry seen) is
 * what to go by when that life is over.
 */
export interface Cursor {
  epoch: string;
  seq: number;
  entryId?: string;
}

/** How much of the past to send along: the last `limit` entries of the path, before an entry. */
export interface HistoryParams {
  limit?: number;
  before?: string;
}

/** A page of the active path, oldest first. `prevCursor`: `before` of the page before it. */
export interface History {
  entries: Entry[];
  leafId: string | null;
  prevCursor: string | null;
}

/**
 * What streams at this moment: its text so far, and the `from` of its next delta (`to`).
 *
 * `name` and `toolCallId` go with the arguments and the output of a tool call. `skipped`: as many
 * characters stand before `text` and are not sent again.
 */
export interface InFlight {
  itemId: string;
  kind: DeltaKind;
  part: number;
  to: number;
  text: string;
  name?: string;
  toolCallId?: string;
  skipped?: number;
}

/** A question that waits for an answer, as it was asked. */
export interface PendingRequest {
  requestId: string;
  method: string;
  params: JsonObject;
}

/** Something of the workspace that is not used because the workspace is not trusted. */
export interface Skipped {
  kind: string;
  path: string;
}

/** Something a person should know; `code` is stable. */
export interface Notice {
  code: string;
  message: string;
}

/** How long the session is: all entries, and the messages of the active path. */
export interface Counts {
  entries: number;
  messages: number;
}

/**
 * Everything about a session but its entries.
 *
 * `model` is `provider/id`; null where none can be used. `images`: it is shown pictures, not notes
 * in their place. `tools` are the active ones. `mode` is the permission mode. `path` is null until
 * something was said. `pending` names the open questions. `treeVersion` grows with each change of
 * the tree.
 */
export interface SessionState {
  sessionId: string;
  cwd: string;
  path: string | null;
  name: string | null;
  phase: Phase;
  turnId: string | null;
  model: string | null;
  images: boolean;
  thinking: ThinkingLevel;
  tools: string[];
  mode: string;
  queue: Queue;
  leafId: string | null;
  treeVersion: number;
  contextUsage: ContextUsage;
  counts: Counts;
  pending: string[];
  trusted: boolean;
  skipped: Skipped[];
  readOnly: boolean;
  warnings: Notice[];
}

/**
 * `workspace` (URI) or `cwd` (path), or the id of a session alone.
 *
 * `continue` takes the newest session of the folder, or a new one if there is none.
 */
export interface OpenParams {
  workspace?: string;
  cwd?: string;
  sessionId?: string;
  start?: "continue" | "new";
  history?: HistoryParams;
}

/** The session to make current: its id, or the path of its file. With both the path counts. */
export interface SwitchParams extends SessionParams {
  path?: string;
  history?: HistoryParams;
}

/**
 * `workspace` (URI) or `cwd` (path); with neither, the only open folder.
 *
 * `recover`: the path of a session file whose header cannot be read. The new session begins with
 * what can still be read of it; the file stays as it is.
 */
export interface NewParams {
  workspace?: string;
  cwd?: string;
  name?: string;
  recover?: string;
}

/**
 * A session as it is now. The caller hears its events from `cursor` on.
 *
 * `tools`: the calls that have no answer yet.
 */
export interface Attached {
  sessionId: string;
  mode: "snapshot";
  state: SessionState;
  history: History;
  inFlight: InFlight[];
  tools: ToolEvent[];
  pending: PendingRequest[];
  cursor: Cursor;
}

/** The envelope of an event. `seq` grows by one; `ts` is milliseconds since the epoch. */
export interface EventParams {
  sessionId: string;
  epoch: string;
  seq: number;
  ts: number;
  event: SessionEvent;
}

/** `mode` tells which of the two it is: `replay` has `events`, `snapshot` the rest. */
export interface AttachResult {
  sessionId: string;
  mode: "replay" | "snapshot";
  events?: EventParams[];
  state?: SessionState;
  history?: History;
  inFlight: InFlight[];
  tools: ToolEvent[];
  pending: PendingRequest[];
  cursor: Cursor;
}

/** `since` is the cursor of the last event that was handled. */
export interface AttachParams extends SessionParams {
  since?: Cursor;
  history?: HistoryParams;
}

/** A page: after `since`, or before `before`, or the newest. `all` means every branch. */
export interface EntriesParams extends SessionParams {
  since?: string;
  before?: string;
  limit?: number;
  branch?: "active" | "all";
}

/** Records, oldest first. `next`: the id to go on with in the same direction. */
export interface Entries {
  entries: Entry[];
  leafId: string | null;
  next: string | null;
}

/** Sessions of a folder, or of all; `query` looks in names and in what was said. */
export interface ListParams {
  workspace?: string;
  query?: string;
  limit?: number;
  cursor?: string;
}

/**
 * A session in a list. `preview` is the first prompt, `leafPreview` the last thing said.
 *
 * Where both are empty nothing was said yet, and `path` is where the file will be.
 *
 * Times are ISO 8601. `live`: open in this daemon. `parent`: the file it was forked from. `moved`:
 * its folder is gone, so it is offered in every other; open it with the folder where that is now.
 */
export interface SessionRow {
  sessionId: string;
  path: string;
  cwd: string;
  name: string | null;
  preview: string;
  leafPreview?: string;
  createdAt: string;
  updatedAt: string;
  entryCount?: number;
  parent?: string;
  live: boolean;
  moved: boolean;
}

/** Newest first. `next` is the `cursor` of the following page. */
export interface SessionList {
  sessions: SessionRow[];
  next: string | null;
}

/** An empty name takes it away. */
export interface RenameParams extends SessionParams {
  name: string;
}

/** The name as it is now. */
export interface SessionName {
  name: string | null;
}

/** Only a session that is not open can be deleted. */
export interface DeleteParams {
  sessionId: string;
}

/**
 * The session need not be open. Without a `path` the text comes back, if it fits a message.
 *
 * `jsonl` and `md` hold the active branch, `html` all branches. A `path` that is no whole one is
 * meant from the session's folder; a file that is there stays, unless `replace` is true.
 */
export interface ExportParams extends SessionParams {
  format: "jsonl" | "md" | "html";
  path?: string;
  replace?: boolean;
}

/** Where it is, or what it is. */
export interface Exported {
  path?: string;
  text?: string;
}

/** `before` leaves the entry out (a user's message comes back as text), `at` keeps it. */
export interface ForkParams extends SessionParams {
  workspace?: string;
  entryId: string;
  position?: "before" | "at";
  name?: string;
}

/** The new session, open and current. `path` is null until something is said in it. */
export interface Forked {
  sessionId: string;
  editorText?: string;
  path: string | null;
}

/** `idle`: no turn runs. `settled`: nothing automatic remains, either. */
export interface WaitParams extends LongParams {
  for?: "idle" | "settled";
}

/** How the last turn ended. */
export interface LastTurn {
  turnId: string;
  reason: TurnReason;
  error?: ErrorInfo;
}

/** What the session does now, and how its last turn ended. */
export interface Waited {
  phase: Phase;
  lastTurn: LastTurn | null;
}

export type ThinkingLevel = "off" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";

export type AbortScope = "turn" | "tool" | "retry" | "compaction" | "branchSummary" | "bash";

/** Another model or thinking level for this turn alone. `model` is `provider/id`. */
export interface Overrides {
  model?: string;
  thinking?: ThinkingLevel;
}

/** The document in front of the person. `visible` is what they see of it. */
export interface ActiveEditor {
  uri: string;
  version?: number;
  languageId?: string;
  visible?: Range;
}

/** What is selected in the active editor. */
export interface SelectedRange {
  range: Range;
  text?: string;
}

/** What the editor shows at this moment; `diagnostics` are LSP ones of the active document. */
export interface EditorContext {
  activeEditor?: ActiveEditor;
  selection?: SelectedRange;
  diagnostics?: JsonObject[];
}

/**
 * A text for the agent.
 *
 * The same `clientMessageId` again gets the first answer again: a repeat is harmless.
 */
export interface SayParams extends SessionParams {
  content: Content;
  clientMessageId?: string;
}

/** A new turn. `whenBusy` says what a text becomes while another turn runs. */
export interface PromptParams extends SayParams {
  whenBusy?: "error" | "steer" | "followUp";
  overrides?: Overrides;
  context?: EditorContext;
}

/**
 * `started`: a turn runs. `queued`: it waits.
 *
 * `handled`: a command or an extension did all there was to do; `note` is what it says of it.
 * `messageId` is the id of the user's entry.
 */
export interface PromptResult {
  disposition: "started" | "queued" | "handled";
  turnId?: string;
  queueId?: string;
  messageId?: string;
  note?: string;
}

/** A text into the running turn, seen by the model at its next step. */
export interface SteerParams extends SayParams {
  expectedTurnId?: string;
  whenIdle?: "prompt" | "queue" | "error";
}

/**
 * `injected`: the running turn takes it. `queued`: it waits. `started`: a turn was begun.
 *
 * `handled`: as for a prompt.
 */
export interface SteerResult {
  disposition: "injected" | "queued" | "started" | "handled";
  turnId?: string;
  queueId?: string;
  messageId?: string;
  note?: string;
}

/**
 * `queued`: sent when the turn has ended, `position` counts from 0. `started`: it was idle.
 *
 * `handled`: as for a prompt.
 */
export interface FollowUpResult {
  disposition: "queued" | "started" | "handled";
  queueId?: string;
  position?: number;
  turnId?: string;
  messageId?: string;
  note?: string;
}

/**
 * What to end, and what becomes of the texts that wait.
 *
 * Scope `tool`: the call `toolCallId`, or all that run; the turn goes on. `bash`: the commands
 * run by hand. Queue `keep`: the texts stay and are not sent by themselves. `return`: they come
 * back in the answer. `drop`: they are gone.
 */
export interface AbortParams extends SessionParams {
  scope?: AbortScope;
  turnId?: string;
  toolCallId?: string;
  queue?: "keep" | "return" | "drop";
}

/**
 * Answered when it has ended. `aborted` false: nothing ran. `forced`: it did not end in time.
 *
 * `queue`: the texts that came back.
 */
export interface AbortResult {
  aborted: boolean;
  forced: boolean;
  queue?: QueueItem[];
}

/** A command of the person, not of the model. `cwd` is meant from the workspace on. */
export interface BashParams extends SessionParams {
  command: string;
  cwd?: string;
  excludeFromContext?: boolean;
}

/**
 * How it ended; the output is bounded, `fullOutputUri` holds all of it.
 *
 * Its output streams as deltas of `entryId`. While a turn runs the entry itself waits for its end.
 */
export interface BashResult {
  entryId: string;
  output: string;
  exitCode: number | null;
  truncated: boolean;
  cancelled: boolean;
  fullOutputUri?: string;
}

export type QueueKind = "steer" | "followUp";

export type QueueMode = "all" | "one-at-a-time";

/** A text that waits. `paused`: handed back after a crash, not sent by itself. */
export interface QueueItem {
  queueId: string;
  kind: QueueKind;
  content: ContentBlock[];
  clientMessageId?: string;
  paused: boolean;
}

/** The whole queue in the order of sending; `version` grows with each change. */
export interface Queue {
  items: QueueItem[];
  version: number;
}

/** The queue as it is now. */
export interface QueueResult {
  items: QueueItem[];
  version: number;
}

/** The queue as it is now, and what was taken out of it: give the texts back to the person. */
export interface QueueTaken extends QueueResult {
  removed: QueueItem[];
}

/** Change a waiting text. `paused: false` lets a paused one go. */
export interface QueueUpdateParams extends SessionParams {
  queueId: string;
  version?: number;
  content?: Content;
  kind?: QueueKind;
  paused?: boolean;
}

/** Take texts out. */
export interface QueueRemoveParams extends SessionParams {
  queueIds: string[];
  version?: number;
}

/** All ids in their new order; fewer are refused as stale. */
export interface QueueReorderParams extends SessionParams {
  queueIds: string[];
  version?: number;
}

/** Take all out, or all of one kind. */
export interface QueueClearParams extends SessionParams {
  kind?: QueueKind;
  version?: number;
}

/** How many texts are handed over at once. */
export interface QueueModeParams extends SessionParams {
  kind: QueueKind;
  mode: QueueMode;
}

/** Both modes as they are now. */
export interface QueueModeResult {
  steer: QueueMode;
  followUp: QueueMode;
}

export type TreeFilter = "default" | "noTools" | "userOnly" | "labeled" | "all";

/**
 * `search` looks in texts and labels. `around`: the page that holds this entry.
 *
 * `cursor` is the `next` of the page before, or the `prev` of the page behind.
 */
export interface TreeParams extends SessionParams {
  filter?: TreeFilter;
  search?: string;
  around?: string;
  limit?: number;
  cursor?: string;
}

/**
 * A line of the drawn tree. `depth` grows where the tree forks, not with every entry.
 *
 * `parentId` is the parent among the rows shown. `onPath`: the model sees this branch. `preview`
 * is one line. `childCount` counts the children shown.
 */
export interface TreeRow {
  entryId: string;
  type: string;
  role: string | null;
  timestamp: string;
  depth: number;
  parentId: string | null;
  onPath: boolean;
  isLeaf: boolean;
  label: string | null;
  preview: string;
  childCount: number;
}

/** A page of rows. `next` is null on the last one, `prev` on the first. */
export interface Tree {
  rows: TreeRow[];
  leafId: string | null;
  treeVersion: number;
  next: string | null;
  prev?: string;
}

/** How to sum up the branch that is left. `replace`: the instructions stand for ours. */
export interface Summarize {
  instructions?: string;
  replace?: boolean;
}

/**
 * Where to go, by entry id; `expectedLeafId` is where the caller believes to be.
 *
 * `summarize` true or an object writes a summary of the branch that is left.
 */
export interface NavigateParams extends LongParams {
  entryId: string;
  summarize?: boolean | Summarize;
  label?: string;
  expectedLeafId?: string;
}

/** Where the leaf is now. A user's message comes back as `editorText`, to be said otherwise. */
export interface Navigated {
  leafId: string | null;
  editorText?: string;
  summaryEntryId?: string;
  cancelled: boolean;
}

/** A bookmark on an entry, one short line; null takes it away. */
export interface LabelParams extends SessionParams {
  entryId: string;
  label: string | null;
}

/** The bookmark, and the entry that records it. */
export interface Labeled {
  entryId: string;
  label: string | null;
  labelEntryId: string;
}

/** Two entries: where one was, and where one would be. */
export interface DiffParams extends SessionParams {
  from: string;
  to: string;
}

/**
 * One side of a fork: how many entries, the first thousands of them, and the files touched.
 *
 * Files stand as the model named them; one that was changed is not among those read.
 */
export interface BranchSide {
  count: number;
  entryIds: string[];
  readFiles: string[];
  modifiedFiles: string[];
}

/** What two places do not have in common; `ancestorId` is the last entry of both paths. */
export interface TreeDiff {
  ancestorId: string | null;
  abandoned: BranchSide;
  gained: BranchSide;
}

/** `instructions`: what the summary should look at. */
export interface CompactParams extends LongParams {
  instructions?: string;
}

/** The files the summed-up part read and changed. */
export interface FileLists {
  readFiles: string[];
  modifiedFiles: string[];
}

/** The new entry. Everything before `firstKeptEntryId` is seen by the model as the summary. */
export interface Compacted {
  entryId: string;
  summary: string;
  firstKeptEntryId: string;
  tokensBefore: number;
  tokensAfterEstimate: number;
  usage: Usage;
  details: FileLists;
}

export type ContextInclude = "messages" | "texts";

/**
 * At which entry: the leaf, unless said. `cursor` is the `next` of the page before.
 *
 * `include`: `messages` puts into each part the message as the model gets it, `texts` the sections
 * of the system prompt and the declarations of the tools.
 */
export interface ContextParams extends SessionParams {
  entryId?: string;
  include?: ContextInclude[];
  limit?: number;
  cursor?: string;
}

/**
 * A part of what the model sees, or of what it does not see, with the rule that left it out.
 *
 * `kind`: a role, `section:` or `tool:` with a name, `correction` (what a provider measured minus
 * what was estimated), `branches` (all other branches together), or the type of an entry that
 * never speaks to a model. `tokens` are estimated; of what is left out, what it would have cost.
 */
export interface ContextPart {
  kind: string;
  tokens: number;
  entryId?: string;
  preview: string;
  leftOut?: string;
  message?: JsonObject;
  text?: string;
}

/** How many parts a rule leaves out. */
export interface LeftOut {
  rule: string;
  count: number;
}

/**
 * Tokens: the model's window, what is held free in it, and above what it is compacted.
 *
 * `automatic` false: nothing is compacted by itself.
 */
export interface ContextBudget {
  window: number;
  reserve: number;
  compactsAbove: number;
  automatic: boolean;
}

/**
 * A page of parts: first all that is seen, in order, then what is left out.
 *
 * `tokens` is the figure that is compared with the budget: the sum of all parts that are seen.
 * `measured`: as many of them a provider has counted; null where everything is estimated.
 */
export interface ContextResult {
  entryId: string | null;
  treeVersion: number;
  model: string | null;
  thinking: ThinkingLevel;
  tokens: number;
  measured: number | null;
  budget: ContextBudget | null;
  seen: number;
  leftOut: LeftOut[];
  parts: ContextPart[];
  next: string | null;
}

/** A slice in bytes of UTF-8, from `start` up to, not including, `end`. */
export interface ByteRange {
  start?: number;
  end?: number;
}

/** An `agent://` address as it was given in an event or a result. */
export interface ContentReadParams {
  uri: string;
  range?: ByteRange;
}

/**
 * A piece of the text, whole characters only. `size` is that of the whole, in bytes.
 *
 * `next` is the `start` of the following piece, null at the end.
 */
export interface ContentReadResult {
  text: string;
  size: number;
  next: number | null;
}

/** US dollars per million tokens. */
export interface ModelPrice {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
}

/**
 * A model. `model` is its name everywhere: `provider/id`. Window and limit in tokens.
 *
 * `auth`: a key is configured, is missing, or none is needed. Only `missing` cannot be used.
 */
export interface ModelRow {
  model: string;
  provider: string;
  id: string;
  name: string;
  contextWindow: number;
  maxOutput: number;
  reasoning: boolean;
  images: boolean;
  levels: ThinkingLevel[];
  cost: ModelPrice;
  auth: "configured" | "missing" | "notNeeded";
}

/** `usable` leaves out the models that lack a key. */
export interface ModelListParams extends SessionParams {
  usable?: boolean;
}

/** All models; `current` is the session's, null where there is no session or no model. */
export interface ModelList {
  models: ModelRow[];
  current: string | null;
}

/** `model` is `provider/id`. */
export interface ModelSetParams extends SessionParams {
  model: string;
}

/** To the next, or to the one before. */
export interface CycleParams extends SessionParams {
  direction?: "next" | "previous";
}

/** What is chosen now; another model may have other thinking levels. */
export interface ModelResult {
  model: string;
  thinking: ThinkingLevel;
}

/** The levels of the session's model. */
export interface ThinkingList {
  levels: ThinkingLevel[];
  current: ThinkingLevel;
}

/** A level the model does not have becomes the nearest one it has. */
export interface ThinkingSetParams extends SessionParams {
  level: ThinkingLevel;
}

/** The level as it is now. `note`: why it is another than the one that was wished for. */
export interface ThinkingResult {
  thinking: ThinkingLevel;
  note?: string;
}

/** One value that can be chosen. */
export interface ConfigValue {
  value: string;
  name: string;
  description?: string;
}

/**
 * A switch. `list`: any number of the options (the active tools, for example).
 *
 * Categories: `mode`, `model`, `model_config`, `thought_level`, and ours that begin with `_`.
 */
export interface ConfigOption {
  id: string;
  name: string;
  description?: string;
  category?: string;
  type: "select" | "boolean" | "list";
  currentValue: string | boolean | string[];
  options: ConfigValue[];
}

/** All switches as they are now. */
export interface ConfigResult {
  configOptions: ConfigOption[];
}

/** Which, and to what. Scopes `workspace` and `user` also write it to the settings file. */
export interface ConfigSetParams extends SessionParams {
  id: string;
  value: string | boolean | string[];
  scope?: "session" | "workspace" | "user";
}

/** A text `/name …` that does something. `inputHint`: what may follow. */
export interface SlashCommand {
  name: string;
  description: string;
  source: "builtin" | "extension" | "prompt" | "skill";
  inputHint?: string;
  path?: string;
}

/** All commands of the session. */
export interface CommandList {
  commands: SlashCommand[];
}

/** The text so far, without the slash, up to the cursor. */
export interface CompleteParams extends SessionParams {
  prefix: string;
}

/** One way to go on: `value` replaces the prefix. `inputHint`: what may follow it. */
export interface Completion {
  value: string;
  description?: string;
  inputHint?: string;
}

/** What may follow, best first. */
export interface Completions {
  items: Completion[];
}

/** `key` is a path with dots, such as `compaction.reserveTokens`. */
export interface SettingsGetParams extends SessionParams {
  key: string;
}

/** null takes the key away. */
export interface SettingsSetParams extends SessionParams {
  key: string;
  value: Json;
  scope?: "user" | "workspace";
}

/** For the session's folder and those below it. null forgets what was decided. */
export interface TrustParams extends SessionParams {
  trusted: boolean | null;
}

/** Whether what the folder brings along counts now, and what does not. */
export interface TrustResult {
  trusted: boolean;
  skipped: Skipped[];
}

/** The value in force, where it comes from, and its JSON Schema. */
export interface SettingsResult {
  key: string;
  value: Json;
  source: "default" | "user" | "workspace" | "editor";
  jsonSchema?: JsonObject;
}

export type PermissionScope = "once" | "session" | "workspace" | "user";

/** One possible answer. `pattern` is what it would cover from then on; `expires` is ISO 8601. */
export interface PermissionOption {
  id: string;
  label: string;
  kind: "allow" | "deny";
  scope: PermissionScope;
  pattern?: string;
  expires?: string;
}

/** What is to be done. `diff` is unified text of an edit. */
export interface PermissionSubject {
  type: "command" | "edit" | "read" | "custom";
  command?: string;
  cwd?: string;
  paths: string[];
  diff?: string;
}

/**
 * The question. `reason`: why it is asked (which rule). `defaultToNo`: preselect a no.
 *
 * `editableInput`: the arguments, if they may be changed in the answer.
 */
export interface PermissionParams {
  sessionId: string;
  requestId: string;
  toolCallId?: string;
  title: string;
  subject: PermissionSubject;
  reason: string;
  options: PermissionOption[];
  defaultToNo: boolean;
  editableInput?: JsonObject;
}

/**
 * `selected` with an option's id, or `cancelled`, which is a no.
 *
 * `editedInput`: arguments to run instead; rules that forbid and keys hold for them too, and the
 * model is told what ran. `feedback` is told to the model.
 */
export interface PermissionAnswer {
  outcome: "selected" | "cancelled";
  optionId?: string;
  editedInput?: JsonObject;
  feedback?: string;
}

/**
 * A question has its answer from elsewhere: take it off the screen.
 *
 * `by`: a client's id, or `abort`, `timeout`, `policy`.
 */
export interface ResolvedParams {
  sessionId: string;
  requestId: string;
  by: string;
}

/** A remembered answer. */
export interface Rule {
  id: string;
  tool: string;
  pattern: string | null;
  decision: "allow" | "deny";
  scope: PermissionScope;
  created?: string;
  uses: number;
}

/** All rules in force, and the mode. */
export interface RuleList {
  rules: Rule[];
  mode: string;
}

/** Rules to forget, by id: all of them, or none if one is unknown. */
export interface RuleRemoveParams extends SessionParams {
  ids: string[];
}

/** `ask` before writes and commands, allow edits, allow all, or deny all that would be asked. */
export interface ModeParams extends SessionParams {
  mode: "ask" | "acceptEdits" | "readOnly" | "allowAll";
}

export type SignKind = "status" | "widget" | "title" | "editorText" | "notice";

export type DialogKind = "select" | "confirm" | "input" | "editor" | "form";

/** One thing to choose. */
export interface UiOption {
  value: string;
  label: string;
  description?: string;
}

/** A dialog. `options` go with `select`; `schema` (a subset of JSON Schema) with `form`. */
export interface UiRequestParams {
  sessionId: string;
  requestId: string;
  kind: DialogKind;
  title: string;
  message?: string;
  options?: UiOption[];
  jsonSchema?: JsonObject;
  prefill?: string;
  timeoutMs?: number;
}

/** `value`: a text, true or false, or the form's object; or it was dismissed. */
export interface UiAnswer {
  value?: Json;
  cancelled?: boolean;
}

/**
 * A sign under a `key`; a null payload takes it away.
 *
 * `payload` is a text, for a `widget` a list of lines. Clients that declared `ui.status` get
 * `status` and `title`, with `ui.widgets` `widget`, with `ui.notify` `notice` and `editorText` (a
 * text for the input).
 */
export interface UiUpdateParams {
  sessionId: string;
  kind: SignKind;
  key: string;
  payload: Json;
}

/** A document, or a part of it. */
export interface EditorReadParams {
  uri: string;
  range?: Range;
}

/** The text as the person sees it. `dirty`: not as on the disk. */
export interface EditorReadResult {
  text: string;
  version?: number;
  dirty?: boolean;
}

/** Documents to write to the disk, without a dialog. */
export interface EditorSaveParams {
  uris: string[];
}

/** A document that could not be saved, and why. */
export interface SaveFailure {
  uri: string;
  message: string;
}

/** What was saved and what was not. */
export interface EditorSaveResult {
  saved: string[];
  failed?: SaveFailure[];
}

/**
 * One change of one file. Hashes are SHA-256 in hex; null where there was or is no file.
 *
 * `by`: through the editor that had it open, or on the disk. `created`: there was no file before.
 * `undone`: it was taken back.
 */
export interface Edit {
  editId: string;
  turnId: string;
  toolCallId: string;
  uri: string;
  before: string | null;
  after: string | null;
  by: "editor" | "disk";
  created: boolean;
  undone: boolean;
  timestamp: string;
}

/** Edits of a turn, of a file, or of the whole session. */
export interface EditsParams extends SessionParams {
  turnId?: string;
  uri?: string;
}

/** Oldest first. */
export interface EditList {
  edits: Edit[];
}

/**
 * What to take back: all of a turn, all of a file, single edits; with several, what fits all.
 *
 * One of them must be given.
 */
export interface RevertParams extends SessionParams {
  turnId?: string;
  uri?: string;
  editIds?: string[];
}

/** An edit that stays, and why: usually the file has changed since. */
export interface Refused {
  editId: string;
  code: string;
  message: string;
}

/** What was taken back and what was not. */
export interface Reverted {
  reverted: string[];
  refused: Refused[];
}

/** One provider, or all. */
export interface AuthParams {
  provider?: string;
}

/**
 * How a provider is reached. `source` says where its key comes from; the key is never told.
 *
 * `variables`: environment variables that would be used.
 */
export interface AuthRow {
  provider: string;
  status: "configured" | "missing" | "notNeeded";
  source?: string;
  methods: string[];
  variables: string[];
}

/** All providers that were asked for. */
export interface AuthStatus {
  providers: AuthRow[];
}

/** Which provider, and its key, which is kept in `auth.json` for the user alone. */
export interface LoginParams {
  provider: string;
  method?: "api_key";
  key: string;
}

/** Which provider. */
export interface LogoutParams {
  provider: string;
}

/** US dollars. */
export interface Cost {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
  total: number;
  totalFromProvider?: number;
}

/** Tokens as the provider counted them. `input` excludes cached ones. */
export interface Usage {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
  cacheWrite1h?: number;
  reasoning?: number;
  totalTokens: number;
  cost: Cost;
}

/** How full the window is. `tokens` null: nobody knows, as right after a compaction. */
export interface ContextUsage {
  tokens: number | null;
  window: number;
  percent: number | null;
}

/** What one model took; `model` is `provider/id`, or `summaries` for all summaries together. */
export interface ModelUsage {
  model: string;
  answers: number;
  usage: Usage;
}

/** Totals over all branches of the session, failed answers and summaries included. */
export interface UsageResult {
  contextUsage: ContextUsage;
  total: Usage;
  models: ModelUsage[];
}

export type ToolStatus =
  | "streaming"
  | "pending"
  | "running"
  | "completed"
  | "failed"
  | "cancelled"
  | "rejected";

export type ToolKind = "read" | "edit" | "execute" | "search" | "other";

export type SessionEvent =
  | StateEvent
  | TurnStartedEvent
  | TurnEndedEvent
  | SettledEvent
  | EntryEvent
  | LeafEvent
  | ItemStartedEvent
  | ItemEndedEvent
  | ToolEvent
  | QueueEvent
  | CompactionEvent
  | RetryEvent
  | UsageEvent
  | ConfigEvent
  | CommandsEvent
  | PermissionEvent
  | EditsEvent
  | WarningEvent
  | ExtensionErrorEvent;

/** What the session does now. */
export interface StateEvent {
  type: "state";
  phase: Phase;
  turnId: string | null;
}

/** A turn has begun. `steer` only when a steering text began it. */
export interface TurnStartedEvent {
  type: "turn_started";
  turnId: string;
  cause: "prompt" | "followUp" | "steer" | "extension";
}

/** Exactly one for each `turn_started`. `usage` sums the turn's answers. */
export interface TurnEndedEvent {
  type: "turn_ended";
  turnId: string;
  reason: TurnReason;
  error?: ErrorInfo;
  usage: Usage;
}

/** Nothing automatic remains: no retry, no compaction, no follow-up. */
export interface SettledEvent {
  type: "settled";
}

/**
 * An entry was added to the tree, as its record in the file.
 *
 * `cut`: long texts are shortened here to fit a message; the whole is at this address.
 */
export interface EntryEvent {
  type: "entry";
  entry: Entry;
  cut?: string;
}

/** The next entry will be a child of `leafId`; null: it will be a new root. */
export interface LeafEvent {
  type: "leaf";
  leafId: string | null;
  treeVersion: number;
  cause: "append" | "navigate" | "label" | "compact";
}

/**
 * Part `part` of the answer `itemId` begins to stream; `itemId` is the id of its entry to be.
 *
 * A part of kind `tool` is a call whose arguments stream.
 */
export interface ItemStartedEvent {
  type: "item_started";
  itemId: string;
  kind: PartKind;
  part: number;
  toolCallId?: string;
  name?: string;
}

/**
 * The part is whole; `content` is what counts, whatever the deltas said.
 *
 * Null: the part was thrown away. `cut`: shortened to fit a message; the whole is at this address.
 */
export interface ItemEndedEvent {
  type: "item_ended";
  itemId: string;
  kind: PartKind;
  part: number;
  content: Block | null;
  cut?: string;
}

/** A file a tool works on; `line` counts from 0. */
export interface FileLocation {
  uri: string;
  line?: number;
}

/** The output was longer than what the model was given. `shown` lines of `lines`. */
export interface ToolTruncation {
  lines?: number;
  bytes?: number;
  shown?: number;
  fullOutputUri?: string;
}

/** What the tool answered. `details` is for people and programs, the model never sees it. */
export interface ToolResult {
  content: Block[];
  details?: Json;
  isError: boolean;
}

/**
 * How a tool call stands: an update of what was told of `toolCallId` before.
 *
 * Absent: unchanged. null: cleared. A value: replaces. `requestId`: it waits for this question.
 * `cut`: shortened to fit a message; the whole is at this address.
 */
export interface ToolEvent {
  type: "tool";
  toolCallId: string;
  status: ToolStatus;
  itemId?: string | null;
  part?: number | null;
  name?: string | null;
  kind?: ToolKind | null;
  title?: string | null;
  input?: JsonObject | null;
  locations?: FileLocation[] | null;
  diff?: string | null;
  result?: ToolResult | null;
  truncation?: ToolTruncation | null;
  durationMs?: number | null;
  requestId?: string | null;
  cut?: string | null;
}

/** The whole queue as it is now. */
export interface QueueEvent {
  type: "queue";
  items: QueueItem[];
  version: number;
}

/** A summary is being made, or has come to an end. */
export interface CompactionEvent {
  type: "compaction";
  id: string;
  status: "started" | "completed" | "failed" | "cancelled";
  reason: "manual" | "threshold" | "overflow";
  result?: Compacted;
  error?: ErrorInfo;
}

/** A failed attempt is made again after `delayMs`, or that has come to an end. */
export interface RetryEvent {
  type: "retry";
  attempt: number;
  max: number;
  delayMs: number;
  status: "waiting" | "retrying" | "succeeded" | "failed" | "cancelled";
  error?: ErrorInfo;
}

/** How full the window is, and what the last answer took. */
export interface UsageEvent {
  type: "usage";
  contextUsage: ContextUsage;
  last?: Usage;
}

/**
 * Model, thinking level, name, tools, permission mode and trust as they are now.
 *
 * `images`: the model is shown pictures, not notes in their place.
 */
export interface ConfigEvent {
  type: "config";
  model: string | null;
  images: boolean;
  thinking: ThinkingLevel;
  name: string | null;
  tools: string[];
  mode: string;
  trusted: boolean;
  skipped: Skipped[];
}

/** The slash commands are others now. */
export interface CommandsEvent {
  type: "commands";
}

/**
 * A question was asked or is answered; `by` a client's id, `abort`, `timeout`, `policy`.
 *
 * A dialog is `answered` or `cancelled`, a question of permission `allowed` or `denied`.
 */
export interface PermissionEvent {
  type: "permission";
  requestId: string;
  status: "open" | "allowed" | "denied" | "answered" | "cancelled";
  by?: string;
}

/** The ledger of edits has changed. */
export interface EditsEvent {
  type: "edits";
  turnId: string;
  editIds: string[];
}

/** Something a person should know; `code` is stable. */
export interface WarningEvent {
  type: "warning";
  code: string;
  message: string;
}

/** An extension failed and the run went on. */
export interface ExtensionErrorEvent {
  type: "extension_error";
  extension: string;
  event: string;
  message: string;
}

/**
 * More text of part `part` of `itemId`; for `toolOutput` the item is the tool call.
 *
 * `from..to` count the chunks of that part, half-open, from 0: where `from` is not the last `to`,
 * something was left out, and `item_ended` will tell it. `after` is the last event before it.
 */
export interface DeltaParams {
  sessionId: string;
  after: number;
  itemId: string;
  kind: DeltaKind;
  part: number;
  from: number;
  to: number;
  text: string;
}

/** `reason`: what happened to the list of sessions. */
export interface SessionsChangedParams {
  reason: "created" | "renamed" | "deleted" | "opened" | "closed";
  sessionId?: string;
}

/** An empty object: this is supported. */
export type Present = { [key: string]: never };

/**
 * How the client wants to hear. `kinds`: only these event types; absent: all.
 *
 * Deltas are joined for up to `maxLatencyMs`.
 */
export interface ClientEvents {
  delta?: boolean;
  maxLatencyMs?: number;
  kinds?: string[];
}

/** What the client can put before a person. */
export interface ClientUi {
  dialogs?: DialogKind[];
  status?: Present;
  widgets?: Present;
  notify?: Present;
}

/**
 * What the editor can do with documents.
 *
 * `applyEdit`: edits of open documents, of all, or of none go through the editor.
 */
export interface ClientEditor {
  applyEdit?: "open" | "all" | "none";
  read?: Present;
  save?: Present;
}

/**
 * What the client declares. All of it may be missing: then it is a plain LSP host.
 *
 * `protocolVersions`: preferred first. `settings`: the editor's own settings for the agent, with
 * the keys of settings.json, above all files.
 */
export interface ClientAgent {
  protocolVersions?: number[];
  clientId?: string;
  events?: ClientEvents;
  permissions?: Present;
  ui?: ClientUi;
  editor?: ClientEditor;
  settings?: JsonObject;
  experimental?: boolean;
}

/** What can be done with sessions. */
export interface SessionAbilities {
  list?: Present;
  fork?: Present;
  delete?: Present;
  export?: Present;
}

/** What can be done with the tree. */
export interface TreeAbilities {
  navigate?: Present;
  label?: Present;
  filters: TreeFilter[];
}

/** What can be done with waiting texts. */
export interface QueueAbilities {
  update?: Present;
  reorder?: Present;
}

/** For how long an answer can be remembered. */
export interface PermissionAbilities {
  scopes: PermissionScope[];
}

/** Bytes in, bytes out, bytes of a joined delta, requests open at once, events kept. */
export interface Limits {
  maxMessageBytes: number;
  maxOutboundBytes: number;
  maxDeltaBytes: number;
  maxOpenRequests: number;
  ringEvents: number;
}

/**
 * What the daemon answers. `protocolVersion` null: no common one, `supported` lists ours.
 *
 * `schemaHash` changes when anything in the published schema does.
 */
export interface ServerAgent {
  protocolVersion: number | null;
  supported: number[];
  schemaHash: string;
  methods: string[];
  sessions: SessionAbilities;
  tree: TreeAbilities;
  steer?: Present;
  queue: QueueAbilities;
  compact?: Present;
  permissions: PermissionAbilities;
  contentKinds: string[];
  limits: Limits;
  experimental: string[];
}

export type Block = StoredText | StoredImage | Thinking | ToolCall;

export type StoredContent = string | Block[];

export type AgentMessage =
  | UserMessage
  | AssistantMessage
  | ToolResultMessage
  | SystemMessage
  | BashExecutionMessage
  | CustomMessage
  | CompactionSummaryMessage
  | BranchSummaryMessage;

export type Entry =
  | MessageEntry
  | ModelChangeEntry
  | ThinkingLevelChangeEntry
  | UsageEntry
  | CompactionEntry
  | BranchSummaryEntry
  | ContextEditEntry
  | CustomEntry
  | CustomMessageEntry
  | LabelEntry
  | SessionInfoEntry;

/** A run of text. `context`: an editor added it; the person wrote none of it. */
export interface StoredText {
  type: "text";
  text: string;
  textSignature?: string;
  context?: boolean;
}

/** A picture; `data` is base64. */
export interface StoredImage {
  type: "image";
  data: string;
  mimeType: string;
}

/** Reasoning of the model; the signature lets the same provider take it back. */
export interface Thinking {
  type: "thinking";
  thinking: string;
  thinkingSignature?: string;
  redacted?: boolean;
}

/**
 * A request of the model to run a tool.
 *
 * `arguments_error`: why its arguments could not be read (cut short, no JSON); it is then never
 * run and `arguments` hold what could be read.
 */
export interface ToolCall {
  type: "toolCall";
  id: string;
  name: string;
  arguments: JsonObject;
  argumentsError?: string;
  thoughtSignature?: string;
  namespace?: string;
}

/** What a person said. */
export interface UserMessage {
  role: "user";
  content: StoredContent;
  timestamp: number;
}

/** One answer of a model. */
export interface AssistantMessage {
  role: "assistant";
  content: Block[];
  api: string;
  provider: string;
  model: string;
  responseModel?: string;
  responseId?: string;
  thinkingLevel?: string;
  usage: Usage;
  stopReason: string;
  errorMessage?: string;
  rawStopReason?: string;
  timestamp: number;
}

/** What a tool answered. */
export interface ToolResultMessage {
  role: "toolResult";
  toolCallId: string;
  toolName: string;
  content: StoredContent;
  details?: Json;
  isError: boolean;
  timestamp: number;
}

/** A prompt that pi stored: history for the X-ray, never sent by us. */
export interface SystemMessage {
  role: "system";
  content: StoredContent;
  sections?: { [key: string]: string | null };
  timestamp: number;
}

/** A command the user ran; in the context unless excluded. */
export interface BashExecutionMessage {
  role: "bashExecution";
  command: string;
  output: string;
  exitCode?: number;
  cancelled: boolean;
  truncated: boolean;
  fullOutputPath?: string;
  excludeFromContext?: boolean;
  timestamp: number;
}

/** A message of an extension; the model sees it as the user's. */
export interface CustomMessage {
  role: "custom";
  customType: string;
  content: StoredContent;
  display: boolean;
  details?: Json;
  timestamp: number;
}

/** Made from a compaction entry when the context is projected; never stored. */
export interface CompactionSummaryMessage {
  role: "compactionSummary";
  summary: string;
  tokensBefore: number;
  timestamp: number;
}

/** Made from a branch_summary entry when the context is projected; never stored. */
export interface BranchSummaryMessage {
  role: "branchSummary";
  summary: string;
  fromId: string;
  timestamp: number;
}

/** What every entry has. One made by hand has no place yet: `History.append` gives it one. */
export interface EntryBase {
  id: string;
  parentId: string | null;
  timestamp: string;
}

/** Something said. */
export interface MessageEntry extends EntryBase {
  type: "message";
  message: AgentMessage;
}

/** Another model from here on. */
export interface ModelChangeEntry extends EntryBase {
  type: "model_change";
  provider: string;
  modelId: string;
}

/** Another thinking level from here on. */
export interface ThinkingLevelChangeEntry extends EntryBase {
  type: "thinking_level_change";
  thinkingLevel: string;
}

/** Tokens spent outside an answer; counts in cost, not in context. */
export interface UsageEntry extends EntryBase {
  type: "usage";
  kind: string;
  provider: string;
  model: string;
  usage: Usage;
  note?: string;
}

/**
 * A hand-over: the summary stands for everything before `first_kept_entry_id`.
 *
 * Its own id, or one that is not on the path, keeps nothing.
 */
export interface CompactionEntry extends EntryBase {
  type: "compaction";
  summary: string;
  firstKeptEntryId: string;
  tokensBefore: number;
  details?: Json;
  usage?: Usage;
  fromHook?: boolean;
}

/** What was tried on a branch that was left; `from_id` is its old leaf, or "root". */
export interface BranchSummaryEntry extends EntryBase {
  type: "branch_summary";
  summary: string;
  fromId: string;
  details?: Json;
  usage?: Usage;
  fromHook?: boolean;
}

/** Alters what another entry gives to the context: `replacement` null hides it. */
export interface ContextEditEntry extends EntryBase {
  type: "context_edit";
  targetId: string;
  replacement?: Json;
}

/** State of an extension, or of ours; never sent. */
export interface CustomEntry extends EntryBase {
  type: "custom";
  customType: string;
  data?: Json;
}

/** A message of an extension; sent as the user's. */
export interface CustomMessageEntry extends EntryBase {
  type: "custom_message";
  customType: string;
  content: StoredContent;
  display: boolean;
  details?: Json;
}

/** A bookmark on another entry; missing or empty clears it. */
export interface LabelEntry extends EntryBase {
  type: "label";
  targetId: string;
  label?: string;
}

/** The session's name. */
export interface SessionInfoEntry extends EntryBase {
  type: "session_info";
  name?: string;
}

/** What a client may ask. */
export interface Methods {
  /** Open the session of a folder and hear its events: the usual first request. Never fails for want of trust; the state tells what was skipped. */
  "agent/session/open": { params: OpenParams; result: Attached };
  /** Come back to a session that is open: what was missed since a cursor, or a snapshot when the daemon no longer remembers that far. */
  "agent/session/attach": { params: AttachParams; result: AttachResult };
  /** Hear no more of a session; it goes on. */
  "agent/session/detach": { params: SessionParams; result: Empty };
  /** The session as it is now. */
  "agent/session/state": { params: SessionParams; result: SessionState };
  /** Entries by the page, as they are in the file. */
  "agent/session/entries": { params: EntriesParams; result: Entries };
  /** The sessions of a folder, newest first. */
  "agent/session/list": { params: ListParams; result: SessionList };
  /** A new session, current from now on. It has no file until something is said. With `recover` it is a copy of what can be read of a damaged file. */
  "agent/session/new": { params: NewParams; result: Attached };
  /** Make another session the current one of its folder, and hear its events. */
  "agent/session/switch": { params: SwitchParams; result: Attached };
  /** Give the session a name. */
  "agent/session/rename": { params: RenameParams; result: SessionName };
  /** Let go of the session: its run ends, its lock is released. */
  "agent/session/close": { params: SessionParams; result: Empty };
  /** Delete the file of a session that is not open. */
  "agent/session/delete": { params: DeleteParams; result: Empty };
  /** The session as JSON lines that pi opens too, as Markdown, or as one HTML page. */
  "agent/session/export": { params: ExportParams; result: Exported };
  /** A new session that begins with the path up to an entry; at the leaf, `at`, it is a clone. */
  "agent/session/fork": { params: ForkParams; result: Forked };
  /** Answered when the session is idle or settled. May take as long as a turn does. */
  "agent/session/wait": { params: WaitParams; result: Waited };
  /** Start a turn. Answered when the user's message is in the session file and synced; the end is the event `turn_ended`. A text that begins with `/` may be a command. */
  "agent/prompt": { params: PromptParams; result: PromptResult };
  /** Put a text into the running turn: the model sees it at its next step. When nothing runs, `whenIdle` decides. */
  "agent/steer": { params: SteerParams; result: SteerResult };
  /** Queue a text as the next turn; when nothing runs, start it. */
  "agent/followUp": { params: SayParams; result: FollowUpResult };
  /** End the running turn, or one part of the work. Answered when it has ended, after five seconds at the latest. `$/cancelRequest` never ends a turn; this does. */
  "agent/abort": { params: AbortParams; result: AbortResult };
  /** Run a command of the person; its output becomes an entry that the model sees unless it is excluded. Answered when it has ended; `$/cancelRequest` ends it. */
  "agent/bash": { params: BashParams; result: BashResult };
  /** What waits, in the order of sending. */
  "agent/queue/list": { params: SessionParams; result: QueueResult };
  /** Change the text or the kind of a waiting item, or let a paused one go. */
  "agent/queue/update": { params: QueueUpdateParams; result: QueueResult };
  /** Take items out; their texts come back. */
  "agent/queue/remove": { params: QueueRemoveParams; result: QueueTaken };
  /** Give the items another order. */
  "agent/queue/reorder": { params: QueueReorderParams; result: QueueResult };
  /** Take everything out; the texts come back. */
  "agent/queue/clear": { params: QueueClearParams; result: QueueTaken };
  /** Hand over all waiting texts of a kind at once, or one at a time. */
  "agent/queue/mode": { params: QueueModeParams; result: QueueModeResult };
  /** The tree as rows, by the page. */
  "agent/tree/get": { params: TreeParams; result: Tree };
  /** Go on from another entry of the same session. Nothing is lost: the branch that is left stays in the file. On a user's message the leaf becomes its parent and the text comes back. With a summary it takes a model call; cancelled, nothing has moved. */
  "agent/tree/navigate": { params: NavigateParams; result: Navigated };
  /** Put a bookmark on an entry, or take it away. */
  "agent/tree/label": { params: LabelParams; result: Labeled };
  /** What going from one entry to another would leave and gain. */
  "agent/tree/diff": { params: DiffParams; result: TreeDiff };
  /** Sum up the older part of the path with a call of the model. Cancelled or failed, nothing has changed. */
  "agent/compact": { params: CompactParams; result: Compacted };
  /** What the model would see at an entry, part by part with its tokens, and by which rule the rest is left out. */
  "agent/context/get": { params: ContextParams; result: ContextResult };
  /** A text of a session by the piece: what was cut in an event or a result, or what an editor shows (the transcript, the tree, an entry, a diff). */
  "agent/content/read": { params: ContentReadParams; result: ContentReadResult };
  /** The models, with window, price, thinking levels and whether they can be used. Works without a session. */
  "agent/model/list": { params: ModelListParams; result: ModelList };
  /** Choose the model; a running turn uses it from its next step on. */
  "agent/model/set": { params: ModelSetParams; result: ModelResult };
  /** Choose the next usable model. */
  "agent/model/cycle": { params: CycleParams; result: ModelResult };
  /** The thinking levels of the session's model. */
  "agent/thinking/list": { params: SessionParams; result: ThinkingList };
  /** Choose the thinking level. */
  "agent/thinking/set": { params: ThinkingSetParams; result: ThinkingResult };
  /** Choose the next thinking level. */
  "agent/thinking/cycle": { params: CycleParams; result: ThinkingResult };
  /** All switches of the session: model, thinking level, permission mode, active tools. */
  "agent/config/list": { params: SessionParams; result: ConfigResult };
  /** Turn one switch. */
  "agent/config/set": { params: ConfigSetParams; result: ConfigResult };
  /** The slash commands; ask again after the event `commands`. */
  "agent/command/list": { params: SessionParams; result: CommandList };
  /** How a slash command may go on: its name, then a model or a thinking level. */
  "agent/command/complete": { params: CompleteParams; result: Completions };
  /** The value of a setting and where it comes from. */
  "agent/settings/get": { params: SettingsGetParams; result: SettingsResult };
  /** Write a setting to the user's or the workspace's file. */
  "agent/settings/set": { params: SettingsSetParams; result: SettingsResult };
  /** Decide whether the settings, prompts, skills and extensions count that the folder brings along. It is kept, and counts at once in every session that is open. Only to be called when a person says so. */
  "agent/trust/set": { params: TrustParams; result: TrustResult };
  /** The remembered answers, and the mode. */
  "agent/permission/list": { params: SessionParams; result: RuleList };
  /** Forget answers. */
  "agent/permission/remove": { params: RuleRemoveParams; result: RuleList };
  /** What is asked at all, as long as the session lives. The same as the switch `mode` of `agent/config/set`, which can also keep it in the settings. */
  "agent/permission/setMode": { params: ModeParams; result: RuleList };
  /** What the agent changed in files, and whether it was taken back. */
  "agent/edits/list": { params: EditsParams; result: EditList };
  /** Take edits back, newest first; a file that has changed since is left alone. */
  "agent/edits/revert": { params: RevertParams; result: Reverted };
  /** Which providers have a key. */
  "agent/auth/status": { params: AuthParams; result: AuthStatus };
  /** Keep a key. Whether the provider takes it shows with the next prompt. */
  "agent/auth/login": { params: LoginParams; result: AuthStatus };
  /** Forget the kept key; one in the environment or in models.json stays. */
  "agent/auth/logout": { params: LogoutParams; result: AuthStatus };
  /** Tokens by kind and cost over the whole session, all branches, per model; and how full the window is now. */
  "agent/usage/get": { params: SessionParams; result: UsageResult };
}

/** What the daemon may ask. */
export interface ServerRequests {
  /** May the agent do this? All clients of the session that declared `permissions` are asked; the first answer counts. */
  "agent/permission/request": { params: PermissionParams; result: PermissionAnswer };
  /** Ask a person something. Only kinds the client declared are asked; for the others a select or confirm goes through `window/showMessageRequest`, the rest is cancelled. */
  "agent/ui/request": { params: UiRequestParams; result: UiAnswer };
  /** The text of a document as the person sees it. */
  "agent/editor/read": { params: EditorReadParams; result: EditorReadResult };
  /** Save documents that the agent has just changed and that were clean before. */
  "agent/editor/save": { params: EditorSaveParams; result: EditorSaveResult };
}

/** What the daemon tells. */
export interface Notifications {
  /** A question that this client was asked has its answer from elsewhere. */
  "agent/request/resolved": ResolvedParams;
  /** Show something small: a status, a widget, a title, a text for the input, a notice. Told when it changes; what stands is told again behind the answer to open and attach. */
  "agent/ui/update": UiUpdateParams;
  /** Something happened. Numbered, ordered, never dropped. */
  "agent/event": EventParams;
  /** More text of something that streams. May be merged or left out. */
  "agent/delta": DeltaParams;
  /** The list of sessions is another one: ask `agent/session/list`. */
  "agent/sessions/changed": SessionsChangedParams;
}

export type MethodName = keyof Methods;
