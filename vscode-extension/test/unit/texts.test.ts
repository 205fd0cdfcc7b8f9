/** Diffs, blocks of Markdown, nested rows, drafts, the place of the program. */
import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { locate } from "../../src/host/locate";
import type { TreeRow } from "../../src/protocol";
import { settledEnd } from "../../src/shared/blocks";
import { before, countOf, sides } from "../../src/shared/diff";
import { mentioned, ranked, unfinished, written } from "../../src/shared/mentions";
import { joined } from "../../src/shared/messages";
import { found, outlined, parentOf } from "../../src/shared/outline";
import { soFar } from "../../src/shared/partial";

const PATCH = "--- a.txt\n+++ a.txt\n@@ -1,3 +1,4 @@\n one\n-two\n+TWO\n+2b\n three\n@@ -9,2 +10,1 @@\n nine\n-- a list\n";
const AFTER = "one\nTWO\n2b\nthree\n4\n5\n6\n7\n8\nnine\nend\n";

test("the text from before is made from the text after", () => {
  assert.equal(before(AFTER, PATCH), "one\ntwo\nthree\n4\n5\n6\n7\n8\nnine\n- a list\nend\n");
  assert.equal(before(AFTER.replace("TWO", "other"), PATCH), null);
  assert.deepEqual(countOf(PATCH), { added: 2, removed: 2 });
});

test("where the file is another by now both sides show what the diff knows, at its lines", () => {
  const known = sides(PATCH);
  assert.equal(known.after.split("\n")[9], "nine");
  assert.equal(known.before.split("\n")[8], "nine");
});

/** What stands before the bar is drawn once for all. */
const SETTLED = [
  "one\n\n|two\n", "|one\n\ntwo", "one\n\n|two\n\nthr", "one\n\ntwo\n\n|three\n", "|```\na\n\nb\n\nc\n", "```\na\n```\n\n|b\n\nc",
  "- a\n\n- b\n\n|c\n", "|- a\n\n  b\n", "|> a\n\n> b\n", "````\n```\n\nx\n````\n\n|y\n", "|1. a\n\n2. b\n", "~~~\n```\n\n~~~\n\n|a\n",
];

for (const told of SETTLED) {
  test(`the settled part of ${JSON.stringify(told)}`, () => assert.equal(settledEnd(told.replace("|", ""), 0), told.indexOf("|")));
}

const WHOLE = { path: "a/b.ts", edits: [{ oldText: 'say "x, {y}"\n\u00e9\\', newText: "" }], all: true, count: 12 };

test("arguments that stream can be read at every moment, and never say what was not said", () => {
  const text = JSON.stringify(WHOLE).replace("é", "\\u00e9");
  for (let end = 0; end <= text.length; end++) {
    const { path, edits, all } = soFar(text.slice(0, end)) as Partial<typeof WHOLE>;
    assert.ok(path === undefined || WHOLE.path.startsWith(path));
    assert.ok((edits?.[0]?.oldText ?? "") === WHOLE.edits[0]?.oldText.slice(0, (edits?.[0]?.oldText ?? "").length));
    assert.ok(all === undefined || all === true);
  }
  assert.deepEqual(soFar(text), WHOLE);
  assert.deepEqual(soFar('{"path": "a.ts", "content": "one\\ntw'), { path: "a.ts", content: "one\ntw" });
  assert.deepEqual([soFar(""), soFar("no"), soFar("… end of it"), soFar("[1, 2")], [{}, {}, {}, {}]);
});

test("rows are indented by depth, also in a page that begins deep inside, and shut ones hide what is below", () => {
  const rows = [3, 4, 4, 5, 3, 2, 3].map((depth, index): TreeRow => ({
    entryId: String(index), type: "message", role: "user", timestamp: "", depth, parentId: null, onPath: true, isLeaf: false, label: null,
    preview: "", childCount: 0,
  }));
  const drawn = (...shut: string[]): string => outlined(rows, new Set(shut)).map(({ row, level, open }) => `${row.entryId}:${level}${open === null ? "" : open ? "-" : "+"}`).join(" ");
  assert.equal(drawn(), "0:1- 1:2 2:2- 3:3 4:1 5:0- 6:1");
  assert.equal(drawn("0", "2", "3"), "0:1+ 4:1 5:0- 6:1");
  assert.equal(drawn("2"), "0:1- 1:2 2:2+ 4:1 5:0- 6:1");
  assert.deepEqual(outlined([], new Set()), []);
  assert.deepEqual([3, 2, 0].map((index) => parentOf(outlined(rows, new Set()), index)), [2, 0, -1]);
});

