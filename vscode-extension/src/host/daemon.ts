/**
 * The daemon as a language server: found, started, started again with growing pauses, spoken to.
 *
 * Never knows a session. Read next: conversation.ts, which opens one when the daemon is up.
 */
import * as vscode from "vscode";
import {
  CloseAction, ErrorAction, LanguageClient, ResponseError, State, type CloseHandlerResult, type LanguageClientOptions,
} from "vscode-languageclient/node";
import { PROTOCOL_VERSION, type ClientAgent, type ErrorData, type MethodName, type Methods, type Notifications, type ServerRequests } from "../protocol";
import type { Link } from "../shared/view";
import { locate } from "./locate";

const PAUSES = [300, 1000, 3000, 8000, 20_000];
/** Milliseconds until a program that is missing is looked for again. */
const LOOK_AGAIN = 3000;
/** A daemon that lived this long starts with the shortest pause again. */
const LIVED = 60_000;

const DECLARED: ClientAgent = {
  protocolVersions: [PROTOCOL_VERSION],
  events: { delta: true, maxLatencyMs: 33 },
  permissions: {},
  ui: { dialogs: ["select", "confirm", "input", "editor", "form"], status: {}, widgets: {}, notify: {} },
  editor: { applyEdit: "open", read: {}, save: {} },
};

type Answer<M extends keyof ServerRequests> = (
  params: ServerRequests[M]["params"], token: vscode.CancellationToken,
) => Promise<ServerRequests[M]["result"]> | ServerRequests[M]["result"];

export class Daemon implements vscode.Disposable {
  link: Link = { state: "starting" };
  private readonly changed = new vscode.EventEmitter<Link>();
  /** The daemon came up, went down, or could not be found. */
  readonly onLink = this.changed.event;
  private client: LanguageClient | undefined;
  private readonly prepare: ((client: LanguageClient) => void)[] = [];
  private starting: Promise<void> | undefined;
  private looking: NodeJS.Timeout | undefined;
  private deaths = 0;
  private bornAt = 0;
  private disposed = false;

  constructor(private readonly clientId: string, readonly log: vscode.LogOutputChannel) {}

  /** Hear what the daemon tells. Before `start`. */
  hear<N extends keyof Notifications>(name: N, handler: (params: Notifications[N]) => void): void {
    this.prepare.push((client) => client.onNotification(name, handler));
  }

  /** Answer what the daemon asks. Before `start`. */
  answer<M extends keyof ServerRequests>(name: M, handler: Answer<M>): void {
    const answered = (params: ServerRequests[M]["params"], token: vscode.CancellationToken): unknown => handler(params, token);
    this.prepare.push((client) => client.onRequest(name, answered));
  }

  /** Start it unless it runs or is on its way. */
  start(): Promise<void> {
    this.starting ??= this.begin().finally(() => {
      if (!this.client) this.starting = undefined; // the next call looks again
    });
    return this.starting;
  }

  /** Wait until it runs, or until it is clear that it will not by itself. */
  async settled(): Promise<void> {
    await this.start();
    const { link } = this;
    if (link.state !== "starting" && !(link.state === "down" && link.again)) return;
    await new Promise<void>((resolve) => {
      const heard = this.onLink(() => (heard.dispose(), resolve()));
    });
    return this.settled();
  }

  /** End it, look for the program anew, start it. */
  async restart(): Promise<void> {
    const old = this.client;
    this.client = this.starting = undefined;
    this.deaths = 0;
    await old?.dispose().catch(() => undefined); // one that is dead already can't be stopped
    await this.start();
  }

  /** It runs, but the session of the folder can't be had: that is told where the conversation would stand. */
  fail(error: unknown): void {
    const { message, hint } = Refusal.of(error);
    this.tell({ state: "down", text: hint ? `${message} ${hint}` : message, again: false });
  }

  /** Ask the daemon something. Throws Refusal. */
  async request<M extends MethodName>(method: M, params: Methods[M]["params"], token?: vscode.CancellationToken): Promise<Methods[M]["result"]> {
    if (!this.client || this.link.state !== "up") throw new Refusal("The daemon is not running.");
    try {
      // A missing token must not be passed on: it would count as a second parameter.
      const asked = token ? this.client.sendRequest(method, params, token) : this.client.sendRequest(method, params);
      return (await asked) as Methods[M]["result"];
    } catch (error) {
      throw Refusal.of(error);
    }
  }

