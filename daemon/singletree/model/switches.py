"""The switches that `compat` in models.json may hold, and what each takes.

Names, values and meaning are pi's, but for those at the end, which are ours; docs/models.md tells
what each does. A name that is not here says nothing to us and is let by: pi has more, for APIs and
for tools that we do not have. Read next: models_file.py (who checks), dialect.py (who asks).
"""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict, JsonValue

from singletree.model.shapes import Cost, Shape

Flag = bool | None
Words = dict[str, JsonValue] | None


class Fallback(Shape):
    """A model that may answer where another refuses, and what it costs."""

    provider: str
    model: str
    cost: Cost


class Switches(Shape):
    """What is said of the servers of a provider, or of one model. null says nothing."""

    model_config = ConfigDict(strict=True)

    # chat completions
    supports_store: Flag = None
    supports_reasoning_effort: Flag = None
    supports_usage_in_streaming: Flag = None
    supports_finish_reason: Flag = None
    max_tokens_field: Literal["max_completion_tokens", "max_tokens"] | None = None
    requires_tool_result_name: Flag = None
    requires_assistant_after_tool_result: Flag = None
    requires_non_null_assistant_content: Flag = None
    requires_tools_with_tool_history: Flag = None
    requires_thinking_as_text: Flag = None
    requires_reasoning_content_on_assistant_messages: Flag = None
    thinking_format: (
        Literal[
            "openai",
            "openrouter",
            "deepseek",
            "together",
            "baseten",
            "zai",
            "qwen",
            "chat-template",
            "qwen-chat-template",
            "string-thinking",
            "ant-ling",
        ]
        | None
    ) = None
    chat_template_kwargs: Words = None
    chat_template_args: Words = None
    supports_thinking_token_budget: Flag = None
    thinking_token_budget_field: str | None = None
    open_router_routing: Words = None
    vercel_gateway_routing: Words = None
    vllm_priority: int | None = None
    zai_tool_stream: Flag = None
    cache_control_format: Literal["anthropic"] | None = None

    # more than one API
    supports_developer_role: Flag = None
    supports_strict_mode: Flag = None
    prompt_cache_key_mode: Literal["auto", "enabled", "disabled"] | None = None
    supports_long_cache_retention: Flag = None
    send_session_affinity_headers: Flag = None
    session_affinity_format: Literal["openai", "openai-nosession", "openrouter"] | None = None
    supports_mid_convo_effort: Flag = None

    # responses
    supports_max_output_tokens: Flag = None
    supports_explicit_prompt_cache_mode: Flag = None

    # messages
    supports_eager_tool_input_streaming: Flag = None
    supports_cache_control_on_tools: Flag = None
    supports_temperature: Flag = None
    force_adaptive_thinking: Flag = None
    allow_empty_signature: Flag = None
    allowed_fallback_models: list[Fallback] | None = None

    # ours
    cache_retention: Literal["short", "long"] | None = None
    extra_body: Words = None
    tool_call_ids: Literal["nine"] | None = None
    uses_thinking_budget: Flag = None

    def said(self) -> dict[str, JsonValue]:
        """As it was given."""
        given: dict[str, JsonValue] = self.model_dump(by_alias=True, exclude_unset=True)
        return given
