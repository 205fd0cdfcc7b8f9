/**
 * Questions of the daemon that wait for a person, and the promises of their answers.
 *
 * Nothing is opened or focused for them: the view shows them, the badge and the status bar count them.
 * Read next: sidebar.ts.
 */
import * as vscode from "vscode";
import type { PermissionAnswer, PermissionParams, UiAnswer, UiRequestParams } from "../protocol";
import type { Question } from "../shared/view";

const CANCELLED = { permission: { outcome: "cancelled" }, dialog: { cancelled: true } } as const;

interface Waiting {
  question: Question;
  answer(value: PermissionAnswer | UiAnswer): void;
}

export class Asks {
  private readonly waiting = new Map<string, Waiting>();
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onChange = this.changed.event;

  get questions(): Question[] {
    return [...this.waiting.values()].map((one) => one.question);
  }

  /** May the agent do this? */
  permission(params: PermissionParams, token: vscode.CancellationToken): Promise<PermissionAnswer> {
    return this.ask({ kind: "permission", requestId: params.requestId, params }, token) as Promise<PermissionAnswer>;
  }

  /** A dialog of an extension of the daemon. */
  dialog(params: UiRequestParams, token: vscode.CancellationToken): Promise<UiAnswer> {
    return this.ask({ kind: "dialog", requestId: params.requestId, params }, token) as Promise<UiAnswer>;
  }

  /** The person has answered. A second answer finds nothing and does nothing. */
  answer(requestId: string, value: PermissionAnswer | UiAnswer): void {
    this.waiting.get(requestId)?.answer(value);
  }

  /** It has its answer from elsewhere, or nobody waits for it any more. */
  drop(requestId: string): void {
    const one = this.waiting.get(requestId);
    if (one) one.answer(CANCELLED[one.question.kind]);
  }

  /** The daemon is gone, and with it whoever waited. */
  clear(): void {
    for (const requestId of [...this.waiting.keys()]) this.drop(requestId);
  }

  private ask(question: Question, token: vscode.CancellationToken): Promise<PermissionAnswer | UiAnswer> {
    this.drop(question.requestId);
    return new Promise((resolve) => {
      const answer = (value: PermissionAnswer | UiAnswer): void => {
        if (!this.waiting.delete(question.requestId)) return;
        cancelled.dispose();
        resolve(value);
        this.changed.fire();
      };
      const cancelled = token.onCancellationRequested(() => this.drop(question.requestId));
      this.waiting.set(question.requestId, { question, answer });
      this.changed.fire();
    });
  }
}
