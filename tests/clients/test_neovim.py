"""The story in a real Neovim: say, stream, permit, edit, undo, steer, stop, go back, sum up."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.clients.nvim import Home, Neovim, neovim
from tests.clients.nvim_install import NEEDS, found
from tests.conftest import needs

pytestmark = [pytest.mark.client, needs(NEEDS, found() is not None), pytest.mark.timeout(120)]


def change(name: str) -> dict[str, object]:
    """A call that makes "two" loud."""
    edits = [{"oldText": "two", "newText": "TWO"}]
    return {"tool": "edit", "args": {"path": name, "edits": edits}}


EDIT = {"calls": [change("a.txt")]}
SLOW = {"parts": [{"text": "It begins. "}, {"wait": 30}, {"text": "It ends."}]}

Start = Callable[..., Home]
PROMPT = "require('singletree.chat').find(function() return true end).input"


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """A furnished home; its daemon ends with the test."""
    home = Home(tmp_path / "home")

    def furnished(*turns: object, arguments: tuple[str, ...] = ()) -> Home:
        home.arguments.extend(arguments)
        home.furnish(*turns)
        (home.folder / "a.txt").write_text("one\ntwo\nthree\n")
        return home

    yield furnished
    home.stop()


def text(editor: Neovim, name: str) -> list[str]:
    """The lines of a file's buffer."""
    lines = editor.lua("return vim.api.nvim_buf_get_lines(vim.fn.bufnr(...), 0, -1, false)", name)
    assert isinstance(lines, list)
    return lines


def test_an_answer_streams_into_the_transcript(start: Start) -> None:
    words = "".join(f"word{n} " for n in range(60))
    parts = [{"thinking": "Hm."}, {"text": words}]
    home = start({"parts": parts, "chunk": 6, "pause": 0.01}, {"text": "So it is."})
    with neovim(home, "a.txt") as editor:
        editor.say("hello")
        editor.sees("word3 ")
        assert "word59" not in editor.transcript()
        shown = editor.sees(words.strip())
        assert shown.startswith("hello\n")
        assert "▸ Thought: Hm." in shown
        editor.idle()
        at = "local win = vim.fn.win_findbuf(vim.fn.bufnr('transcript$'))[1] "
        line = at + "return vim.api.nvim_win_get_cursor(win)[1]"
        last = at + "return vim.fn.line('$', win)"
        assert editor.lua(line) == editor.lua(last)  # it followed
        editor.lua(at + "vim.api.nvim_win_set_cursor(win, {1, 0})")
        editor.say("again")
        editor.sees("So it is.")
        editor.idle()
        assert editor.lua(line) == 1 < editor.lua(last)  # whoever reads above stays there
        assert editor.buffer("prompt") == ""


def test_a_dirty_open_file_is_edited_with_leave_in_one_step_of_undo(start: Start) -> None:
    with neovim(start(EDIT, {"text": "Done."}), "a.txt") as editor:
        editor.keys("Gofour<Esc>")
        editor.say("make it loud")
        editor.sees("? Edit: a.txt")
        assert text(editor, "a.txt") == ["one", "two", "three", "four"]
        editor.run("Singletree allow")
        editor.sees("Done.")
        assert text(editor, "a.txt") == ["one", "TWO", "three", "four"]
        editor.run("wincmd t")
        assert editor.lua("return vim.fn.expand('%:t') == 'a.txt' and vim.bo.modified")
        editor.keys("u")
        editor.until("return vim.fn.getline(2) == 'two'")
        assert text(editor, "a.txt") == ["one", "two", "three", "four"]


def test_a_question_takes_no_key_typed_elsewhere(start: Start) -> None:
    """Whoever types in a file while the agent edits others and asks goes on typing there."""
    write = {"call": "write", "args": {"path": "b.txt", "content": "new"}}
    home = start({"delay": 0.5, **EDIT}, write, {"text": "So be it."})
    (home.folder / "c.txt").write_text("mine\n")
    with neovim(home, "a.txt") as editor:
        editor.say("change them")
        editor.run("wincmd t | edit c.txt")
        editor.keys("o")
        where = editor.lua("return {vim.api.nvim_get_current_win(), vim.api.nvim_get_mode().mode}")
        for piece in ("allow y", " 1 2 3", " and <CR>yes<CR>"):
            editor.keys(piece)
        editor.sees("? Edit: a.txt")
        editor.keys("y1<CR>ay")
        editor.until("return vim.fn.line('$') == 5")
        assert text(editor, "c.txt") == ["mine", "allow y 1 2 3 and ", "yes", "y1", "ay"]
        now = editor.lua("return {vim.api.nvim_get_current_win(), vim.api.nvim_get_mode().mode}")
        assert now == where
        assert text(editor, "a.txt") == ["one", "two", "three"]
        editor.keys("<Esc>")
        editor.run("Singletree deny")  # the edit; then the file to be written, in the transcript
        editor.sees("b.txt\n")
        assert "⊘ edit a.txt  rejected" in editor.transcript()
        editor.run("wincmd l | wincmd k")
        editor.keys("G<CR>")  # the last line is no answer
        editor.lua("vim.fn.search('▹ Allow once')")
        editor.keys("<CR>")
        editor.sees("So be it.")
        assert (home.folder / "b.txt").read_text() == "new"
        assert editor.lua("return #vim.fn.getbufinfo({bufloaded = 1})") == 4


