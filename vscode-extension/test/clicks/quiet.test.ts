/**
 * Somebody types in one file while the agent edits two others and asks for permission: every character is where
 * it was typed, nothing comes into view, and no key answers the question.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Window } from "./page.ts";
import { serve } from "./server.ts";

const EDITS = ["b.ts", "c.ts"].map((path) => ({ tool: "edit", args: { path, edits: [{ oldText: "let", newText: "const" }] } }));
const SCRIPT = [
  { delay: 1, text: "I edit. ".repeat(40), chunk: 8, pause: 0.05, calls: EDITS },
  { call: "bash", args: { command: "echo never" } },
  { text: "Done." },
];
const WORDS = "let y = 1; // only text ";

test("keys typed elsewhere stay there", { timeout: 150_000 }, async () => {
  const files = { "a.ts": "", "b.ts": "let b = 1;\n", "c.ts": "let c = 1;\n" };
  const settings = { "editor.quickSuggestions": { other: "off" }, "editor.suggestOnTriggerCharacters": false, "editor.autoClosingBrackets": "never" };
  const server = await serve({ script: SCRIPT, files, settings, daemon: ["attach", "--mode", "acceptEdits"] });
  const window = await Window.open(server);
  try {
    await window.openChat();
    await window.openFile("b.ts");
    await window.page.keyboard.press("Control+K");
    await window.page.keyboard.press("Enter"); // it keeps its tab
    await window.openFile("a.ts");
    await window.say("edit them");
    await window.page.locator(".editor-instance .view-line").first().click();
    const card = window.view.locator(".card", { hasText: "echo never" });
    const typed: string[] = [];
    while (!(await card.isVisible())) typed.push(await type(window));
    typed.push(await type(window));
    await window.page.keyboard.press("Enter");
    typed.push("\n", await type(window));
    await window.shot("30-quiet");
    assert.equal(await card.isVisible(), true, "the question still waits");
    assert.equal((await window.editorText()).trim(), typed.join("").trim());
    assert.match((await window.page.locator(".tab.active").getAttribute("aria-label")) ?? "", /^a\.ts/);
    assert.equal(await window.page.locator(".tab").count(), 2, "nothing else was opened");
    await card.getByRole("button", { name: "Deny" }).click();
    await window.shows("Done.");
    await window.openFile("b.ts");
    await window.editorShows(/const b = 1/);
  } finally {
    await window.shot("quiet-last");
    await window.close();
    await server.stop();
  }
});

async function type(window: Window): Promise<string> {
  await window.page.keyboard.type(WORDS);
  return WORDS;
}
