"""Stands before every tool call: lets it through, refuses it, or asks.

What is asked depends on the mode and on remembered rules; whatever fails is a no. Never knows how a
question is shown or who answers. Text the model reads stands in the constants. Read next: rules.py
(what is remembered), policy.py (what follows from rules and mode), question.py (what is asked).

    mode         reads inside   reads outside   edits inside   other edits   commands, others
    ask          run            ask             ask            ask           ask unless allowed
    acceptEdits  run            ask             run            ask           ask unless allowed
    readOnly     run            ask             refused        refused       refused
    allowAll     run            run             run            run           run, unconfined

In every mode rules that forbid hold, keys are never touched, and a person's private files are asked
for each time. A command that a rule allows runs in the sandbox where the machine has one; one that
a person allowed when asked runs as it is.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

import anyio
from pydantic import BaseModel, JsonValue

from singletree.agent.tool import Tool, parse_args, values_of
from singletree.errors import SessionError, ToolError, in_words
from singletree.messages import ToolCall
from singletree.session.permission.asking import Asking
from singletree.session.permission.places import Places
from singletree.session.permission.policy import Policy
from singletree.session.permission.question import Allowed, Answer, Ask, Blocked, Option, Question
from singletree.session.permission.rules import Rule, Rules
from singletree.session.permission.verdict import Mode, Verdict
from singletree.tools.leads import Turned
from singletree.tools.preview import preview_change
from singletree.tools.world import World

DENIED = "The user did not allow this call, so it did not run."
FEEDBACK = " They say: {feedback}"
NOBODY = "This call needs the user's permission, and nobody could be asked, so it did not run."
FAILED = "This call could not be checked ({error}), so it did not run."
EDITED = "[The user changed this call before it ran. Its arguments were: {arguments}]"
BAD_EDIT = "The user changed the arguments of this call to some that the tool does not take: {why}"

REMEMBERED = 1000
"""Calls that were let through without the sandbox; one that is forgotten runs in it."""

__all__ = ["Allowed", "Answer", "Ask", "Blocked", "Gate", "Mode", "Option", "Question"]


class Gate:
    """The check of one session. `mode` may change at any time.

    `open`: questions that wait for people; `changed` is called when that is another number, `warn`
    with what people should know of their remembered answers.
    `readable`: folders outside that may be read unasked. `sandbox`: whether this machine can
    confine commands; `shell`: the program that reads them. Both are asked in a worker thread.
    """

    def __init__(
        self,
        ask: Ask,
        world: World,
        agent_dir: Path,
        mode: Mode = "ask",
        *,
        home: Path | None = None,
        readable: Sequence[Path] = (),
        sandbox: Callable[[], bool] = lambda: False,
        shell: Callable[[], str] = lambda: "bash",
    ) -> None:
        self.rules = Rules(permissions_file(agent_dir), world.cwd)
        self.places = Places(world.cwd, agent_dir, home, readable)
        self._policy = Policy(world, self.places, self.rules, mode, sandbox, shell)
        self.world = world
        self.open = 0
        self.changed: Callable[[], None] = lambda: None
        self.warn: Callable[[str, str], None] = lambda code, text: None
        self._ask = ask
        self._free: dict[str, None] = {}

    @property
    def mode(self) -> Mode:
        """What is asked at all."""
        return self._policy.mode

    @mode.setter
    def mode(self, mode: Mode) -> None:
        self._policy.mode = mode

    async def check(self, call: ToolCall, tool: Tool, args: BaseModel) -> Allowed | Blocked:
        """Whether this call may run, and how."""
        try:
            verdict = await self._policy.judge(tool, args)
            answer = await self._settle(verdict, call, tool, args)
            if isinstance(answer, Allowed):
                self.world.files.leads.allow(verdict.leads)
        except Exception as error:
            return Blocked(FAILED.format(error=in_words(error)))
        finally:
            problem, self.rules.problem = self.rules.problem, ""
            if problem:
                self.warn("permissions", problem)
        if isinstance(answer, Allowed):
            self._let_through(call.id, free=not answer.sandboxed)
        return answer

    async def in_force(self) -> list[Rule]:
        """The remembered answers."""
        return await anyio.to_thread.run_sync(self.rules.all)

    async def forget(self, ids: Collection[str]) -> list[str]:
        """Take answers back; returns the ids that were there."""
        return await anyio.to_thread.run_sync(self.rules.remove, ids)

    async def close(self) -> None:
        """Write down how often the remembered answers were used."""
        await anyio.to_thread.run_sync(self.rules.save_uses)

    def confined(self, call_id: str) -> bool:
        """Whether a call may run only in the sandbox: all but those let through without it."""
        return call_id not in self._free

    def _let_through(self, call_id: str, *, free: bool) -> None:
        """A provider may give the same id again in a later answer."""
        self._free.pop(call_id, None)
        if free:
            self._free[call_id] = None
        if len(self._free) > REMEMBERED:
            del self._free[next(iter(self._free))]

    async def _settle(
        self, verdict: Verdict, call: ToolCall, tool: Tool, args: BaseModel
    ) -> Allowed | Blocked:
        self.rules.count(verdict.used)
        match verdict.decision:
            case "allow":
                return Allowed(args, verdict.sandboxed)
            case "deny":
                return Blocked(verdict.reason)
            case "ask":
                assert verdict.asking is not None
                return await self._asked(verdict.asking, verdict.reason, call, tool, args)

    async def _asked(
        self, asking: Asking, reason: str, call: ToolCall, tool: Tool, args: BaseModel
    ) -> Allowed | Blocked:
        try:
            diff = await self._preview(args)
        except ToolError as error:
            return Blocked(error.message)
        question = Question(
            tool=tool.name,
            call_id=call.id,
            kind=asking.subject,
            title=asking.title,
            reason=reason,
            options=asking.options,
            command=asking.command,
            cwd=asking.cwd,
            paths=asking.paths,
            diff=diff,
            input=args.model_dump(mode="json", by_alias=True, exclude_none=True),
            default_to_no=asking.default_to_no,
        )
        self._count(1)
        try:
            answer = await self._ask(question)
        except Exception:
            return Blocked(NOBODY)
        finally:
            self._count(-1)
        return await self._answered(answer, asking, tool, args)

    def _count(self, more: int) -> None:
        self.open += more
        self.changed()

    async def _preview(self, args: BaseModel) -> str | None:
        try:
            return await preview_change(self.world, args)
        except OSError:
            return None  # the tool will say it better
        except Turned:
            return None  # since an earlier yes; this one is for where it leads now

    async def _answered(
        self, answer: Answer, asking: Asking, tool: Tool, args: BaseModel
    ) -> Allowed | Blocked:
        chosen = next((o for o in asking.options if o.id == answer.option_id), None)
        if answer.outcome != "allowed" or (chosen is not None and chosen.kind == "deny"):
            if answer.by == "policy":
                return Blocked(NOBODY)
            if chosen is not None and chosen.kind == "deny":
                await self._remember(chosen, asking)
            feedback = FEEDBACK.format(feedback=answer.feedback) if answer.feedback else ""
            return Blocked(DENIED + feedback)
        if answer.option_id is not None and chosen is None:
            return Blocked(DENIED)
        if answer.edited_input is not None:
            return await self._edited(answer.edited_input, tool, args)
        if chosen is not None:
            await self._remember(chosen, asking)
        return Allowed(args)

    async def _edited(
        self, given: Mapping[str, JsonValue], tool: Tool, before: BaseModel
    ) -> Allowed | Blocked:
        """A yes to other arguments: what is forbidden in every mode stays so."""
        try:
            args = parse_args(tool, ToolCall(id="", name=tool.name, arguments=dict(given)))
        except ToolError as error:
            return Blocked(BAD_EDIT.format(why=error.message))
        verdict = await self._policy.judge(tool, args)
        if verdict.decision == "deny":
            return Blocked(verdict.reason)
        self.world.files.leads.allow(verdict.leads)
        if args == before:
            return Allowed(before)
        arguments = json.dumps(values_of(args), ensure_ascii=False)
        return Allowed(args, note=EDITED.format(arguments=arguments))

    async def _remember(self, chosen: Option, asking: Asking) -> None:
        if chosen.scope == "once":
            return
        try:
            for pattern in asking.patterns:
                await anyio.to_thread.run_sync(
                    self.rules.add, asking.family, pattern, chosen.kind, chosen.scope
                )
        except SessionError as error:
            self.warn("permissions", error.message)


def permissions_file(agent_dir: Path) -> Path:
    """Where remembered answers stand."""
    return agent_dir / "singletree" / "permissions.json"