def test_a_question_nobody_answers_goes_with_the_turn(start: Start) -> None:
    with neovim(start(EDIT), "a.txt") as editor:
        editor.say("change it")
        editor.sees("? Edit: a.txt")
        editor.run("Singletree stop")
        editor.sees("Stopped.")
        editor.idle()
        assert "? Edit" not in editor.transcript()
        assert text(editor, "a.txt") == ["one", "two", "three"]


def test_a_question_is_asked_again_after_a_reload(start: Start) -> None:
    home = start(EDIT, {"text": "Done."})
    with neovim(home, "a.txt") as editor:
        editor.say("change it")
        editor.sees("? Edit: a.txt")
    with neovim(home, "a.txt") as editor:
        editor.run("Singletree")
        shown = editor.sees("? Edit: a.txt")
        assert shown.count("? Edit") == 1 and "▸ ○ edit a.txt" in shown
        editor.run("Singletree allow")
        editor.sees("Done.")
        assert text(editor, "a.txt") == ["one", "TWO", "three"]


def test_steer_and_stop(start: Start) -> None:
    with neovim(start(SLOW), "a.txt") as editor:
        editor.say("begin")
        editor.sees("It begins.")
        editor.keys("aleave the tests alone<C-s>")
        editor.sees("It begins. \n\nleave the tests alone")
        editor.keys("and then rest<M-CR>my draft<Esc>")
        editor.sees("\nand then rest")
        editor.run("Singletree stop")
        editor.sees("Stopped.")
        editor.idle()
        draft = "leave the tests alone\n\nand then rest\n\nmy draft"
        editor.until("return vim.fn.line('$') == 5")
        assert editor.buffer("prompt") == draft
        assert "leave the tests alone" not in editor.transcript()
        editor.run("bwipeout!")
        editor.run("Singletree open")
        assert editor.buffer("prompt") == draft


def test_windows_and_buffers_may_go_at_any_time(start: Start) -> None:
    """While an odd text streams: closed, wiped out, reloaded, scribbled on; never an error."""
    odd = "a\0b\rc\x1b[31m 漢字 \u202e👩‍👧 \u2028\r\n\ud800\n```\n" + "".join(
        f"{n} " for n in range(250)
    )
    slow = {"text": odd, "chunk": 5, "pause": 0.02}
    with neovim(start(slow), "a.txt") as editor:
        editor.say("go")
        editor.sees("3 4 ")
        shape = (
            "return vim.iter(vim.fn.getwininfo()):map(function(w) return vim.bo[w.bufnr].ft end)"
        )
        shape += ":totable()"
        both = ["text", "singletree", "singletree-prompt"]
        assert editor.lua(shape) == both
        for ruin in ("wincmd k | close", "wincmd k | bwipeout!", "bwipeout!", "wincmd k | bdelete"):
            editor.run(ruin)
            editor.run("Singletree open")
            assert editor.lua(shape) == both, ruin
        editor.run("set nohidden | wincmd k | edit | setlocal modifiable | 1delete")
        editor.run("tabnew")
        editor.run("Singletree open")
        assert editor.lua(shape) == [*both, "", *both[1:]]
        editor.run("tabclose | only")
        editor.run("Singletree open")
        assert editor.lua(shape) == both[1:]
        shown = editor.sees("248 249")
        assert shown.startswith("go\n") and shown.count("248") == 1
        assert "a\0b\rc\x1b[31m 漢字 \u202e👩‍👧 \u2028\n\ufffd\n```\n0 1" in shown
        assert editor.lua("return vim.api.nvim_exec2('messages', {output = true}).output") == ""


