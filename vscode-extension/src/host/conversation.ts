/**
 * The session in view: opened, followed without holes, spoken into, left for another one.
 *
 * Holds the view's value and tells what changes it. Never knows the webview. Read next: sidebar.ts.
 */
import * as vscode from "vscode";
import type { Attached, DeltaParams, EventParams, NavigateParams, OpenParams, QueueItem, SessionEvent, UiUpdateParams } from "../protocol";
import type { Attachment, Draft, Sending, ToView } from "../shared/messages";
import { applied, grown, opened, signed, streaming, withEarlier } from "../shared/reduce";
import { EMPTY, type View } from "../shared/view";
import { Refusal, type Daemon } from "./daemon";
import { mentions } from "./files";

const PAGE = 60;
/** How a picture is called whose name is not known any more. */
const PICTURE = "picture";
const GO_ON = "Please go on where you were interrupted.";

export class Conversation {
  view: View = EMPTY;
  private readonly told = new vscode.EventEmitter<ToView | "whole">();
  /** What the webview must hear: a message, or that everything is another. */
  readonly onTold = this.told.event;
  private readonly happened = new vscode.EventEmitter<SessionEvent>();
  /** Events of the session in view, after they were applied. */
  readonly onEvent = this.happened.event;
  private readonly suggested = new vscode.EventEmitter<string>();
  /** A text that an extension of the daemon puts into the box. */
  readonly onText = this.suggested.event;
  private coming: Promise<void> | undefined;
  private shown: string | undefined;
  private loading: Promise<void> | undefined;

  constructor(private readonly daemon: Daemon, private readonly memory: vscode.Memento) {
    daemon.hear("agent/event", (told) => this.event(told));
    daemon.hear("agent/delta", (told) => this.delta(told));
    daemon.hear("agent/ui/update", (told) => this.sign(told));
  }

  /** The folder whose session is shown: the one chosen, or the first. */
  get folder(): vscode.WorkspaceFolder | undefined {
    const folders = (vscode.workspace.workspaceFolders ?? []).filter((folder) => folder.uri.scheme === "file");
    const chosen = this.memory.get<string>("folder");
    return folders.find((folder) => folder.uri.toString() === chosen) ?? folders[0];
  }

  get sessionId(): string {
    const { link } = this.daemon;
    if (!this.view.head) throw new Refusal("text" in link ? link.text : "No session is open.");
    return this.view.head.sessionId;
  }

  /** The daemon runs and the session is open, or it was told why not. */
  async ready(): Promise<void> {
    await this.daemon.settled();
    await this.coming;
  }

  /** After the daemon came up: what was missed, or the session anew. */
  comeBack(): void {
    const { link } = this.daemon;
    this.coming = this.attach().catch((error: unknown) => {
      if (this.daemon.link === link) this.daemon.fail(error); // else it is the failure of another life
    });
  }

  /** The session of the folder: the one shown last, or what the daemon holds for it. */
  async open(start: "continue" | "new" = "continue"): Promise<void> {
    const folder = this.folder;
    if (!folder) return;
    const history = { limit: PAGE };
    const last = start === "continue" ? this.memory.get<string>(`session:${folder.uri.toString()}`) : undefined;
    const asked: OpenParams = { workspace: folder.uri.toString(), history };
    if (start === "new") return this.show(await this.daemon.request("agent/session/new", { workspace: folder.uri.toString() }));
    try {
      this.show(await this.daemon.request("agent/session/open", last ? { ...asked, sessionId: last } : asked));
    } catch (error) {
      if (!last) throw error;
      this.show(await this.daemon.request("agent/session/open", asked));
    }
  }

  /** Another session of the folder. */
  async switchTo(sessionId: string): Promise<void> {
    const workspace = this.folder?.uri.toString();
    this.show(await this.daemon.request("agent/session/switch", { sessionId, ...(workspace ? { workspace } : {}), history: { limit: PAGE } }));
  }

  /** Another folder of the window. */
  async chooseFolder(folder: vscode.WorkspaceFolder): Promise<void> {
    await this.memory.update("folder", folder.uri.toString());
    await this.open();
  }

  /** The first folder came, or the one in view went away: the session of what is there now. */
  foldersChanged(): void {
    const folder = this.folder?.uri.toString();
    if (folder === this.shown || this.daemon.link.state !== "up") return;
    if (folder) void this.open().catch((error: unknown) => this.daemon.fail(error));
    else this.told.fire("whole");
  }

  /** Say something: a new turn, a word into the running one, the next turn, or a command. */
  async say(sending: Sending): Promise<void> {
    await this.ready();
    const said = sending.text ? [{ type: "text" as const, text: sending.text }] : [];
    const content = [...said, ...mentions(sending.text, this.folder), ...sending.attachments.map((one) => one.block)];
    const context = editorContext();
    const done = await this.daemon.request("agent/prompt", {
      sessionId: this.sessionId, content, clientMessageId: sending.id, whenBusy: sending.how === "after" ? "followUp" : "steer",
      ...(context ? { context } : {}),
    });
    if (done.note) this.sign({ sessionId: this.sessionId, kind: "notice", key: sending.id, payload: done.note });
  }

  /** Stop what runs. What waited comes back. */
  async stop(): Promise<Draft> {
    const scope = this.view.head?.phase === "compacting" && !this.view.head.turnId ? "compaction" : "turn";
    const done = await this.daemon.request("agent/abort", { sessionId: this.sessionId, scope, queue: "return" });
    return draftOf(done.queue ?? []);
  }

