"""What a tool call is measured against: a bare loop over httpx that asks, opens a file, encodes.

No session file, no client, no permission, no validation: the least a Python agent can cost. Run
with the server's address, how many calls there will be, and the file; prints seconds.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from pathlib import Path
from typing import Any

import httpx

SYSTEM = {"role": "system", "content": "Follow the rules of the project. " * 100}


async def main(url: str, path: str) -> None:
    async with httpx.AsyncClient(timeout=None, trust_env=False) as client:
        await client.get(url)
        begun = time.perf_counter()
        messages = [json.dumps(m) for m in (SYSTEM, {"role": "user", "content": "go"})]
        while call := await asked(client, url, messages):
            messages.append(json.dumps({"role": "assistant", "tool_calls": [call]}))
            done = {"role": "tool", "tool_call_id": call["id"], "content": opened(path)}
            messages.append(json.dumps(done))
        print(time.perf_counter() - begun)


def opened(path: str) -> str:
    return Path(path).read_text("utf-8")


async def asked(client: httpx.AsyncClient, url: str, messages: list[str]) -> Any:
    """The call of the answer, None if there is none."""
    body = f'{{"model":"m","stream":true,"messages":[{",".join(messages)}]}}'
    call = None
    async with client.stream("POST", url, content=body) as response:
        async for line in response.aiter_lines():
            if line.startswith("data: {"):
                for choice in json.loads(line[6:])["choices"]:
                    call = choice["delta"].get("tool_calls", [call])[0]
    return call


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