def test_walk_back_and_sum_up(start: Start) -> None:
    answers = [{"text": f"Answer {n}. " + "word " * 400} for n in range(3)]
    home = start(
        *answers,
        {"when": "summary", "loop": True},
        {"text": "It was about words."},
    )
    home.settings(compaction={"keepRecentTokens": 300})
    with neovim(home, "a.txt") as editor:
        for n, question in enumerate(("first", "second", "third")):
            editor.say(question)
            editor.sees(f"Answer {n}.")
            editor.idle()
        editor.run("Singletree compact")
        editor.sees("Summed up: ")
        assert editor.transcript().count("▸ Summary: It was about words.") == 1
        editor.lua("vim.ui.select = function(items, _, chosen) chosen(items[2]) end")
        editor.run("Singletree tree userOnly")
        editor.until("return vim.bo.filetype == 'singletree-tree' and vim.fn.search('second') > 0")
        editor.keys("<CR>")
        editor.until("return vim.bo.filetype == 'singletree-prompt'")
        shown = editor.sees("▸ Summary: The user left this branch")
        assert "Answer 0." in shown and "Answer 1." not in shown
        assert editor.buffer("prompt") == "second"
        editor.run("Singletree label here")
        editor.run("Singletree tree labeled")
        editor.until("return vim.bo.filetype == 'singletree-tree' and vim.fn.search('here') > 0")


def test_open_clean_dirty_and_closed_files(start: Start) -> None:
    """A clean one is saved, an unsaved one is left to the person, others stay as they were."""
    home = start(
        {"calls": [change(name) for name in ("a.txt", "b.txt", "c.txt")]},
        {"call": "bash", "args": {"command": "cat a.txt b.txt > out.txt; echo from bash > d.txt"}},
        {"text": "Done."},
        arguments=("--mode", "allowAll"),
    )
    for name in ("b.txt", "c.txt", "d.txt"):
        (home.folder / name).write_text("one\ntwo\nthree\n")
    with neovim(home, "a.txt", "b.txt", "d.txt") as editor:
        editor.run("buffer d.txt | buffer b.txt")
        editor.keys("Oinserted")  # still inserting, in a dirty buffer, while the agent edits it
        editor.lua("vim.schedule(function() vim.cmd('Singletree prompt change them') end)")
        editor.until("return vim.fn.getline(3) == 'TWO'")
        assert editor.lua("return vim.api.nvim_get_mode().mode") == "i"
        editor.until("return #vim.fn.glob('out.txt') > 0")
        editor.keys("<Esc>u")
        editor.until("return vim.fn.getline(3) == 'two'")
        assert text(editor, "b.txt") == ["inserted", "one", "two", "three"]
        editor.keys("u")
        editor.until("return vim.fn.getline(1) == 'one'")
        editor.until("return vim.fn.getbufline('d.txt', 1)[1] == 'from bash'")
        assert text(editor, "a.txt") == ["one", "TWO", "three"]
        assert not editor.lua("return vim.bo[vim.fn.bufnr('a.txt')].modified")
        assert (home.folder / "out.txt").read_text() == "one\nTWO\nthree\none\ntwo\nthree\n"
        assert (home.folder / "c.txt").read_text() == "one\nTWO\nthree\n"
        assert editor.lua("return vim.fn.bufnr('c.txt')") == -1
        editor.idle()
        editor.run("Singletree undo")
        editor.until("return vim.fn.readfile('c.txt')[2] == 'two'")
        editor.until(
            "return vim.fn.getbufline('a.txt', 2)[1] == 'two'"
        )  # the newest edit goes first
        assert text(editor, "a.txt") == ["one", "two", "three"]


def test_two_editors_are_asked_and_one_answers(start: Start) -> None:
    home = start(EDIT, {"text": "Done."})
    with neovim(home, "a.txt") as one, neovim(home) as two:
        two.run("Singletree")
        one.say("change it")
        one.sees("? Edit: a.txt")
        two.sees("? Edit: a.txt")
        two.run("Singletree allow")
        one.sees("Done.")
        assert "? Edit" not in one.transcript()
        assert text(one, "a.txt") == ["one", "TWO", "three"]
        assert one.transcript() == two.sees("Done.")


