/**
 * What else a person meets, in a dark theme: dialogs and signs of extensions, commands, an error tried
 * again, an answer from another editor, a daemon that dies, a program that is missing, a long past.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Window } from "./page.ts";
import { askedElsewhere } from "./peer.ts";
import { need, serve, type Server } from "./server.ts";

const GUEST = `
from singletree.extensions.dialog import Choosable, Dialog

FORM = {"type": "object", "required": ["name"], "properties": {
    "name": {"type": "string", "title": "Name"}, "count": {"type": "integer", "default": 3},
    "size": {"enum": ["small", "large"]}, "loud": {"type": "boolean", "description": "In capitals."}}}
DIALOGS = [
    Dialog("select", "Which environment?", options=(Choosable("dev", "Development", "On this machine."), Choosable("prod", "Production"))),
    Dialog("confirm", "Deploy now?", "It takes a minute."), Dialog("input", "Under which name?", prefill="v1"),
    Dialog("editor", "What changed?"), Dialog("form", "How?", schema=FORM)]

def setup(api):
    async def ask(words):
        return "Answers: " + " | ".join([str((await api.show(one)).value) for one in DIALOGS])

    async def sign(words):
        api.sign("status", "3 checks wait", key="a")
        api.sign("widget", ["build: green", "tests: 12 of 14"], key="b")
        api.sign("editorText", "a text for the box", key="c")

    api.command("questions", "Ask everything there is to ask.", ask)
    api.command("signs", "Put up signs.", sign)
`;

const SCRIPT = [
  { text: "Nothing to say.", repeat: true },
  { when: "break", loop: true },
  { error: "The key was refused.", code: "auth_failed" },
  { text: "Mended." },
  { when: "ask there", loop: true },
  { call: "bash", args: { command: "echo allowed elsewhere" } },
  { text: "It was allowed." },
  { when: "ask here", loop: true },
  { call: "bash", args: { command: "echo as it was" } },
  { text: "It was allowed here." },
  { when: "remember", loop: true },
  { call: "bash", args: { command: "echo remembered" } },
  { text: "It is remembered." },
  { when: "where", loop: true },
  { call: "ls", args: {} },
  { text: "Here." },
  { when: "go on", loop: true },
  { delay: 4, text: "It went on." },
  { when: "many", loop: true },
  { call: "ls", args: {}, repeat: 45 },
  { text: "Enough." },
];

const FILES = { "a.txt": "a\n", ".pi/SYSTEM.md": "Be brief.\n", "docs/deep one.md": "# Deep\n", "built/deep.js": "0\n", ".gitignore": "built/\n" };

let server: Server;
let window: Window;

before(async () => {
  server = await serve({ script: SCRIPT, guest: GUEST, files: FILES, settings: { "workbench.colorTheme": "Default Dark Modern" } });
  window = await Window.open(server);
  await window.openChat();
});

after(async () => {
  await window?.shot("faces-last");
  await window?.close();
  await server?.stop();
});

test("what a folder brings along is named, and counts when the person trusts it", async () => {
  const note = window.view.locator(".note", { hasText: "it is not trusted" });
  await note.getByRole("button", { name: "Trust this folder…" }).click();
  const dialog = window.page.locator(".monaco-dialog-box");
  await dialog.getByText(".pi/SYSTEM.md").waitFor();
  await window.shot("19-trust");
  await dialog.getByRole("button", { name: "Trust", exact: true }).click();
  await note.waitFor({ state: "detached" });
});

test("a slash offers the commands; the arrows choose one, and Enter sends only what was not chosen", async () => {
  await window.box.click();
  await window.box.pressSequentially("/");
  const lines = window.view.locator(".completion");
  await lines.first().waitFor();
  await window.shot("20-commands");
  await window.box.pressSequentially("que");
  await lines.filter({ hasText: "/questions" }).waitFor();
  await lines.filter({ hasNotText: "/que" }).first().waitFor({ state: "detached" });
  await window.box.press("ArrowDown");
  await window.box.press("Enter");
  assert.equal(await window.box.inputValue(), "/questions");
});

test("an @ offers the folder's files, and the one that is named goes along", async () => {
  await window.box.fill("");
  await window.box.pressSequentially("look at @dee");
  const lines = window.view.locator(".completion");
  await lines.filter({ hasText: "deep one.md" }).waitFor();
  assert.equal(await lines.count(), 1, "what git ignores is not offered");
  await window.shot("20-files");
  await window.box.press("Tab");
  assert.equal(await window.box.inputValue(), 'look at @"docs/deep one.md" ');
  await window.box.press("Enter");
  await window.view.locator(".row.user .along", { hasText: "docs/deep one.md" }).waitFor();
  await window.rests();
});

test("who answers is not shown pictures: that is said before they are sent, and a chip takes one away", async () => {
  await window.pastePicture(60, 40);
  const chip = window.view.locator(".chip", { has: window.view.locator("img") });
  await chip.waitFor();
  await window.view.getByText("is not shown pictures").waitFor();
  await window.shot("20-blind");
  await window.drop("notes.txt", "text/plain", "no picture");
  await window.view.locator(".failure", { hasText: "notes.txt is no picture." }).waitFor();
  await window.view.locator(".failure button").click();
  await chip.getByRole("button").focus();
  await window.page.keyboard.press("Enter");
  await chip.waitFor({ state: "detached" });
  assert.equal(await window.view.getByText("is not shown pictures").isVisible(), false);
});

test("the five dialogs are answered where the conversation is", async () => {
  await window.say("/questions");
  const card = window.view.locator(".card");
  await card.getByText("Which environment?").waitFor();
  await window.shot("21-select");
  await card.getByRole("button", { name: "Production" }).click();
  await card.getByRole("button", { name: "Yes" }).click();
  await card.getByText("Under which name?").waitFor();
  await card.locator("input").fill("v2");
  await card.locator("input").press("Enter");
  await card.locator("textarea").fill("two lines");
  await card.getByRole("button", { name: "OK" }).click();
  await card.getByText("How?").waitFor();
  await card.locator("input[type=text]").fill("Kim");
  await card.locator("select").selectOption("large");
  await window.shot("22-form");
  await card.getByRole("button", { name: "OK" }).click();
  await card.waitFor({ state: "hidden" });
  await window.shows(/Answers: prod \| True \| v2 \| two lines \| .*'name': 'Kim'.*'count': 3.*'size': 'large'.*'loud': False/);
});

test("signs stand round the conversation, and a text for the box is put before what is there", async () => {
  await window.say("/signs");
  await window.view.locator(".widget", { hasText: "tests: 12 of 14" }).waitFor();
  await window.view.locator(".doing", { hasText: "3 checks wait" }).waitFor();
  assert.equal(await window.box.inputValue(), "a text for the box");
  await window.shot("23-signs");
  await window.box.fill("");
});

test("an error says what happened, and can be tried again", async () => {
  await window.say("break");
  await window.view.locator(".note.error", { hasText: "The key was refused." }).waitFor();
  await window.shot("24-error");
  await window.view.getByRole("button", { name: "Try again" }).click();
  await window.shows("Mended.");
  assert.equal(await window.view.locator(".note.error").count(), 0);
  assert.equal(await window.view.locator(".row.user", { hasText: "break" }).count(), 1);
});

test("a command can be changed before it is allowed", async () => {
  await window.say("ask here");
  await window.view.getByRole("button", { name: "Change the command" }).click();
  await window.view.locator("textarea.command").fill("echo changed");
  await window.shot("29-change");
  await window.view.getByRole("button", { name: "Allow once" }).click();
  await window.shows("It was allowed here.");
  await window.view.locator(".row.tool", { hasText: "bash" }).last().locator("summary").first().click();
  await window.view.locator(".row.tool .code pre", { hasText: /\]\s*changed/ }).waitFor();
});

test("a remembered answer is listed, and forgotten", async () => {
  await window.rests();
  await window.say("remember");
  await window.view.getByRole("button", { name: "in this session" }).click();
  await window.view.locator(".card").waitFor({ state: "hidden" });
  await window.rests();
  await window.command("Singletree: Remembered answers");
  await window.pick("bash: echo");
  await window.shot("30-rules");
  await window.page.keyboard.press("Enter");
  await window.page.locator(".quick-input-widget").waitFor({ state: "hidden" });
});

test("after a reload the question stands there again and a long past comes by the page; another editor answers", async () => {
  await window.say("many");
  await window.shows("Enough.");
  await window.rests();
  await window.say("ask there");
  await window.view.locator(".card").waitFor();
  await window.shot("25-command");
  const allow = await askedElsewhere(server);
  await window.page.reload({ waitUntil: "domcontentloaded" });
  await window.view.locator(".card", { hasText: "echo allowed elsewhere" }).waitFor();
  const calls = window.view.locator(".row.tool", { has: window.view.getByText("ls", { exact: true }) });
  assert.ok((await calls.count()) < 45);
  await window.view.locator(".scroller").evaluate((scroller) => (scroller.scrollTop = 0));
  await window.view.locator(".row.user", { hasText: "ask here" }).waitFor({ state: "attached" });
  assert.equal(await calls.count(), 45);
  await window.view.locator(".latest").click();
  allow();
  await window.view.locator(".card").waitFor({ state: "hidden" });
  await window.shows("It was allowed.");
});

test("a daemon that ends is started again, and the conversation goes on", async () => {
  spawnSync(need("SINGLETREE"), ["stop"], { env: server.env });
  await window.view.locator(".trouble").waitFor();
  await window.shot("26-down");
  await window.view.locator(".trouble").waitFor({ state: "hidden" });
  await window.say("and now?");
  await window.shows("Nothing to say.");
  assert.equal(await window.view.locator(".row", { hasText: "It was allowed." }).count(), 1);
});

test("a session gets a name, another one is begun, and the list leads back", async () => {
  await window.command("Singletree: Rename the session");
  const input = window.page.locator(".quick-input-widget input").first();
  await input.fill("The long one");
  await input.press("Enter");
  await window.view.locator(".strip .name", { hasText: "The long one" }).waitFor();
  await window.command("Singletree: New session");
  await window.view.locator(".strip .name", { hasText: "New conversation" }).waitFor();
  await window.view.locator(".row").first().waitFor({ state: "detached" });
  await window.command("Singletree: Sessions");
  await window.shot("31-sessions");
  await window.pick("The long one");
  await window.shows("It was allowed.");
});

test("a narrow sidebar cuts nothing off", async () => {
  await window.page.mouse.move(350, 600);
  await window.page.mouse.down();
  await window.page.mouse.move(250, 600, { steps: 4 });
  await window.page.mouse.up();
  await window.shot("27-narrow");
  const over = await window.view.locator(".bar, .strip, .card, .row").evaluateAll((all) => all.filter((one) => one.scrollWidth > one.clientWidth + 1).length);
  assert.equal(over, 0);
});

test("a program that is missing is told in one message, with a way to name it; once it is there it starts", async () => {
  const place = join(server.home, "no-such-singletree");
  server.set({ "singletree.command": place });
  await window.page.reload({ waitUntil: "domcontentloaded" });
  await window.view.locator(".trouble", { hasText: "no-such-singletree" }).waitFor();
  await window.shot("28-missing");
  await window.view.getByRole("button", { name: "Open settings" }).click();
  await window.page.locator(".settings-editor").waitFor();
  symlinkSync(need("SINGLETREE"), place);
  await window.view.locator(".trouble").waitFor({ state: "hidden" });
  await window.shows("Nothing to say.");
});

test("a window with several folders has a session for each; one whose folder is taken away goes on", async () => {
  mkdirSync(join(server.home, "second"));
  writeFileSync(join(server.home, "second", "only-here.txt"), "");
  await window.page.goto(server.folders("project", "second"), { waitUntil: "domcontentloaded" });
  await window.openChat();
  const folder = window.view.locator(".strip .folder");
  await folder.filter({ hasText: "project" }).waitFor();
  await window.shows("It was allowed.");
  await folder.press("Enter");
  await window.pick("second");
  await folder.filter({ hasText: "second" }).waitFor();
  await window.view.locator(".row").first().waitFor({ state: "detached" });
  await window.say("where");
  await window.shows("Here.");
  await window.view.locator(".row.tool summary").first().click();
  await window.view.locator(".row.tool .code pre", { hasText: "only-here.txt" }).waitFor();
  await window.shot("32-folders");
  await window.say("go on");
  await window.view.locator(".round.stop").waitFor();
  server.folders("project");
  await window.shows("It was allowed.");
  assert.equal(await folder.isVisible(), false);
  await window.page.waitForTimeout(4000);
  server.folders("project", "second");
  await folder.filter({ hasText: "second" }).waitFor();
  await window.shows("It went on.");
  await window.shot("33-folder-back");
});
