"""What follows from mode and rules for a call: run it, refuse it, or ask, and with which answers.

Judges what a call would touch, never what it means. Never asks and never remembers by itself. Read
next: file_policy.py and command_policy.py (the two that matter), gate.py (who acts on it).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import anyio
from pydantic import BaseModel

from singletree.agent.tool import Tool
from singletree.session.permission.asking import Asking
from singletree.session.permission.command_policy import CommandPolicy
from singletree.session.permission.file_policy import FilePolicy
from singletree.session.permission.places import Places
from singletree.session.permission.rules import Rule, Rules
from singletree.session.permission.verdict import ALLOW, READ_ONLY, RULE, Mode, Verdict
from singletree.tools.world import World

ASK_TOOL = "No rule allows this tool."
USES_OF = "every use of {tool}"


class Policy:
    """Knows the mode, the rules and the places. `sandbox`: whether commands can be confined.

    `shell`: the program that reads them.
    """

    def __init__(
        self,
        world: World,
        places: Places,
        rules: Rules,
        mode: Mode,
        sandbox: Callable[[], bool],
        shell: Callable[[], str],
    ) -> None:
        self.mode: Mode = mode
        self._rules = rules
        self._sandbox = sandbox
        self._files = FilePolicy(world, places, rules)
        self._commands = CommandPolicy(world, places, shell)

    async def judge(self, tool: Tool, args: BaseModel) -> Verdict:
        """The verdict on one call."""
        if tool.kind in ("read", "search", "edit") and "path" in type(args).model_fields:
            path = getattr(args, "path", None)
            text = path if isinstance(path, str) and path else "."
            return await self._files.judge(tool, text, self.mode)
        rules, sandbox = await anyio.to_thread.run_sync(self._look)
        command = getattr(args, "command", None)
        if tool.kind == "execute" and isinstance(command, str):
            free = getattr(args, "unconfined", None) is True
            return await self._commands.judge(command, self.mode, rules, sandbox=sandbox, free=free)
        return self._other(tool, [rule for rule in rules if rule.tool == tool.name])

    def _look(self) -> tuple[list[Rule], bool]:
        return self._rules.all(), self._sandbox()

    def _other(self, tool: Tool, rules: Sequence[Rule]) -> Verdict:
        for rule in rules:
            if rule.decision == "deny":
                return Verdict("deny", RULE.format(pattern=tool.name), used=(rule,))
        if self.mode == "readOnly":
            return Verdict("deny", READ_ONLY.format(what=f"calls of {tool.name}"))
        if self.mode == "allowAll":
            return ALLOW
        if rules:
            return Verdict("allow", used=(rules[0],))
        asking = Asking("custom", tool.name, tool.label, USES_OF.format(tool=tool.label), ("*",))
        return Verdict("ask", ASK_TOOL, asking)
