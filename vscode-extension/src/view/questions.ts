/**
 * Questions between the conversation and the box: for permission, and dialogs of the daemon's extensions.
 *
 * A card never takes the focus and has no key of its own: only what is pressed on it answers it.
 * Read next: fields.ts (forms).
 */
import type { JsonObject, PermissionOption, PermissionParams, UiRequestParams } from "../protocol";
import type { Question } from "../shared/view";
import { h, icon, iconButton } from "./dom";
import { Form } from "./fields";
import { diffView } from "./parts";
import type { Post } from "./rows";

export class Questions {
  readonly element = h("section", { className: "questions", label: "Questions" });
  private readonly cards = new Map<string, HTMLElement>();

  constructor(private readonly post: Post) {
    this.element.removeAttribute("title");
  }

  /** Show these; one that stands there already is not touched. */
  sync(questions: readonly Question[]): void {
    const open = new Set(questions.map((one) => one.requestId));
    for (const [id, card] of this.cards) if (!open.has(id)) {
      card.remove();
      this.cards.delete(id);
    }
    for (const question of questions) {
      if (this.cards.has(question.requestId)) continue;
      const card = question.kind === "permission" ? this.permission(question.params) : this.dialog(question.params);
      this.cards.set(question.requestId, card);
      this.element.append(card);
    }
  }

  /** The plain yes and no first, what holds for longer under them. */
  private permission(asked: PermissionParams): HTMLElement {
    const { subject, requestId } = asked;
    const why = h("input", { type: "text", className: "why", placeholder: "Why not, or what instead", label: "A word to the agent" });
    const command = new Command(asked);
    const answer = (option: PermissionOption): void => {
      const feedback = why.value.trim();
      const edited = option.kind === "allow" ? command.edited() : undefined;
      const more = { ...(feedback ? { feedback } : {}), ...(edited ? { editedInput: edited } : {}) };
      this.post({ type: "answer", requestId, answer: { outcome: "selected", optionId: option.id, ...more } });
    };
    const now = asked.options.filter((option) => option.scope === "once");
    const session = asked.options.filter((option) => option.scope === "session" && option.kind === "allow").slice(0, 1);
    const longer = asked.options.filter((option) => !now.includes(option) && !session.includes(option));
    const button = (option: PermissionOption): HTMLElement => optionButton(option, option === first, () => answer(option));
    const first = now.find((option) => option.kind === (asked.defaultToNo ? "deny" : "allow"));
    return h(
      "div", { className: "card", role: "group", label: asked.title },
      h("div", { className: "title" }, icon("hand"), h("span", {}, subject.type === "command" ? "The agent wants to run a command" : asked.title)),
      subject.command !== undefined && command.element,
      subject.diff ? diffView(subject.diff) : null,
      !subject.diff && subject.command === undefined && subject.paths.length > 0 && h("pre", { className: "command" }, subject.paths.join("\n")),
      h("div", { className: "faint reason" }, ...withCode(asked.reason), subject.cwd ? h("div", {}, `in ${subject.cwd}`) : null),
      h("div", { className: "options" }, ...[...now, ...session].map(button)),
      longer.length > 0 && h(
        "details", {}, h("summary", { className: "faint" }, icon("more"), "An answer for longer…"), h("div", { className: "options" }, ...longer.map(button)),
      ),
      why,
    );
  }

  private dialog(asked: UiRequestParams): HTMLElement {
    const { requestId } = asked;
    const form = new Form(asked, (value) => this.post({ type: "answer", requestId, answer: { value } }), () => {
      this.post({ type: "answer", requestId, answer: { cancelled: true } });
    });
    return h(
      "div", { className: "card", role: "group", label: asked.title },
      h("div", { className: "title" }, icon("ask"), h("span", {}, asked.title)),
      asked.message ? h("div", { className: "message" }, asked.message) : null,
      form.element,
    );
  }
}

/** The command that would run; where the daemon takes another, it can be changed before it is allowed. */
class Command {
  readonly element = h("div", { className: "code" });
  private readonly box = h("textarea", { className: "command", rows: 1, label: "The command" });

  constructor(private readonly asked: PermissionParams) {
    const text = asked.subject.command ?? "";
    this.box.value = text;
    this.element.append(h("pre", { className: "command", tabIndex: 0 }, text));
    if (asked.editableInput?.["command"] === text) this.element.append(iconButton("edit", "Change the command", () => this.edit()));
  }

  /** The arguments with the command as it stands now, if that is another. */
  edited(): JsonObject | undefined {
    const { editableInput, subject } = this.asked;
    return editableInput && this.box.value !== (subject.command ?? "") ? { ...editableInput, command: this.box.value } : undefined;
  }

  private edit(): void {
    this.box.rows = Math.min(this.box.value.split("\n").length + 1, 10);
    this.element.replaceChildren(this.box);
    this.box.focus();
  }
}

/** What stands between backquotes, as code. */
function withCode(text: string): (string | HTMLElement)[] {
  return text.split("`").map((part, index) => (index % 2 ? h("code", {}, part) : part));
}

function optionButton(option: PermissionOption, first: boolean, click: () => void): HTMLElement {
  const label = h("span", {}, ...withCode(option.label));
  const look = `${first ? "primary " : ""}option ${option.scope === "once" ? "now" : ""}`;
  return h("button", { className: look, type: "button", title: option.pattern ? `Covers ${option.pattern}` : "", on: { click } }, label);
}