  dispose(): void {
    this.disposed = true;
    clearTimeout(this.looking);
    this.changed.dispose();
    void this.client?.dispose().catch(() => undefined);
  }

  private async begin(): Promise<void> {
    if (this.disposed) return;
    const settings = vscode.workspace.getConfiguration("singletree");
    const command = settings.get<string>("command", "singletree");
    const found = locate({ command, path: process.env["PATH"] ?? "", trustedFolders: trustedFolders() });
    if (found === null) return this.lack(command);
    this.tell({ state: "starting" });
    const client = this.make(found, settings.get<string[]>("arguments", []));
    this.client = client;
    for (const step of this.prepare) step(client);
    client.onDidChangeState(({ newState }) => this.moved(client, newState));
    await client.start().catch((error: unknown) => this.fallen(client, error));
  }

  /** It may be installed or named at any moment: look again, and say it once. */
  private lack(command: string): void {
    const text = missing(command);
    if (this.link.state !== "missing" || this.link.text !== text) this.tell({ state: "missing", text });
    clearTimeout(this.looking);
    this.looking = setTimeout(() => void this.start(), LOOK_AGAIN);
  }

  private make(command: string, args: string[]): LanguageClient {
    const cwd = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
    const options: LanguageClientOptions = {
      documentSelector: [{ scheme: "file" }, { scheme: "untitled" }],
      initializationOptions: { agent: { ...DECLARED, clientId: this.clientId } },
      initializationFailedHandler: () => false,
      errorHandler: {
        error: () => ({ action: ErrorAction.Continue, handled: true }),
        closed: () => this.died(),
      },
      outputChannel: this.log,
    };
    return new LanguageClient("singletree", "Singletree", { command, args, options: cwd ? { cwd } : {} }, options);
  }

  private moved(client: LanguageClient, state: State): void {
    if (client !== this.client || state !== State.Running) return;
    this.bornAt = Date.now();
    this.tell({ state: "up" });
  }

  private async died(): Promise<CloseHandlerResult> {
    if (Date.now() - this.bornAt > LIVED) this.deaths = 0;
    const pause = PAUSES[this.deaths++];
    if (this.disposed || pause === undefined) {
      this.client = this.starting = undefined;
      this.tell({ state: "down", text: "The daemon ended several times in a row. The log says why.", again: false });
      return { action: CloseAction.DoNotRestart, handled: true };
    }
    this.tell({ state: "down", text: "The daemon ended. It is being started again.", again: true });
    await new Promise((resolve) => setTimeout(resolve, pause));
    return { action: this.disposed ? CloseAction.DoNotRestart : CloseAction.Restart, handled: true };
  }

  private fallen(client: LanguageClient, error: unknown): void {
    if (client !== this.client || this.deaths > 0) return; // being started again
    this.client = this.starting = undefined;
    this.tell({ state: "down", text: `The daemon could not be started: ${Refusal.of(error).message}`, again: false });
  }

  private tell(link: Link): void {
    this.link = link;
    if (!this.disposed) this.changed.fire(link);
  }
}

/** An error answer: one line for a person, with a stable code and perhaps a hint. */
export class Refusal extends Error {
  constructor(message: string, readonly code?: string, readonly hint?: string) {
    super(message);
  }

  static of(error: unknown): Refusal {
    if (error instanceof Refusal) return error;
    if (error instanceof ResponseError) {
      const data = (error.data ?? {}) as ErrorData;
      return new Refusal(error.message, data.code, data.hint);
    }
    return new Refusal(error instanceof Error ? error.message : String(error));
  }
}

function trustedFolders(): string[] {
  if (!vscode.workspace.isTrusted) return [];
  return (vscode.workspace.workspaceFolders ?? []).filter((folder) => folder.uri.scheme === "file").map((folder) => folder.uri.fsPath);
}

function missing(command: string): string {
  return `The program “${command}” was not found. Install it from its sources (see their README), or name its path in the setting singletree.command.`;
}
