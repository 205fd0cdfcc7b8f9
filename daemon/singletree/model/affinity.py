"""Headers that bring a conversation back to the server which has its beginning in the cache.

Which there are depends on the API and on `sessionAffinityFormat`. Pure. Read next: apis.py.
"""

from __future__ import annotations

from collections.abc import Mapping

from singletree.model.base import ModelInfo, ModelRequest
from singletree.model.dialect import flag, option

_ROUTER = ("x-session-id",)
_HEADERS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "openai-completions": {
        "openai": ("session_id", "x-client-request-id", "x-session-affinity"),
        "openai-nosession": ("x-client-request-id", "x-session-affinity"),
        "openrouter": _ROUTER,
    },
    "openai-responses": {
        "openai": ("session-id", "x-client-request-id"),
        "openai-nosession": ("x-client-request-id",),
        "openrouter": _ROUTER,
    },
    "anthropic-messages": {
        "openai": ("x-session-affinity",),
        "openai-nosession": ("x-session-affinity",),
        "openrouter": _ROUTER,
    },
}
"""By API and format."""
_ALWAYS = "openai-responses"


def affinity(info: ModelInfo, request: ModelRequest) -> dict[str, str]:
    """The headers, none for a request that is not to be cached, or a name that no header takes."""
    wanted = info.api == _ALWAYS or flag(info, "sendSessionAffinityHeaders")
    name = request.session_id
    if not (wanted and request.cache and name and name.isascii() and name.isprintable()):
        return {}
    formats = _HEADERS.get(info.api, {})
    names = formats.get(option(info, "sessionAffinityFormat"), ())
    return dict.fromkeys(names, name)
