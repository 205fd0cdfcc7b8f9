/**
 * What the scripted model says in the story: one scene for each word of the person.
 */
const FORM = ["Goal", "Constraints & Preferences", "Progress", "Key Decisions", "Next Steps", "Critical Context"];

export const SUMMARY = FORM.map((heading) => (heading === "Progress"
  ? "## Progress\n### Done\n- [x] Said hello\n### In Progress\n- [ ] (none)\n### Blocked\n- (none)" : `## ${heading}\n- (none)`)).join("\n\n");

export const ANSWER = `# A short tour

This is **Markdown** with \`code\`, a [link](README.md) and a list:

1. first
2. second, which is long enough to be broken into more than one line of a narrow sidebar

\`\`\`python
def greet(name: str) -> str:
    return f"Hello, {name}! This line is long enough to be scrolled."
\`\`\`

| file | lines |
| --- | ---: |
| notes.txt | 3 |

<b>This tag stays text.</b>`;

export const SCRIPT = [
  { model: { name: "Stage", contextWindow: 12000, maxOutput: 1000, images: true, levels: ["off", "high"] } },
  { text: "The end.", repeat: true },
  { when: "<conversation>", loop: true },
  { text: SUMMARY, chunk: 40, pause: 0.03 },
  { when: "show me", loop: true },
  { thinking: "A tour is wanted. I begin with Markdown.", text: ANSWER, chunk: 6, pause: 0.01 },
  { when: "run it", loop: true },
  { text: "I run it.", call: "bash", args: { command: "printf 'one\\ntwo\\n' && sleep 1.5" } },
  { text: "It ran." },
  { when: "edit it", loop: true },
  { text: "I edit it.", call: "edit", args: { path: "notes.txt", edits: [{ oldText: "second line", newText: "2nd line" }] }, chunk: 4, pause: 0.12 },
  { text: "It is edited." },
  { when: "look round", loop: true },
  { text: "I look round, slowly. ".repeat(30), chunk: 8, pause: 0.06, call: "ls", args: {} },
  { text: "Nobody steered." },
  { when: "steer left", loop: true },
  { text: "Left it is." },
  { when: "talk on", loop: true },
  { text: "and on and on ", times: 4000, chunk: 14, pause: 0.02 },
  { when: "fill up", loop: true },
  { text: "Something that takes room in the window of the model. ".repeat(380), chunk: 400, pause: 0.02 },
  { when: "slowly", loop: true },
  { delay: 1.5, text: "Slowly said." },
  { when: "count", loop: true },
  { text: Array.from({ length: 4000 }, (_, index) => `n${index + 1}`).join(" "), chunk: 5, pause: 0.1 },
];