ASKER = """
from singletree.extensions.dialog import Choosable, Dialog

FORM = {"type": "object", "properties": {"port": {"type": "integer", "default": 80}}}
ASKED = (
    Dialog("select", "Which?", options=(Choosable("a", "Aye"), Choosable("b", "Bee"))),
    Dialog("confirm", "Sure?"),
    Dialog("input", "Your name?"),
    Dialog("editor", "Your text?", prefill="well"),
    Dialog("form", "Where?", schema=FORM),
)

def setup(api):
    async def ask(_):
        api.sign("status", "3 of 5")
        api.sign("widget", ["a widget", "of two lines"])
        return "Answers: " + ", ".join([str((await api.show(one)).value) for one in ASKED])
    api.command("ask", "Ask.", ask)
"""


def test_dialogs_open_when_the_person_answers(start: Start) -> None:
    home = start({"text": "Unused."})
    folder = home.root / ".pi" / "agent" / "extensions"
    folder.mkdir(parents=True)
    (folder / "asker.py").write_text(ASKER, "utf-8")
    with neovim(home) as editor:
        editor.lua("vim.ui.input = function(options, given) given('Kim ' .. options.prompt) end")
        editor.say("/ask")
        editor.sees("? Which?\n  ▹ Aye\n  ▹ Bee\n  ▹ Dismiss")
        editor.sees("a widget\nof two lines")
        assert editor.lua("return require('singletree').status()").endswith("3 of 5")
        answer = "vim.ui.select = function(options, _, chosen) chosen(options[%d]) end"
        for title, option in (("Which?", 2), ("Sure?", 1), ("Your name?", 1)):
            editor.sees(f"? {title}")
            editor.lua(answer % option)
            editor.run("Singletree answer")
        for title, filetype in (("Your text?", "markdown"), ("Where?", "json")):
            editor.sees(f"? {title}")
            editor.run("Singletree answer")
            editor.until("return vim.bo.filetype == ...", filetype)
            editor.run("write")
            editor.until("return vim.bo.filetype ~= ...", filetype)
        editor.sees("Answers: b, True, Kim Your name? , well, {'port': 80}")


def test_a_summary_that_takes_too_long_is_given_up(start: Start) -> None:
    answers = [{"text": f"Answer {n}. " + "word " * 400} for n in range(2)]
    home = start(*answers, {"text": "Third."}, {"when": "summary"}, {"delay": 60, "text": "No."})
    home.settings(compaction={"keepRecentTokens": 300})
    with neovim(home) as editor:
        for n in range(2):
            editor.say("go on")
            editor.sees(f"Answer {n}.")
            editor.idle()
        editor.run("Singletree compact")
        editor.sees("Summing up…")
        editor.run("Singletree stop")
        editor.idle()
        editor.say("go on")
        shown = editor.sees("Third.")
        assert "Summing up…" not in shown and "▸ Summary" not in shown


def test_another_neovim_finds_the_turn_that_runs(start: Start) -> None:
    """A window is killed in the middle of a turn: the next one shows it, and the draft."""
    slow = {"text": "".join(f"word{n} " for n in range(150)), "chunk": 7, "pause": 0.05}
    home = start(slow)
    with neovim(home, "a.txt") as editor:
        editor.say("go")
        editor.sees("word5 ")
        editor.keys("ia draft<Esc>")
        editor.until("return vim.fn.glob(vim.fn.stdpath('state') .. '/singletree/*.txt') ~= ''")
    with neovim(home, "a.txt") as editor:
        editor.run("Singletree")
        shown = editor.sees("word20 ")
        assert shown.startswith("go\n") and "word149" not in shown
        assert editor.buffer("prompt") == "a draft"
        assert editor.lua("return require('singletree').status()").startswith("● running")
        shown = editor.sees("word149")
        assert shown.count("word5 ") == 1
        editor.idle()


def test_the_daemon_dies_and_comes_back(start: Start) -> None:
    home = start({"text": "Before."}, SLOW)
    with neovim(home, "a.txt") as editor:
        editor.say("one")
        editor.sees("Before.")
        editor.idle()
        editor.say("two")
        editor.sees("It begins.")
        home.play({"text": "After."})
        home.stop()
        shown = editor.sees("Stopped.")
        assert "It begins." in shown and shown.count("Before.") == 1
        editor.idle()
        home.signal(signal.SIGSTOP)  # it takes the text, and dies before it answers
        editor.say("three")
        editor.until("return vim.fn.getline(1) == ''")
        home.signal(signal.SIGKILL)
        editor.until("return vim.fn.getline(1) == 'three'")
        editor.idle()
        editor.keys("<C-s>")
        editor.sees("After.")
        assert editor.lua("return vim.api.nvim_exec2('messages', {output = true}).output") == ""