test("what is typed in the tree leads to the row that has it", () => {
  const lines = ["one", "Two", "three", "two more"].map((preview, index) => ({
    row: { entryId: String(index), type: "message", role: "user", timestamp: "", depth: 0, parentId: null, onPath: true, isLeaf: false, label: index === 2 ? "good" : null, preview, childCount: 0 },
    level: 0, open: null,
  }));
  const from = (at: number, typed: string): number => found(lines, at, typed);
  assert.deepEqual([from(0, "t"), from(1, "tw"), from(1, "t"), from(1, "tt"), from(3, "two m")], [1, 1, 2, 2, 3]);
  assert.deepEqual([from(0, "good"), from(3, "o"), from(0, "zz"), found([], 0, "a")], [2, 0, -1, -1]);
});

test("files are named by @ and a path, with lines, or in quotes", () => {
  const text = 'See @src/a.ts, (@b.py:3-9) and @"my notes.txt": not me@x.org or @ alone. @src/a.ts? @c.md:7';
  const lines = [{ path: "b.py", first: 3, last: 9 }, { path: "my notes.txt" }, { path: "c.md", first: 7, last: 7 }];
  assert.deepEqual(mentioned(text), [{ path: "src/a.ts" }, ...lines]);
  for (const path of ["src/a.ts", "my notes.txt", "a (1)", ".env"]) assert.deepEqual(mentioned(`x ${written(path)} y`), [{ path }]);
  assert.deepEqual(unfinished("look at @src/"), { prefix: "src/", start: 8 });
  assert.deepEqual(unfinished('@"my no'), { prefix: "my no", start: 0 });
  assert.deepEqual([unfinished("me@x"), unfinished("@a b"), unfinished("")], [null, null, null]);
});

test("the files that are offered: the name's begin first, what is open before the rest", () => {
  const paths = ["src/view/main.ts", "src/domain.ts", "main/x.ts", "docs/m-a-i-n.md", "README.md"];
  assert.deepEqual(ranked(paths, "MAIN", new Set(), 9), ["src/view/main.ts", "src/domain.ts", "main/x.ts", "docs/m-a-i-n.md"]);
  assert.deepEqual(ranked(paths, "src/v", new Set(), 9), ["src/view/main.ts"]);
  assert.deepEqual(ranked(paths, "", new Set(["src/domain.ts"]), 2), ["src/domain.ts", "README.md"]);
});

test("a text that comes back stands before what was being written", () => {
  const one = { label: "a.ts:1", block: { type: "text" as const, text: "x" } };
  assert.deepEqual(joined({ text: "back", attachments: [one] }, { text: "new", attachments: [one] }), { text: "back\n\nnew", attachments: [one] });
  const [first, second] = ["AAAA", "BBBB"].map((data) => ({ label: "image.png", block: { type: "image" as const, data, mimeType: "image/png" } }));
  assert.ok(first && second);
  assert.equal(joined({ text: "", attachments: [first] }, { text: "", attachments: [second, first] }).attachments.length, 2);
  assert.equal(joined({ text: "back", attachments: [] }, { text: " ", attachments: [] }).text, "back");
});

test("the program is looked for on PATH, then in a trusted workspace, never from a relative path", () => {
  const folder = mkdtempSync(join(tmpdir(), "st-"));
  const put = (...parts: string[]): string => {
    const place = join(folder, ...parts);
    mkdirSync(dirname(place), { recursive: true });
    writeFileSync(place, "");
    chmodSync(place, 0o755);
    return place;
  };
  const [onPath, inVenv] = [put("bin", "singletree"), put("project", ".venv", "bin", "singletree")];
  const trustedFolders = [join(folder, "project")];
  assert.equal(locate({ command: "singletree", path: join(folder, "bin"), trustedFolders }), onPath);
  assert.equal(locate({ command: "singletree", path: "", trustedFolders }), inVenv);
  assert.equal(locate({ command: "singletree", path: "", trustedFolders: [] }), null);
  assert.equal(locate({ command: "./singletree", path: join(folder, "bin"), trustedFolders }), null);
  assert.equal(locate({ command: "singletree", path: "bin", trustedFolders: [] }), null);
  assert.equal(locate({ command: inVenv, path: "", trustedFolders: [] }), inVenv);
  assert.equal(locate({ command: join(folder, "bin"), path: "", trustedFolders: [] }), null);
});
