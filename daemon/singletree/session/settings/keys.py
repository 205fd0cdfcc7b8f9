"""The keys of settings.json: what each means, what it is when nobody says anything.

Names are pi's (camelCase in the file), a few are ours. Never reads a file. Read next: layers.py
(the layers and where a value came from).
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from singletree.compaction.budget import Limits
from singletree.messages import ThinkingLevel

QueueMode = Literal["one-at-a-time", "all"]
Mode = Literal["ask", "acceptEdits", "readOnly", "allowAll"]
Tokens = Annotated[int, Field(ge=0, le=2**53 - 1)]
Millis = Annotated[int, Field(ge=0)]

DEFAULT_TOOLS = ("read", "bash", "edit", "write", "grep", "find", "ls")
"""All of ours: searching changes nothing, so it costs no question."""


class Keys(BaseModel):
    """Base of all groups: camelCase in the file, strict types, unknown keys left alone."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        populate_by_name=True,
        extra="ignore",
        frozen=True,
        strict=True,
        defer_build=True,
    )


class CompactionOverride(Keys):
    """Other limits for one model."""

    reserve_tokens: Tokens | None = None
    keep_recent_tokens: Tokens | None = None


class Compaction(Keys):
    """When the conversation is summarised, and how much of it stays as it is."""

    enabled: bool = Field(True, description="Compact by itself when the window is nearly full.")
    reserve_tokens: Tokens = Field(16_384, description="Tokens of the window left for the answer.")
    keep_recent_tokens: Tokens = Field(
        20_000, description="Newest tokens that are never summed up."
    )
    model_overrides: dict[str, CompactionOverride] = Field(
        default_factory=dict, description='Other limits for one model: {"provider/id": {…}}.'
    )

    def limits(self, ref: str) -> Limits:
        """The limits for the model `provider/id`."""
        own = self.model_overrides.get(ref, CompactionOverride())
        return Limits(
            self.reserve_tokens if own.reserve_tokens is None else own.reserve_tokens,
            self.keep_recent_tokens if own.keep_recent_tokens is None else own.keep_recent_tokens,
            self.enabled,
        )


class BranchSummary(Keys):
    """The summary of a branch that is left."""

    reserve_tokens: Tokens = Field(16_384, description="Tokens left for the summary's answer.")


class ProviderRetry(Keys):
    """What is allowed to the way to the provider."""

    timeout_ms: Millis | None = Field(
        None, description="Whole time of one request; none: no limit."
    )
    max_retry_delay_ms: Millis = Field(
        60_000, description="A provider that asks for a longer wait is not waited for; 0: no limit."
    )


class Retry(Keys):
    """What happens after a failure that may pass."""

    enabled: bool = Field(True, description="Ask again after a failure that may pass.")
    max_retries: int = Field(3, ge=0, description="How often in a row.")
    base_delay_ms: Millis = Field(2_000, description="Wait before the first repeat; then doubled.")
    max_agent_delay_ms: Millis = Field(60_000, description="Longest wait of our own.")
    provider: ProviderRetry = Field(default_factory=ProviderRetry)


class Images(Keys):
    """Pictures in the context."""

    auto_resize: bool = Field(True, description="Scale down what a provider would refuse.")
    block_images: bool = Field(False, description="Send a note instead of every picture.")


class Permissions(Keys):
    """What is asked before it is done."""

    mode: Mode | None = Field(
        None, description="The mode that sessions begin with; none: ask before edits and commands."
    )


class Sandbox(Keys):
    """Where commands run that a rule lets run unasked."""

    enabled: bool = Field(
        True, description="Confine them, where the machine can. If not, they run as they are."
    )
    network: bool = Field(False, description="Let them reach the network.")
    writable: list[str] = Field(
        default_factory=list,
        description="Folders that they may write beside the workspace: absolute, with ~, or from "
        "the workspace.",
    )


class Environment(Keys):
    """Which of the daemon's variables commands see, as names or globs; keys are dropped anyway."""

    keep: list[str] = Field(
        default_factory=list, description="Passed on, though it looks like a key."
    )
    drop: list[str] = Field(default_factory=list, description="Never passed on.")


class SharedDaemon(Keys):
    """The daemon that several editors share (`singletree attach`)."""

    idle_minutes: float = Field(
        10,
        ge=0,
        le=100_000,
        description="It ends so long after its last client, when nothing runs; 0: never.",
    )


class Settings(Keys):
    """All settings. Values of a workspace count only while it is trusted."""

    default_provider: str | None = Field(None, description="Provider of the model to begin with.")
    default_model: str | None = Field(None, description="The model to begin with.")
    default_thinking_level: ThinkingLevel = Field("medium", description="Thinking to begin with.")
    model_thinking_levels: dict[str, ThinkingLevel] = Field(
        default_factory=dict,
        description='Thinking to begin with for one model: {"provider/id": …}.',
    )
    thinking_budgets: dict[str, Tokens] = Field(
        default_factory=dict, description="Tokens per thinking level, where a provider takes them."
    )
    enabled_models: list[str] | None = Field(
        None, description='Models to cycle through: "provider/id" or an id, with * and ?.'
    )
    steering_mode: QueueMode = Field("one-at-a-time", description="How steering texts are taken.")
    follow_up_mode: QueueMode = Field("one-at-a-time", description="How follow-ups are taken.")
    max_steps: int = Field(
        500, ge=1, description="Steps of a run without a word from you, after which it ends."
    )
    compaction: Compaction = Field(default_factory=Compaction)
    branch_summary: BranchSummary = Field(default_factory=BranchSummary)
    retry: Retry = Field(default_factory=Retry)
    http_idle_timeout_ms: Millis = Field(
        300_000, description="Silence in an answer that counts as a failure; 0: never."
    )
    http_first_token_timeout_ms: Millis = Field(
        300_000, description="The same before the first token, for slow local models."
    )
    daemon: SharedDaemon = Field(default_factory=SharedDaemon)
    http_proxy: str | None = Field(None, description="Proxy for providers (user settings only).")
    shell_path: str | None = Field(None, description="The shell of the bash tool.")
    shell_command_prefix: str | None = Field(None, description="Put before every command.")
    images: Images = Field(default_factory=Images)
    default_tools: list[str] = Field(
        default_factory=lambda: list(DEFAULT_TOOLS),
        description='Active tools; "+name" and "-name" change the list below instead.',
    )
    extensions: list[str] = Field(default_factory=list, description="More extensions, as paths.")
    extension_timeout_ms: Millis = Field(
        60_000, description="Time an extension may take to load or to answer; 0: no limit."
    )
    skills: list[str] = Field(default_factory=list, description="More skill folders.")
    prompts: list[str] = Field(default_factory=list, description="More prompt templates.")
    enable_skill_commands: bool = Field(True, description="Offer each skill as a command.")
    session_dir: str | None = Field(None, description="Where sessions are kept.")
    default_project_trust: Literal["ask", "always", "never"] = Field(
        "ask", description="Trust of a workspace nobody decided on (user settings only)."
    )
    permissions: Permissions = Field(
        default_factory=Permissions, description="What is asked (user settings only)."
    )
    sandbox: Sandbox = Field(
        default_factory=Sandbox, description="The sandbox of commands (user settings only)."
    )
    environment: Environment = Field(
        default_factory=Environment,
        description="The environment of commands (user settings only).",
    )

    @property
    def extension_limit(self) -> float | None:
        """Seconds that an extension may take; None for no limit."""
        return self.extension_timeout_ms / 1000 or None
