// What a person does in an editor made with Microsoft's language client, for a test.
// Arguments: the program to start, a folder, a scene. What was seen is told on stdout, an object a line.
const { spawn } = require("child_process");
const path = require("path");
const { pathToFileURL } = require("url");
const lsp = require("vscode-languageserver-protocol/node");
const { TextDocument } = require("vscode-languageserver-textdocument");

const [program, folder, scene] = process.argv.slice(2);
const AGENT = { protocolVersions: [1], clientId: "node", permissions: {} };
const tell = (what, told = {}) => console.log("TOLD " + JSON.stringify({ what, ...told }));

class Editor {
  constructor(connection) {
    this.connection = connection;
    this.shown = "";
    this.events = [];
    this.messages = [];
    this.progress = [];
    this.asked = [];
    this.waiting = [];
    this.undone = [];
    this.answer = (options) => options[0];
    connection.onNotification("agent/delta", (delta) => {
      if (delta.kind === "text") this.shown += delta.text;
      this.woken();
    });
    connection.onNotification("agent/event", ({ event }) => {
      this.events.push(event);
      this.woken();
    });
    connection.onRequest("agent/permission/request", async (asked) => {
      this.asked.push(asked.title);
      this.woken();
      const option = await this.answer(asked.options);
      return { outcome: "selected", optionId: option.id };
    });
    connection.onRequest(lsp.ShowMessageRequest.type, async (asked) => {
      this.asked.push(asked.message);
      this.woken();
      return this.answer(asked.actions);
    });
    connection.onNotification(lsp.ShowMessageNotification.type, ({ message }) => {
      this.messages.push(message);
      this.woken();
    });
    connection.onRequest(lsp.WorkDoneProgressCreateRequest.type, ({ token }) => {
      connection.onProgress(lsp.WorkDoneProgress.type, token, (value) => {
        this.progress.push({ token, ...value });
        this.woken();
      });
      return null;
    });
    connection.onRequest(lsp.ApplyWorkspaceEditRequest.type, ({ edit }) => this.apply(edit));
  }

  open(name, text) {
    const uri = pathToFileURL(path.join(folder, name)).href;
    this.document = TextDocument.create(uri, "plaintext", 1, text);
    const textDocument = { uri, languageId: "plaintext", version: 1, text };
    this.connection.sendNotification(lsp.DidOpenTextDocumentNotification.type, { textDocument });
  }

  put(text) {
    this.undone.push(this.document.getText());
    this.replace(text);
  }

  replace(text) {
    const version = this.document.version + 1;
    TextDocument.update(this.document, [{ text }], version);
    const textDocument = { uri: this.document.uri, version };
    const contentChanges = [{ text }];
    this.connection.sendNotification(lsp.DidChangeTextDocumentNotification.type, { textDocument, contentChanges });
  }

  apply(edit) {
    const [change] = edit.documentChanges;
    if (change.textDocument.version !== this.document.version) return { applied: false };
    this.put(TextDocument.applyEdits(this.document, change.edits));
    return { applied: true };
  }

  woken() {
    for (const one of [...this.waiting]) one();
  }

  until(reached) {
    return new Promise((resolve) => {
      const look = () => {
        if (!reached()) return;
        this.waiting = this.waiting.filter((one) => one !== look);
        resolve();
      };
      this.waiting.push(look);
      look();
    });
  }

  ended(reason) {
    return this.until(() => this.events.some((e) => e.type === "turn_ended" && e.reason === reason));
  }

  run(command, ...args) {
    return this.connection.sendRequest(lsp.ExecuteCommandRequest.type, { command, arguments: args });
  }
}