def test_two_windows_in_one_folder_have_a_draft_each(start: Start) -> None:
    home = start({"text": "I see."})
    with neovim(home, "a.txt") as one, neovim(home, "a.txt") as other:
        for editor, draft in ((one, "of one"), (other, "of the other")):
            editor.run("Singletree")
            editor.keys(f"i{draft}<Esc>")
        for editor, draft in ((one, "of one"), (other, "of the other")):
            assert editor.buffer("prompt") == draft
            editor.lua(f"{PROMPT}:save()")
    with neovim(home, "a.txt") as editor:
        editor.run("Singletree")
        left = editor.buffer("prompt").split("\n\n")
        assert sorted(left) == ["of one", "of the other"]
        editor.lua(f"{PROMPT}:set({{}})")
    with neovim(home, "a.txt") as editor:
        editor.run("Singletree")
        assert editor.buffer("prompt") == ""


def test_lines_go_along_and_a_model_is_chosen_from_a_list(start: Start) -> None:
    home = start({"text": "I see."})
    with neovim(home, "a.txt") as editor:
        editor.lua(
            "vim.diagnostic.set(vim.api.nvim_create_namespace('x'), 0, "
            "{{lnum = 1, col = 0, message = 'two is odd'}})"
        )
        editor.run("2Singletree")
        editor.until("return vim.bo.filetype == 'singletree-prompt'")
        bar = editor.lua("return vim.api.nvim_eval_statusline(vim.wo.statusline, {}).str")
        assert bar.startswith(" prompt + a.txt 2-2")
        editor.keys("awhy?<C-s><Esc>")
        shown = editor.sees("I see.")
        assert "why?\n  + The user selected this in a.txt line 2: ```" in shown
        assert "\n  + The editor reports for a.txt line 2: two is odd" in shown
        editor.lua("vim.ui.select = function(items, _, chosen) _G.items = items end")
        editor.run("Singletree model")
        editor.until("return _G.items ~= nil")
        assert "offline/demo" in [row["model"] for row in editor.lua("return _G.items")]
        editor.run("Singletree model offline/demo")
        editor.until("return require('singletree').status():find('demo')")
        found = editor.lua("return vim.fn.getcompletion('Singletree t', 'cmdline')")
        assert found == ["thinking", "tree", "trust"]


PICK_FIRST = """
vim.ui.select = function(items, opts, chosen)
  _G.shown = opts.format_item(items[1])
  chosen(items[1])
end
"""


def test_a_remembered_answer_is_forgotten(start: Start) -> None:
    home = start({"call": "bash", "args": {"command": "echo here"}}, {"text": "It ran."})
    with neovim(home, "a.txt") as editor:
        editor.run("Singletree")
        editor.run("Singletree rules")
        editor.sees("No answer is remembered here.")
        editor.run("Singletree prompt go")
        editor.sees("Allow once")
        editor.lua(PICK_FIRST.replace("items[1]", "items[2]"))
        editor.run("Singletree answer")
        editor.sees("It ran.")
        editor.lua(PICK_FIRST)
        editor.run("Singletree rules")
        editor.sees("Forgotten: allow bash: echo")
        shown = str(editor.lua("return _G.shown"))
        assert shown.startswith("allow bash: echo, in this session, used")


def test_a_folder_is_trusted_where_its_things_are_named(start: Start) -> None:
    home = start({"text": "I see."})
    own = home.folder / ".pi" / "SYSTEM.md"
    own.parent.mkdir()
    own.write_text("Be brief.")
    with neovim(home, "a.txt") as editor:
        editor.run("Singletree")
        assert str(own) in editor.sees("This folder is not trusted")
        editor.run("Singletree trust yes")
        shown = editor.sees("What this folder brings along counts.")
        assert "This folder is not trusted" not in shown


def test_what_is_missing_is_said_in_one_message(start: Start) -> None:
    home = start()
    (home.root / "bin" / "singletree").unlink()
    nowhere = {"PATH": "/usr/bin:/bin"}
    with neovim(home, env=nowhere) as editor:
        editor.run("Singletree")
        assert 'the program "singletree" is not there. Install it' in editor.transcript()
        editor.run("checkhealth singletree")
        health = "\n".join(editor.lua("return vim.api.nvim_buf_get_lines(0, 0, -1, false)"))
        assert "the program is missing" in health


def test_the_pure_parts() -> None:
    program = found()
    assert program is not None
    done = subprocess.run(
        [str(program), "-l", str(Path(__file__).with_name("nvim_units.lua"))],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) >= 12
