/** Events in, items out. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { DeltaParams, Entry, SessionEvent, ToolEvent } from "../../src/protocol";
import { newTool, wholeOf } from "../../src/shared/entries";
import { grown, MOST_ITEMS, signed, streaming, withEarlier } from "../../src/shared/reduce";
import { after, answer, base, delta, person, read, result, session, STATE, USAGE } from "./told";

test("what streams and what is stored are one item", () => {
  let view = after(session(), { type: "entry", entry: person("u", "hello") }, { type: "item_started", itemId: "a", kind: "text", part: 0 });
  view = grown(grown(view, delta(0, 1, "one ")), delta(1, 2, "two"));
  assert.deepEqual(read(view), ["> hello", "text: one two…"]);
  view = after(view, { type: "item_ended", itemId: "a", kind: "text", part: 0, content: { type: "text", text: "one two." } });
  view = after(view, { type: "entry", entry: answer("a", [{ type: "text", text: "one two." }]) });
  assert.deepEqual(read(view), ["> hello", "text: one two."]);
});

test("after a hole nothing is added until the end tells it", () => {
  let view = after(session(), { type: "item_started", itemId: "a", kind: "text", part: 0 });
  view = grown(grown(grown(view, delta(0, 1, "one ")), delta(3, 4, "four ")), delta(4, 5, "five"));
  assert.deepEqual(read(view), ["text: one …"]);
  view = after(view, { type: "item_ended", itemId: "a", kind: "text", part: 0, content: { type: "text", text: "all" } });
  assert.deepEqual(read(view), ["text: all"]);
});

test("a part that was thrown away is gone", () => {
  const begun = after(session(), { type: "item_started", itemId: "a", kind: "text", part: 0 });
  assert.deepEqual(read(after(begun, { type: "item_ended", itemId: "a", kind: "text", part: 0, content: null })), []);
});

test("a call is told in pieces: absent is unchanged, null is cleared", () => {
  let view = after(
    session(), { type: "item_started", itemId: "a", kind: "tool", part: 0, toolCallId: "c", name: "ls" },
    { type: "tool", toolCallId: "c", status: "pending", name: "ls", title: "ls src", input: { path: "src" }, requestId: "q" },
    { type: "tool", toolCallId: "c", status: "running", requestId: null },
  );
  view = grown(view, delta(0, 1, "x.py", "toolOutput", "c"));
  assert.deepEqual(read(view), ["[ls src: running] x.py"]);
  const content = [{ type: "text" as const, text: "x.py\ny.py" }];
  view = after(view, { type: "tool", toolCallId: "c", status: "completed", durationMs: 4, result: { content, isError: false } });
  assert.deepEqual(read(view), ["[ls src: completed] x.py\ny.py"]);
  assert.deepEqual(read(after(view, { type: "entry", entry: result("r", "c", "x.py\ny.py") })), ["[ls src: completed] x.py\ny.py"]);
});

test("arguments stream into their call, then its output, also for who comes late", () => {
  const begun: SessionEvent[] = [
    { type: "item_started", itemId: "a", kind: "tool", part: 1, toolCallId: "c", name: "bash" },
    { type: "tool", toolCallId: "c", status: "streaming", itemId: "a", part: 1, name: "bash", title: "bash" },
  ];
  const args = (from: number, text: string): DeltaParams => ({ ...delta(from, from + 1, text, "toolArgs"), part: 1 });
  const view = grown(grown(after(session(), ...begun), args(0, '{"command": "ec')), args(1, 'ho hi"'));
  const inFlight = [{ itemId: "a", kind: "toolArgs" as const, part: 1, to: 2, text: '{"command": "echo hi"', toolCallId: "c", name: "bash" }];
  for (const now of [view, session([], { tools: [begun[1] as ToolEvent], inFlight })]) {
    const call = grown(now, args(2, "}")).items[0];
    assert.deepEqual(call?.kind === "tool" && [call.args, call.status], ['{"command": "echo hi"}', "streaming"]);
    const ended = { type: "entry" as const, entry: answer("a", [{ type: "text", text: "" }, { type: "toolCall", id: "c", name: "bash", arguments: { command: "echo hi" } }], "toolUse") };
    const running: SessionEvent = { type: "tool", toolCallId: "c", status: "running", input: { command: "echo hi" } };
    const run = grown(after(now, ended, running), delta(0, 1, "hi", "toolOutput", "c"));
    assert.deepEqual(run.items.map((item) => item.kind === "tool" && [item.args, item.output, item.status]), [["", "hi", "running"]]);
  }
});

test("output streams into a call that is stored already, also for who comes late", () => {
  const call = answer("a", [{ type: "toolCall", id: "c", name: "bash", arguments: { command: "make" } }], "toolUse");
  const live = after(session(), { type: "item_started", itemId: "a", kind: "tool", part: 0, toolCallId: "c", name: "bash" }, { type: "entry", entry: call });
  const running = after(live, { type: "tool", toolCallId: "c", status: "running" });
  assert.deepEqual(read(grown(running, delta(0, 1, "one", "toolOutput", "c"))), ["[bash make: running] one"]);
  const late = session([call], { tools: [{ type: "tool", toolCallId: "c", status: "running" }] });
  assert.deepEqual(read(grown(late, delta(0, 1, "one", "toolOutput", "c"))), ["[bash make: running] one"]);
});

test("a rejected call stays rejected when its result is stored", () => {
  const call = answer("a", [{ type: "toolCall", id: "c", name: "bash", arguments: { command: "rm x\nrm y" } }], "toolUse");
  const view = after(session([call]), { type: "tool", toolCallId: "c", status: "rejected" }, { type: "entry", entry: result("r", "c", "no", true) });
  assert.deepEqual(read(view), ["[bash rm x: rejected] no"]);
});

test("a session opened in mid-turn goes on where it is", () => {
  const flying = { itemId: "a", kind: "text" as const, part: 0, to: 7, text: "so far" };
  const view = session([person("u", "hello")], { inFlight: [flying], tools: [{ type: "tool", toolCallId: "c", status: "running", name: "ls", title: "ls" }] });
  assert.deepEqual(read(view), ["> hello", "[ls: running]", "text: so far…"]);
  assert.deepEqual(read(grown(view, delta(7, 8, ", on"))).at(-1), "text: so far, on…");
  assert.deepEqual(read(streaming(view, { tools: [], inFlight: [{ ...flying, to: 9, text: "so far, so good" }] })).at(-1), "text: so far, so good…");
});

test("an earlier page brings the call of a result that stood first", () => {
  const call = answer("a", [{ type: "toolCall", id: "c", name: "ls", arguments: { path: "src" } }], "toolUse");
  const page = { entries: [person("u1", "first"), call], leafId: null, prevCursor: "u1" };
  const view = withEarlier(session([result("r", "c", "x.py"), person("u2", "more")]), page);
  assert.deepEqual(read(view), ["> first", "[ls src: completed] x.py", "> more"]);
  assert.equal(view.earlier, "u1");
});

test("an error is told once, with its hint", () => {
  const error = { code: "auth_failed", message: "The key was refused.", hint: "Log in.", retryable: false };
  const view = after(
    session([person("u", "hello")]), { type: "entry", entry: answer("a", [], "error") },
    { type: "turn_ended", turnId: "t", reason: "error", usage: USAGE, error },
  );
  assert.deepEqual(read(view), ["> hello", "(error: The key was refused.)"]);
  const note = view.items.at(-1);
  assert.equal(note?.kind === "note" && note.hint, "Log in.");
});

test("a compaction is one note from its begin to its end", () => {
  const begun = after(session(), { type: "compaction", id: "k", status: "started", reason: "manual" });
  assert.notEqual(begun.activity, null);
  const figures = { firstKeptEntryId: "x", tokensBefore: 12_000, summary: "## Goal" };
  const told = { ...figures, entryId: "e9", tokensAfterEstimate: 900, usage: USAGE, details: { readFiles: [], modifiedFiles: [] } };
  const stored: Entry = { ...base("e9"), type: "compaction", ...figures };
  const done = after(begun, { type: "entry", entry: stored }, { type: "compaction", id: "k", status: "completed", reason: "manual", result: told });
  assert.deepEqual(read(done), ["(quiet: Compacted: 12.0k to about 900 tokens)"]);
  assert.equal(done.activity, null);
});

test("a call cut short in a session at rest does not wait for ever", () => {
  const view = session([answer("a", [{ type: "toolCall", id: "c", name: "ls", arguments: {} }], "aborted")]);
  assert.deepEqual(read(view), ["[ls: cancelled]", "(quiet: Stopped)"]);
});

test("what is not known is ignored, and the cursor moves on", () => {
  const view = after(session(), { type: "weather", sunny: true } as unknown as SessionEvent);
  assert.deepEqual(read(view), []);
  assert.equal(view.cursor?.seq, 1);
});

test("an item that did not change is the same object", () => {
  const view = session([person("u", "hello")]);
  assert.equal(after(view, { type: "item_started", itemId: "a", kind: "text", part: 0 }).items[0], view.items[0]);
});

test("a very long session lets go of its oldest, and can load it again", () => {
  const many = Array.from({ length: MOST_ITEMS + 10 }, (_, index) => person(`u${index}`, "x"));
  const view = after(session(many), { type: "settled" });
  assert.equal(view.items.length, MOST_ITEMS);
  assert.equal(view.earlier, "u10");
});

test("a person's pictures stand apart from their words", () => {
  const picture = { type: "image" as const, data: "AAAA", mimeType: "image/png" };
  const entry = person("u", "");
  if (entry.type === "message" && entry.message.role === "user") entry.message.content = [picture, { type: "text", text: "what?" }, { type: "text", text: "The editor shows x." }];
  const [item] = session([entry]).items;
  assert.deepEqual(item, { kind: "user", key: "u", text: "what?", attached: ["The editor shows x."], pictures: [picture] });
});

test("signs stand until they are taken down, and a notice is a line", () => {
  const sign = { sessionId: "s", key: "k" };
  let view = signed(session(), { ...sign, kind: "status", payload: "one" });
  view = signed(view, { ...sign, kind: "widget", payload: ["a", "b"] });
  view = signed(view, { ...sign, kind: "status", payload: "two" });
  assert.deepEqual(view.signs, [{ kind: "widget", key: "k", lines: ["a", "b"] }, { kind: "status", key: "k", lines: ["two"] }]);
  view = signed(signed(view, { ...sign, kind: "status", payload: null }), { ...sign, kind: "notice", payload: "first\nmore" });
  assert.deepEqual(view.signs.map((one) => one.kind), ["widget"]);
  assert.deepEqual(read(view), ["(told: first)"]);
});

test("what does not count for want of trust stands there until the folder is trusted", () => {
  const skipped = [{ kind: "skills", path: "/w/.pi/skills" }];
  const config = { type: "config" as const, model: "a/b", images: true, thinking: "off" as const, name: null, tools: [], mode: "ask" };
  const told = after(session(), { ...config, trusted: false, skipped });
  const note = "(quiet: Not all of this folder's own settings count, since it is not trusted)";
  assert.deepEqual(read(told), [note]);
  assert.ok(told.items[0]?.kind === "note" && told.items[0].trust);
  assert.equal(after(told, { ...config, trusted: false, skipped }).items, told.items);
  assert.deepEqual(read(after(told, { ...config, trusted: true, skipped: [] })), []);
});

test("what was wrong at the beginning and what is told later are lines of their own", () => {
  const warnings = [{ code: "a", message: "one" }, { code: "b", message: "two" }];
  const view = after(session([], { state: { ...STATE, warnings } }), { type: "warning", code: "c", message: "three" });
  assert.deepEqual(read(view), ["(warning: one)", "(warning: two)", "(warning: three)"]);
  assert.equal(new Set(view.items.map((item) => item.key)).size, 3);
});

test("what was cut is opened by its name", () => {
  const call = newTool("c", "edit");
  const at = (name: string): string => `agent://s/tool/c/${name}`;
  assert.equal(wholeOf(call), null);
  assert.equal(wholeOf({ ...call, cut: at("changes.diff") }), null);
  assert.deepEqual(wholeOf({ ...call, cut: at("input.json") }), { uri: at("input.json"), text: "Open all arguments" });
  assert.deepEqual(wholeOf({ ...call, cut: at("output.txt") }), { uri: at("output.txt"), text: "Open the whole output" });
  const truncation = { fullOutputUri: "file:///tmp/o" };
  assert.equal(wholeOf({ ...call, truncation, cut: at("input.json") })?.uri, "file:///tmp/o");
});
