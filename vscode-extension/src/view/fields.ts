/**
 * The five dialogs as fields: select, confirm, input, editor, form (a flat object of JSON Schema).
 *
 * Read next: questions.ts.
 */
import type { Json, JsonObject, UiRequestParams } from "../protocol";
import { h } from "./dom";

type Done = (value: Json) => void;

export class Form {
  readonly element: HTMLElement;

  constructor(asked: UiRequestParams, done: Done, cancel: () => void) {
    this.element = h("form", { on: { submit: (event) => event.preventDefault() } }, ...content(asked, done, cancel));
    this.element.addEventListener("keydown", (event) => event.key === "Escape" && cancel());
  }
}

function content(asked: UiRequestParams, done: Done, cancel: () => void): HTMLElement[] {
  const no = button("Cancel", false, cancel);
  switch (asked.kind) {
    case "select": {
      const options = (asked.options ?? []).map((option) =>
        h("button", { className: "option", type: "button", on: { click: () => done(option.value) } },
          h("span", {}, option.label), option.description ? h("span", { className: "covers" }, option.description) : null));
      return [h("div", { className: "options" }, ...options), h("div", { className: "buttons" }, no)];
    }
    case "confirm":
      return [h("div", { className: "buttons" }, button("Yes", true, () => done(true)), button("No", false, () => done(false)), no)];
    case "input":
    case "editor": {
      const field = asked.kind === "input" ? h("input", { type: "text" }) : h("textarea", { rows: 6 });
      field.value = asked.prefill ?? "";
      field.setAttribute("aria-label", asked.title);
      return [field, submitting(() => done(field.value), no)];
    }
    case "form":
      return formFields(asked.jsonSchema ?? {}, done, no);
  }
}

function formFields(schema: JsonObject, done: Done, no: HTMLElement): HTMLElement[] {
  const properties = asObject(schema["properties"]);
  const required = Array.isArray(schema["required"]) ? schema["required"] : [];
  const fields = Object.entries(properties).map(([name, told]) => field(name, asObject(told), required.includes(name)));
  const collect = (): void => {
    const made: JsonObject = {};
    for (const one of fields) {
      const value = one.value();
      if (value !== null) made[one.name] = value;
    }
    done(made);
  };
  return [...fields.map((one) => one.element), submitting(collect, no)];
}

interface Field {
  name: string;
  element: HTMLElement;
  value(): Json;
}

function field(name: string, schema: JsonObject, required: boolean): Field {
  const label = h("span", {}, typeof schema["title"] === "string" ? schema["title"] : name);
  const help = typeof schema["description"] === "string" ? h("span", { className: "faint" }, schema["description"]) : null;
  const made = (input: HTMLElement, value: () => Json): Field => ({ name, value, element: h("label", { className: "field" }, label, input, help) });
  const first = schema["default"];
  const choices = schema["enum"];
  if (Array.isArray(choices)) {
    const select = h("select", { required }, ...choices.map((choice) => h("option", { selected: choice === first }, String(choice))));
    return made(select, () => choices[select.selectedIndex] ?? null);
  }
  if (schema["type"] === "boolean") {
    const box = h("input", { type: "checkbox", checked: first === true });
    return { name, value: () => box.checked, element: h("label", { className: "field" }, h("span", { className: "check" }, box, label), help) };
  }
  const numeric = schema["type"] === "number" || schema["type"] === "integer";
  const input = h("input", { type: numeric ? "number" : "text", required, value: first === undefined || first === null ? "" : String(first) });
  if (schema["type"] === "number") input.step = "any";
  return made(input, () => (input.value === "" && !required ? null : numeric ? input.valueAsNumber : input.value));
}

function submitting(done: () => void, no: HTMLElement): HTMLElement {
  const ok = button("OK", true, () => ok.form?.reportValidity() !== false && done());
  ok.type = "submit";
  return h("div", { className: "buttons" }, ok, no);
}

function button(text: string, primary: boolean, click: () => void): HTMLButtonElement {
  return h("button", { className: primary ? "primary" : "", type: "button", on: { click } }, text);
}

function asObject(value: Json | undefined): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
}
