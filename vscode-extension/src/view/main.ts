/**
 * The page: hears the host, keeps the view's value, draws it once per frame.
 *
 * Never speaks to the daemon. Read next: transcript.ts, composer.ts, questions.ts.
 */
import { applied, grown, signed, withEarlier } from "../shared/reduce";
import type { ToHost, ToView } from "../shared/messages";
import { EMPTY, type Link, type View } from "../shared/view";
import { Composer, type Kept } from "./composer";
import { h } from "./dom";
import { Questions } from "./questions";
import { showWidgets } from "./signs";
import { Strip } from "./strip";
import { Transcript } from "./transcript";
import { Waiting } from "./waiting";

const host = acquireVsCodeApi<Kept>();
const post = (said: ToHost): void => host.postMessage(said);

let view: View = EMPTY;
let link: Link = { state: "starting" };
let folder: string | null = null;
let frame = 0;
let known = false;

const strip = new Strip(post);
const transcript = new Transcript(post);
const questions = new Questions(post);
const widgets = h("section", { className: "widgets", hidden: true });
const waiting = new Waiting(post);
const composer = new Composer(post, keep, () => transcript.toEnd());
const spoken = h("div", { className: "unseen", role: "status" });
document.body.append(strip.element, transcript.element, widgets, questions.element, waiting.element, composer.element, spoken);

window.addEventListener("message", ({ data }: MessageEvent<ToView>) => hear(data));
document.body.addEventListener("click", (event) => {
  const link = event.target instanceof Element ? event.target.closest("a[href]") : null;
  if (!link) return;
  event.preventDefault();
  post({ type: "openLink", href: link.getAttribute("href") ?? "" });
});
post({ type: "ready" });

function hear(told: ToView): void {
  switch (told.type) {
    case "all":
      ({ view, link, folder } = told);
      questions.sync(told.questions);
      if (!known) composer.restore(host.getState(), told.dated);
      known = true;
      break;
    case "event":
      view = applied(view, told.told);
      if (told.told.event.type === "turn_ended") spoken.textContent = "The turn has ended.";
      break;
    case "delta":
      view = grown(view, told.told);
      break;
    case "sign":
      view = signed(view, told.told);
      break;
    case "page":
      view = withEarlier(view, told.page);
      break;
    case "questions":
      questions.sync(told.questions);
      if (told.questions.length) spoken.textContent = "The agent asks for an answer.";
      return;
    case "link":
      link = told.link;
      break;
    case "insert":
      return composer.insert(told.draft, told.focus);
    case "sent":
      return composer.accepted(told.id);
    case "notSent":
      return composer.refused(told.id, told.text, told.hint);
    case "completions":
      return composer.complete(told.sign, told.prefix, told.items);
  }
  frame ||= requestAnimationFrame(draw);
}

function draw(): void {
  frame = 0;
  strip.sync(view, link, folder);
  transcript.sync(view, link.state === "up" && view.head ? "Ask something, or tell the agent what to do." : "");
  showWidgets(widgets, view.signs);
  waiting.sync(view.queue.items);
  composer.sync(view);
}

let last = 0;

/** By the page at once, by the host a moment later: either is enough after a reload. */
function keep(kept: Kept): void {
  host.setState(kept);
  clearTimeout(last);
  last = setTimeout(() => post({ type: "draft", dated: { draft: kept.draft, at: kept.at } }), 100);
}