const scenes = {
  // Say, stream, ask for permission, edit an open dirty buffer, undo.
  async story(editor, connection) {
    await connection.sendRequest("agent/session/open", { cwd: folder });
    editor.open("a.txt", "one\ntwo\nthree\n");
    editor.put("one\ntwo\nthree\nfour\n");
    await connection.sendRequest("agent/prompt", { content: "go" });
    await editor.until(() => editor.shown.includes("It begins."));
    tell("begun", { shown: editor.shown });
    await editor.ended("end_turn");
    tell("edited", { text: editor.document.getText(), asked: editor.asked, shown: editor.shown });
    editor.replace(editor.undone.pop());
    tell("undone", { text: editor.document.getText() });
  },

  // A question that nobody answers, until the turn is stopped; and a request that is cancelled.
  async ignored(editor, connection) {
    await connection.sendRequest("agent/session/open", { cwd: folder });
    const cancel = new Promise((resolve) => {
      editor.answer = (options) => new Promise((late) => resolve(() => late(options[0])));
    });
    await connection.sendRequest("agent/prompt", { content: "write" });
    const late = await cancel;
    const source = new lsp.CancellationTokenSource();
    const waiting = connection.sendRequest("agent/session/wait", { for: "settled" }, source.token);
    source.cancel();
    const code = await waiting.then(() => 0, (error) => error.code);
    const told = await connection.sendRequest("agent/abort", {});
    late();
    await editor.ended("aborted");
    tell("stopped", { asked: editor.asked, aborted: told.aborted, code });
  },

  // A turn that runs until this process is killed.
  async streaming(editor, connection) {
    await connection.sendRequest("agent/session/open", { cwd: folder });
    await connection.sendRequest("agent/prompt", { content: "go" });
    await editor.until(() => editor.shown.includes("It begins."));
    tell("streaming");
    await new Promise(() => setInterval(() => {}, 1000));
  },

  // A client that knows nothing of agents: commands, progress, LSP's own dialog, texts by address.
  async plain(editor, connection) {
    const refreshed = [];
    let document;
    connection.onRequest(lsp.ShowDocumentRequest.type, ({ uri, takeFocus }) => {
      document = { uri, takeFocus };
      return { success: true };
    });
    connection.onRequest(lsp.TextDocumentContentRefreshRequest.type, ({ uri }) => {
      refreshed.push(uri);
      editor.woken();
      return null;
    });
    const content = async (uri) => (await connection.sendRequest(lsp.TextDocumentContentRequest.type, { uri })).text;
    await editor.run("agent.transcript");
    const before = await content(document.uri);
    await editor.run("agent.prompt", "write");
    await editor.until(() => editor.messages.some((one) => one.includes("agent.transcript")));
    await editor.until(() => editor.progress.some((one) => one.kind === "end"));
    await editor.until(() => refreshed.includes(document.uri));
    const after = await content(document.uri);
    const kinds = editor.progress.map((one) => one.kind);
    tell("told", { asked: editor.asked, messages: editor.messages, kinds, document, before, after });
    editor.messages.length = editor.progress.length = 0;
    await editor.run("agent.prompt", "slow");
    await editor.until(() => editor.progress.some((one) => one.kind === "begin"));
    const { token } = editor.progress[0];
    connection.sendNotification(lsp.WorkDoneProgressCancelNotification.type, { token });
    await editor.until(() => editor.progress.some((one) => one.kind === "end"));
    tell("cancelled", { messages: editor.messages });
  },
};

async function main() {
  const daemon = spawn(program, ["serve", "--stdio"], { stdio: ["pipe", "pipe", "inherit"] });
  const connection = lsp.createProtocolConnection(
    new lsp.StreamMessageReader(daemon.stdout),
    new lsp.StreamMessageWriter(daemon.stdin),
  );
  const editor = new Editor(connection);
  connection.listen();
  const uri = pathToFileURL(folder).href;
  await connection.sendRequest(lsp.InitializeRequest.type, {
    processId: process.pid,
    rootUri: uri,
    workspaceFolders: [{ uri, name: "work" }],
    initializationOptions: scene === "plain" ? undefined : { agent: AGENT },
    capabilities: {
      window: { workDoneProgress: true, showDocument: { support: true } },
      workspace: { applyEdit: true, workspaceEdit: { documentChanges: true }, textDocumentContent: {} },
    },
  });
  connection.sendNotification(lsp.InitializedNotification.type, {});
  await scenes[scene](editor, connection);
  await connection.sendRequest(lsp.ShutdownRequest.type);
  connection.sendNotification(lsp.ExitNotification.type);
  tell("end");
  daemon.once("exit", (code) => process.exit(code));
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
