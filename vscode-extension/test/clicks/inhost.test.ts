/** Runs test/inhost/ inside the extension host of a VS Code with the extension from this folder. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { browse } from "./page.ts";
import { serve } from "./server.ts";

const edit = (path: string): object => ({ tool: "edit", args: { path, edits: [{ oldText: "first", newText: "1st" }] } });
const NAMES = ["dirty.txt", "clean.txt", "closed.txt"];

test("documents, undo and commands, seen from inside", { timeout: 150_000 }, async () => {
  const files = Object.fromEntries([...NAMES, "front.txt"].map((name) => [name, "first\nsecond\n"]));
  const script = [{ text: "Well.", repeat: true }, { when: "edit all", loop: true }, { calls: NAMES.map(edit) }, { text: "All edited." }];
  const server = await serve({ script, files, flags: ["--vscode-option", "enable-smoke-test-driver"] });
  const browser = await browse();
  try {
    const page = await browser.newPage();
    const remote = (path: string): string => `vscode-remote://${new URL(server.url).host}${fileURLToPath(new URL(path, import.meta.url))}`;
    const payload = [["extensionDevelopmentPath", remote("../..")], ["extensionTestsPath", remote("../../dist/test/inhost.js")], ["skipWelcome", "true"]];
    const logs: string[] = [];
    page.on("console", (message) => message.type() === "error" && logs.push(message.text()));
    const code = new Promise<number>((resolve) => void page.exposeFunction("codeAutomationExit", resolve));
    await page.exposeFunction("codeAutomationLog", (_: string, words: unknown[]) => void logs.push(words.join(" ")));
    await page.goto(`${server.url}&payload=${encodeURIComponent(JSON.stringify(payload))}`);
    assert.equal(await code, 0, logs.join("\n"));
  } finally {
    await browser.close();
    await server.stop();
  }
});
