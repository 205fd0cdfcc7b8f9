/**
 * What stands in the box, kept over reloads; texts that come back are put before what is there.
 *
 * In a file of its own, written at once: the editor's own memory may be some seconds late when a page
 * in a browser is reloaded. Read next: sidebar.ts.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import * as vscode from "vscode";
import { NO_DRAFT, joined, type Dated, type Draft } from "../shared/messages";

export class Drafts {
  private readonly inserted = new vscode.EventEmitter<{ draft: Draft; focus: boolean }>();
  /** Something for the box, if there is one on the screen. */
  readonly onInsert = this.inserted.event;
  private kept: Dated;

  /** `file`: where it is kept; nowhere for a window without a folder. */
  constructor(private readonly file: string | undefined) {
    this.kept = read(file);
  }

  get dated(): Dated {
    return this.kept;
  }

  keep(dated: Dated): void {
    this.kept = dated;
    if (!this.file) return;
    mkdirSync(dirname(this.file), { recursive: true });
    writeFileSync(this.file, JSON.stringify(dated));
  }

  /** Put something before what stands in the box. */
  insert(draft: Draft, focus = false): void {
    if (!draft.text && !draft.attachments.length && !focus) return;
    this.keep({ draft: joined(draft, this.kept.draft), at: Date.now() });
    this.inserted.fire({ draft, focus });
  }
}

function read(file: string | undefined): Dated {
  try {
    if (file) return JSON.parse(readFileSync(file, "utf8")) as Dated;
  } catch {
    // there is none yet
  }
  return { draft: NO_DRAFT, at: 0 };
}
