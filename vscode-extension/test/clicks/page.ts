/**
 * VS Code in a browser, with the words a person would use: open the chat, say something, wait for a text.
 *
 * Read next: story.test.ts.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { chromium, type Browser, type FrameLocator, type Locator, type Page } from "playwright-core";
import { need, type Server } from "./server.ts";

const FLAGS = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
];
/** How long anything may take on a busy machine. */
export const PATIENCE = Number(process.env["PATIENCE"] ?? 60_000);

/** Chromium without a screen. */
export function browse(): Promise<Browser> {
  return chromium.launch({ executablePath: need("CHROMIUM"), headless: true, args: FLAGS });
}

export class Window {
  readonly browser: Browser;
  readonly page: Page;

  constructor(browser: Browser, page: Page) {
    this.browser = browser;
    this.page = page;
  }

  static async open(server: Server): Promise<Window> {
    const browser = await browse();
    const page = await browser.newPage({ viewport: { width: 1280, height: 860 } });
    page.setDefaultTimeout(PATIENCE);
    await page.goto(server.url, { waitUntil: "domcontentloaded" });
    await page.locator(".monaco-workbench").waitFor();
    return new Window(browser, page);
  }

  /** The chat's own document. */
  get view(): FrameLocator {
    return this.page.frameLocator("iframe.webview.ready").first().frameLocator('iframe#active-frame[title="Chat"]');
  }

  /** The tree's own document, where it is open. */
  get tree(): FrameLocator {
    return this.page.frameLocator("iframe.webview.ready").nth(1).frameLocator('iframe#active-frame[title="Session tree"]');
  }

  get box(): Locator {
    return this.view.locator(".composer textarea");
  }

  /** The line that opens the tree. */
  get treeHeader(): Locator {
    return this.page.locator(".pane-header", { hasText: /session tree/i });
  }

  /** Open the tree, and give it half of the sidebar. */
  async openTree(): Promise<void> {
    await this.treeHeader.click();
    await this.tree.locator(".entry").first().waitFor();
    const header = await this.treeHeader.boundingBox();
    if (!header) throw new Error("the tree has no header");
    await this.page.mouse.move(header.x + 100, header.y);
    await this.page.mouse.down();
    await this.page.mouse.move(header.x + 100, header.y - 330, { steps: 5 });
    await this.page.mouse.up();
  }

  treeRow(text: string): Locator {
    return this.tree.locator(".entry", { hasText: text }).first();
  }

  async openChat(): Promise<void> {
    await this.page.locator('.activitybar [aria-label^="Singletree"]').first().click();
    await this.box.waitFor();
    await this.view.locator(".switch.mode").waitFor();
  }

  /** Type into the box and press Enter. */
  async say(text: string, keys = "Enter"): Promise<void> {
    await this.box.click();
    await this.box.pressSequentially(text);
    await this.box.press(keys);
  }

  /** A picture in the clipboard, pasted into the box by its key. */
  async pastePicture(width: number, height: number): Promise<void> {
    await this.page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await this.box.focus();
    await this.box.evaluate(async (_, [wide, high]) => {
      const canvas = new OffscreenCanvas(wide, high);
      const brush = canvas.getContext("2d");
      for (const [index, colour] of ["#c33", "#3a3", "#36c"].entries()) {
        if (brush) brush.fillStyle = colour;
        brush?.fillRect((index * wide) / 3, 0, wide / 3, high);
      }
      await navigator.clipboard.write([new ClipboardItem({ "image/png": canvas.convertToBlob({ type: "image/png" }) })]);
    }, [width, height] as const);
    await this.box.press("Control+V");
  }

  /** A file dropped onto the box. */
  async drop(name: string, type: string, text: string): Promise<void> {
    await this.box.evaluate((box, [name, type, text]) => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File([text], name, { type }));
      box.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
    }, [name, type, text] as const);
  }

  /** Wait until the view shows a text. */
  async shows(text: string | RegExp): Promise<void> {
    await this.view.locator(".row", { hasText: text }).last().waitFor();
  }

  /** Wait until a text stands in the box. */
  async holds(text: string): Promise<void> {
    for (const end = Date.now() + PATIENCE; Date.now() < end; await this.page.waitForTimeout(50)) {
      if ((await this.box.inputValue()) === text) return;
    }
    throw new Error(`the box holds ${JSON.stringify(await this.box.inputValue())} and not ${text}`);
  }

  /** Wait until nothing runs. */
  async rests(): Promise<void> {
    await this.view.locator(".round.stop").waitFor({ state: "hidden" });
  }

  /** A command of the palette. */
  async command(title: string): Promise<void> {
    await this.page.keyboard.press("F1");
    const input = this.page.locator(".quick-input-widget input").first();
    await input.waitFor();
    await input.fill(`>${title}`);
    await this.page.locator(".quick-input-list .monaco-list-row", { hasText: title }).first().waitFor();
    await this.page.keyboard.press("Enter");
  }

  /** Choose a line of the list that is open. */
  async pick(text: string): Promise<void> {
    await this.page.locator(".quick-input-list .monaco-list-row", { hasText: text }).first().click();
  }

  /** Wait until a list is open that offers this. */
  async offers(text: string): Promise<void> {
    await this.page.locator(".quick-input-list .monaco-list-row", { hasText: text }).first().waitFor();
  }

  /** Open a file of the workspace as the active editor. */
  async openFile(name: string): Promise<void> {
    await this.page.keyboard.press("Control+P");
    const input = this.page.locator(".quick-input-widget input").first();
    await input.waitFor();
    await input.fill(name);
    await this.page.locator(".quick-input-list .monaco-list-row", { hasText: name }).first().click();
    await this.page.locator(".tab.active", { hasText: name }).waitFor();
    await this.page.locator(".editor-instance .monaco-editor.focused .view-line").first().waitFor();
  }

  /** What the active editor shows. */
  async editorText(): Promise<string> {
    const lines = await this.page.locator(".editor-instance .view-line").allTextContents();
    return lines.join("\n").replaceAll("\u00a0", " ");
  }

  async editorShows(text: RegExp): Promise<void> {
    for (const end = Date.now() + PATIENCE; Date.now() < end; await this.page.waitForTimeout(100)) {
      if (text.test(await this.editorText())) return;
    }
    throw new Error(`the editor shows ${JSON.stringify(await this.editorText())} and not ${text}`);
  }

  /** A picture for somebody to look at, where SHOTS names a folder. */
  async shot(name: string): Promise<void> {
    const folder = process.env["SHOTS"];
    if (!folder) return;
    mkdirSync(folder, { recursive: true });
    await this.page.screenshot({ path: join(folder, `${name}.png`) });
  }

  async close(): Promise<void> {
    await this.browser.close();
  }
}
