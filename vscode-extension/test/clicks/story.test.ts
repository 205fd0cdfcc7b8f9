/**
 * The story, by clicks and keys in the real VS Code: prompt, stream, a tool with leave, an edit of a file
 * with unsaved text, undo, steer, stop, a jump with a summary, compaction, a reload in mid-turn.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Window } from "./page.ts";
import { SCRIPT } from "./script.ts";
import { serve, type Server } from "./server.ts";

let server: Server;
let window: Window;

before(async () => {
  server = await serve({ script: SCRIPT, files: { "notes.txt": "first line\nsecond line\nthird line\n", "other.txt": "other\n" } });
  window = await Window.open(server);
  await window.openChat();
});

after(async () => {
  await window?.shot("last");
  await window?.close();
  await server?.stop();
});

test("a prompt streams as Markdown, with thinking folded and tags as text", async () => {
  await window.shot("01-empty");
  await window.say("show me");
  await window.view.locator(".answer.streaming").waitFor();
  await window.shot("02-streaming");
  await window.shows("This tag stays text");
  await window.rests();
  const answer = window.view.locator(".row.answer").last();
  assert.equal(await answer.locator("h1").textContent(), "A short tour");
  assert.equal(await answer.locator("b").count(), 0);
  assert.equal(await answer.locator("ol li").count(), 2);
  assert.equal(await window.view.locator("details.thinking[open]").count(), 0);
  const ground = await answer.locator(".code").evaluate((code) => getComputedStyle(code).backgroundColor);
  assert.doesNotMatch(ground, /^(transparent|rgba\(.*, 0\))$/, "code stands on a ground of its own");
  await window.shot("03-answer");
});

test("a command waits for permission, given by the keyboard, and its line opens", async () => {
  await window.say("run it");
  const allow = window.view.getByRole("button", { name: "Allow once" });
  await allow.waitFor();
  await window.view.locator(".reason code", { hasText: "sleep 1.5" }).waitFor();
  await window.shot("04-permission");
  await window.box.press("Shift+Tab");
  for (let steps = 0; steps < 12 && !(await allow.evaluate((button) => button === document.activeElement)); steps++) {
    await window.page.keyboard.press("Shift+Tab");
  }
  await window.page.keyboard.press("Enter");
  const line = window.view.locator(".row.tool", { hasText: "bash" }).last();
  await line.locator("summary").first().click();
  await line.locator(".code pre", { hasText: "two" }).waitFor();
  assert.equal(await line.getAttribute("data-status"), "running", "its output streams");
  await window.shows("It ran.");
  await window.rests();
  assert.match((await line.locator(".code pre").textContent()) ?? "", /one\ntwo/);
  assert.equal(await line.getAttribute("data-status"), "completed");
  await window.shot("05-tool-open");
});

test("an edit of a file with unsaved text goes into its buffer, and one undo takes it back", async () => {
  await window.openFile("notes.txt");
  await window.page.keyboard.press("Control+Home");
  await window.page.keyboard.type("unsaved ");
  await window.say("edit it");
  const streaming = window.view.locator('.row.tool[data-status="streaming"]', { hasText: "notes.txt" });
  await streaming.locator("summary").click({ delay: 250 }); // its line is drawn anew meanwhile
  await streaming.locator(".arguments pre", { hasText: "second" }).waitFor();
  await window.shot("06-arguments");
  await window.view.locator(".card .diff").waitFor();
  await window.shot("06-edit-permission");
  await window.view.getByRole("button", { name: "Allow once" }).click();
  await window.shows("It is edited.");
  await window.rests();
  assert.match(await window.editorText(), /unsaved first line.*2nd line/s);
  await window.page.locator(".tab.active.dirty").waitFor();
  await window.shot("07-edited");
  await window.page.locator(".editor-instance .view-line").first().click();
  await window.page.keyboard.press("Control+Z");
  await window.editorShows(/unsaved first line.*second line/s);
});

test("the diff of a call opens in the diff editor", async () => {
  await window.view.getByRole("button", { name: "Open the diff" }).click();
  await window.page.locator(".monaco-diff-editor").waitFor();
  await window.shot("08-diff");
  await window.page.keyboard.press("Control+F4");
});

test("a word said while a turn runs steers it", async () => {
  await window.say("look round");
  await window.view.locator(".answer.streaming").waitFor();
  await window.say("steer left");
  await window.shows("Left it is.");
  await window.rests();
  assert.equal(await window.view.locator(".row", { hasText: "Nobody steered." }).count(), 0);
});

test("stop ends the turn, and what waited comes back into the box", async () => {
  await window.say("talk on");
  await window.view.locator(".answer.streaming").waitFor();
  await window.say("and then this", "Alt+Enter");
  await window.view.locator(".queued", { hasText: "and then this" }).waitFor();
  await window.shot("09-queued");
  await window.view.locator(".round.stop").click();
  await window.rests();
  await window.shows("Stopped");
  await window.holds("and then this");
  await window.shot("09-returned");
  await window.view.locator(".queued").first().waitFor({ state: "detached" });
  await window.box.fill("");
});

test("a jump in the tree, with a summary", async () => {
  await window.openTree();
  await window.treeRow("It ran.").click();
  await window.offers("with a summary of what is left");
  await window.shot("10-jump");
  await window.pick("with a summary of what is left");
  await window.view.locator(".note", { hasText: "Summary of the branch that was left" }).waitFor();
  await window.view.locator(".row", { hasText: "Left it is." }).first().waitFor({ state: "detached" });
  await window.treeRow("●").waitFor();
  await window.shot("11-tree");
});

test("a press on a row counts, though rows come while the button is held", async () => {
  await window.say("slowly");
  const place = await window.treeRow("show me").boundingBox();
  assert.ok(place);
  await window.page.mouse.move(place.x + 90, place.y + 8);
  await window.page.mouse.down();
  await window.treeRow("Slowly said.").waitFor();
  await window.page.mouse.up();
  await window.offers("Say this anew");
  await window.page.keyboard.press("Escape");
  await window.rests();
});

test("the tree is gone through with keys: a label, a branch shut and opened, a menu", async () => {
  const row = window.treeRow("It ran.");
  await row.focus();
  await row.press("F2");
  const input = window.page.locator(".quick-input-widget input").first();
  await input.fill("good");
  await input.press("Enter");
  await row.locator(".badge", { hasText: "good" }).waitFor();
  const above = window.tree.locator('.entry[aria-expanded="true"]').last();
  const lines = await window.tree.locator(".entry").count();
  await above.press("ArrowLeft");
  assert.ok((await window.tree.locator(".entry").count()) < lines);
  await window.shot("11-tree-shut");
  await window.tree.locator('.entry[aria-expanded="false"]').press("ArrowRight");
  assert.equal(await window.tree.locator(".entry").count(), lines);
  await window.treeRow("show me").press("ArrowDown");
  await window.tree.locator(".entry:focus", { hasText: "A short tour" }).waitFor();
  await row.pressSequentially("tour");
  await window.tree.locator(".entry:focus", { hasText: "A short tour" }).waitFor();
  await window.tree.locator(".sought", { hasText: "tour" }).waitFor();
  const colour = (text: string): Promise<string> => window.treeRow(text).evaluate((line) => getComputedStyle(line).color);
  assert.notEqual(await colour("edit it"), await colour("run it"), "a branch that was left is told from the path");
  await window.shot("11-tree-sought");
  await row.click({ button: "right" });
  await window.page.getByRole("menuitem", { name: "Begin a new session from here" }).waitFor();
  await window.shot("11-tree-menu");
  await window.page.keyboard.press("Escape");
});

test("a person's own message comes back to be said otherwise", async () => {
  await window.treeRow("run it").click();
  await window.pick("Say this anew");
  await window.view.locator(".composer textarea").and(window.view.locator(":focus")).waitFor();
  assert.equal(await window.box.inputValue(), "run it");
  await window.box.fill("");
  await window.treeHeader.click();
});

test("compaction leaves a note with figures", async () => {
  await window.say("show me");
  await window.view.locator(".row.answer", { hasText: "This tag stays text" }).nth(1).waitFor();
  await window.rests();
  await window.say("fill up");
  await window.shows("takes room");
  await window.rests();
  await window.command("Singletree: Sum up the conversation");
  await window.view.locator(".note", { hasText: "Compacted:" }).waitFor();
  await window.shot("12-compacted");
});

test("pictures are pasted or dropped, made small enough, sent, and shown with the message", async () => {
  await window.pastePicture(3000, 300);
  const chips = window.view.locator(".chip img");
  await chips.first().waitFor();
  await window.drop("drawn.svg", "image/svg+xml", '<svg xmlns="http://www.w3.org/2000/svg" width="90" height="60"><circle cx="45" cy="30" r="28" fill="teal"/></svg>');
  await chips.nth(1).waitFor();
  assert.equal(await chips.first().evaluate((img: HTMLImageElement) => img.naturalWidth), 2000);
  assert.equal(await window.view.getByText("is not shown pictures").isVisible(), false);
  await window.shot("03-chips");
  await window.say("what is this?");
  const shown = window.view.locator(".row.user", { hasText: "what is this?" }).locator("img");
  await shown.nth(1).waitFor();
  await chips.first().waitFor({ state: "detached" });
  await window.rests();
  await window.shot("03-pictures");
});

test("a reload in mid-turn loses nothing and doubles nothing", async () => {
  await window.say("count");
  await window.shows(/n1 n2 n3/);
  await window.box.pressSequentially("half a thought");
  await window.page.waitForTimeout(400);
  await window.page.reload({ waitUntil: "domcontentloaded" });
  await window.box.waitFor();
  await window.view.locator(".answer.streaming").waitFor();
  await window.shot("13-reloaded");
  assert.equal(await window.box.inputValue(), "half a thought");
  const early = await counted();
  await window.page.waitForTimeout(1000);
  await window.view.locator(".round.stop").click();
  await window.rests();
  assert.ok((await counted()) > early, "it went on after the reload");
  assert.equal(await window.view.locator(".row.user", { hasText: "count" }).count(), 1);
});

/** How far the model has counted on the screen, with no number left out and none twice. */
async function counted(): Promise<number> {
  const texts = (await window.view.locator(".row.answer").allTextContents()).filter((text) => /^\s*n1 n2/.test(text));
  assert.equal(texts.length, 1);
  const numbers = (texts[0] ?? "").trim().split(" ").slice(0, -1); // the last may be half of one
  assert.deepEqual(numbers, numbers.map((_, index) => `n${index + 1}`));
  return numbers.length;
}