  /** Try a failed turn again: say it anew, or go on if it had done something already. */
  async retry(id: string): Promise<void> {
    const items = this.view.items;
    const place = items.findLastIndex((item) => item.kind === "user");
    const said = items[place];
    const whole = said?.kind === "user" && said.pictures.every((one) => one.data);
    const done = items.slice(place).some((item) => item.kind === "tool");
    const back = whole && !done ? await this.navigate({ entryId: said.key }) : undefined;
    await this.say({ id, how: "now", ...(back ?? { text: GO_ON, attachments: [] }) });
  }

  /** Go on from another entry. A person's message comes back, with its pictures as far as they are in view. */
  async navigate(params: NavigateParams, token?: vscode.CancellationToken): Promise<Draft | undefined> {
    const said = this.view.items.find((item) => item.key === params.entryId);
    const pictures = said?.kind === "user" ? said.pictures.filter((one) => one.data) : [];
    const { editorText } = await this.daemon.request("agent/tree/navigate", { ...params, sessionId: this.sessionId }, token);
    await this.reload();
    return editorText === undefined ? undefined : { text: editorText, attachments: pictures.map((one) => ({ label: PICTURE, block: one })) };
  }

  /** A page of what stands before the first item. One at a time. */
  earlier(): Promise<void> {
    this.loading ??= this.loadEarlier().finally(() => (this.loading = undefined));
    return this.loading;
  }

  async unqueue(queueId: string): Promise<Draft> {
    const done = await this.daemon.request("agent/queue/remove", { sessionId: this.sessionId, queueIds: [queueId] });
    return draftOf(done.removed);
  }

  async release(queueId: string): Promise<void> {
    await this.daemon.request("agent/queue/update", { sessionId: this.sessionId, queueId, paused: false });
  }

  /** The whole session anew: after a jump, or where events were missed. */
  async reload(): Promise<void> {
    this.show((await this.daemon.request("agent/session/attach", { sessionId: this.sessionId, history: { limit: PAGE } })) as Attached);
  }

  private async attach(): Promise<void> {
    const { head, cursor } = this.view;
    if (!head || !cursor) return this.open();
    try {
      const got = await this.daemon.request("agent/session/attach", { sessionId: head.sessionId, since: cursor, history: { limit: PAGE } });
      if (got.mode === "snapshot") return this.show(got as Attached);
      for (const told of got.events ?? []) this.event(told);
      this.view = streaming(this.view, got);
      this.told.fire("whole");
    } catch {
      await this.open();
    }
  }

  private async loadEarlier(): Promise<void> {
    const before = this.view.earlier;
    if (before === null) return;
    const sessionId = this.sessionId;
    const got = await this.daemon.request("agent/session/entries", { sessionId, before, limit: PAGE });
    if (this.view.earlier !== before || this.view.head?.sessionId !== sessionId) return;
    const page = { entries: got.entries, leafId: got.leafId, prevCursor: got.next };
    this.view = withEarlier(this.view, page);
    this.told.fire({ type: "page", page });
  }

  private show(told: Attached): void {
    const left = this.view.head?.sessionId;
    this.view = opened(told);
    if (left && left !== told.sessionId) void this.daemon.request("agent/session/detach", { sessionId: left }).catch(() => undefined);
    this.shown = this.folder?.uri.toString();
    if (this.shown) void this.memory.update(`session:${this.shown}`, told.sessionId);
    this.told.fire("whole");
  }

  private event(told: EventParams): void {
    const { head, cursor } = this.view;
    if (told.sessionId !== head?.sessionId || !cursor) return;
    if (told.epoch === cursor.epoch && told.seq <= cursor.seq) return; // known already
    if (told.epoch !== cursor.epoch || told.seq !== cursor.seq + 1) return void this.reload().catch(() => undefined);
    this.view = applied(this.view, told);
    this.told.fire({ type: "event", told });
    this.happened.fire(told.event);
    if (told.event.type === "leaf" && told.event.cause === "navigate") void this.reload().catch(() => undefined);
  }

  private sign(told: UiUpdateParams): void {
    if (told.sessionId !== this.view.head?.sessionId) return;
    if (told.kind === "editorText" && told.payload !== null) return this.suggested.fire(String(told.payload));
    this.view = signed(this.view, told);
    this.told.fire({ type: "sign", told });
  }

  private delta(told: DeltaParams): void {
    if (told.sessionId !== this.view.head?.sessionId) return;
    this.view = grown(this.view, told);
    this.told.fire({ type: "delta", told });
  }
}

/** Texts that waited, as what stands in a box: first what was typed, then what came along, but for what comes along anew. */
export function draftOf(items: readonly QueueItem[]): Draft {
  const texts: string[] = [];
  const attachments: Attachment[] = [];
  for (const item of items) item.content.forEach((block, index) => {
    if (block.type !== "text") attachments.push({ label: block.type === "image" ? PICTURE : block.type, block });
    else if (!index) texts.push(block.text);
    else if (!block.context) attachments.push({ label: block.text.split("\n")[0] ?? "", block });
  });
  return { text: texts.join("\n\n"), attachments };
}

/** What the person looks at goes along, as its address. */
function editorContext(): { activeEditor: { uri: string; version: number; languageId: string } } | undefined {
  const document = vscode.window.activeTextEditor?.document;
  if (!document || !vscode.workspace.getConfiguration("singletree").get<boolean>("tellActiveFile", true)) return undefined;
  if (document.uri.scheme !== "file" && document.uri.scheme !== "untitled") return undefined;
  return { activeEditor: { uri: document.uri.toString(), version: document.version, languageId: document.languageId } };
}
