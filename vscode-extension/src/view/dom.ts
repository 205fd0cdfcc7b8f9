/**
 * Elements made in one expression, and the icons. No text ever becomes markup here.
 *
 * Read next: main.ts.
 */
type Child = Node | string | null | false | undefined;
type Props<T> = { [K in keyof T]?: T[K] extends (...args: never[]) => unknown ? never : T[K] } & {
  on?: { [K in keyof HTMLElementEventMap]?: (event: HTMLElementEventMap[K]) => void };
  label?: string;
};

/** An element: `h("button", { className: "primary", on: { click } }, "Send")`. `label` is for who can't see it. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K, props: Props<HTMLElementTagNameMap[K]> = {}, ...children: Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  const { on, label, ...rest } = props;
  Object.assign(made, rest);
  if (label !== undefined) {
    made.setAttribute("aria-label", label);
    made.title = label;
  }
  for (const [name, handler] of Object.entries(on ?? {})) made.addEventListener(name, handler as EventListener);
  made.append(...children.filter((child): child is Node | string => child !== null && child !== false && child !== undefined));
  return made;
}

/** A button that is only an icon. */
export function iconButton(name: IconName, label: string, click: () => void): HTMLButtonElement {
  return h("button", { className: "icon-button", type: "button", label, on: { click: (event) => (event.stopPropagation(), click()) } }, icon(name));
}

export type IconName = keyof typeof PATHS;

/** A drawn sign in the colour of the text around it. */
export function icon(name: IconName): SVGSVGElement {
  const made = document.createElementNS(SVG, "svg");
  made.setAttribute("viewBox", "0 0 16 16");
  made.setAttribute("aria-hidden", "true");
  made.classList.add("icon", `icon-${name}`);
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", PATHS[name]);
  made.append(path);
  return made;
}

const SVG = "http://www.w3.org/2000/svg";

/** Lines on a field of 16 by 16. */
const PATHS = {
  read: "M4 1.8h5.2L12.5 5v9.2h-8.5zM9 2v3.3h3.3M6 8h4.5M6 10.7h4.5",
  edit: "M2.5 13.5l.8-3.2 7.4-7.4a1.3 1.3 0 0 1 1.8 0l.6.6a1.3 1.3 0 0 1 0 1.8l-7.4 7.4zM9.4 4.2l2.4 2.4",
  execute: "M1.8 2.8h12.4v10.4H1.8zM4.2 6l2.3 2-2.3 2M8 10.3h3.6",
  search: "M7 2.2a4.8 4.8 0 1 0 0 9.6 4.8 4.8 0 0 0 0-9.6M10.5 10.5l3.6 3.6",
  other: "M8 1.8l5.4 3.1v6.2L8 14.2l-5.4-3.1V4.9zM2.8 5L8 8l5.2-3M8 8v6",
  check: "M2.8 8.6l3.3 3.2 7-7.6",
  cross: "M3.8 3.8l8.4 8.4M12.2 3.8l-8.4 8.4",
  stop: "M4 4h8v8H4z",
  send: "M8 13.4V3M3.6 7.2L8 2.8l4.4 4.4",
  copy: "M5.4 5.4h8v8h-8zM10.6 5.2V2.6h-8v8h2.6",
  more: "M6 3.2L10.8 8 6 12.8",
  down: "M8 2.6V13M3.6 8.8L8 13.2l4.4-4.4",
  diff: "M4.5 3.2v6M1.5 6.2h6M8.8 11.8h5.6M1.5 12.8h6",
  wait: "M8 2.2a5.8 5.8 0 1 0 5.8 5.8",
  hand: "M8 1.8l6.6 11.8H1.4zM8 6.2v3.6M8 11.4v.8",
  person: "M8 2.2a2.9 2.9 0 1 0 0 5.8 2.9 2.9 0 0 0 0-5.8M2.6 14c.5-3 2.6-4.4 5.4-4.4s4.9 1.4 5.4 4.4",
  spark: "M8 1.8l1.6 4.6 4.6 1.6-4.6 1.6L8 14.2l-1.6-4.6L1.8 8l4.6-1.6z",
  fold: "M2.5 8h11M8 1.6v3.8M6 3.8l2 2 2-2M8 14.4v-3.8M6 12.2l2-2 2 2",
  merge: "M4 2.5v11M4 4.5c0 5 3 5.5 7.5 5.5M9.3 7.8l2.4 2.2-2.4 2.2",
  bookmark: "M4 2h8v12l-4-3.4L4 14z",
  dot: "M8 6.4a1.6 1.6 0 1 0 0 3.2 1.6 1.6 0 0 0 0-3.2",
  ask: "M8 1.8a6.2 6.2 0 1 0 0 12.4A6.2 6.2 0 0 0 8 1.8M6.2 6.4a1.9 1.9 0 1 1 2.8 1.7c-.7.4-1 .7-1 1.4M8 11.4v.3",
  open: "M6.2 3H3v10h10V9.8M9 2.8h4.2V7M13 3L7.4 8.6",
} as const;
