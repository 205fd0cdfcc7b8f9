"""What the door is measured against: a bare asyncio loop that reads, answers and streams.

No framework, no validation, no bounds: the least a Python process with this protocol can cost.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import Any


async def main() -> None:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=1 << 26)
    await loop.connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(0, "rb", 0)
    )
    transport, protocol = await loop.connect_write_pipe(
        lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader()), os.fdopen(1, "wb", 0)
    )
    writer = asyncio.StreamWriter(transport, protocol, None, loop)

    def put(message: dict[str, Any]) -> None:
        body = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode()
        writer.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))

    while True:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
        except asyncio.IncompleteReadError:
            break
        message = json.loads(await reader.readexactly(int(head.split(b":")[1])))
        if message["method"] == "example/stream":
            for chunk in range(message["params"]["n"]):
                text = f"piece {chunk}, "
                params = {"sessionId": "s", "after": 0, "itemId": "i", "kind": "text", "part": 0}
                params |= {"from": chunk, "to": chunk + 1, "text": text}
                put({"jsonrpc": "2.0", "method": "agent/delta", "params": params})
                await writer.drain()
        if "id" in message:
            put({"jsonrpc": "2.0", "id": message["id"], "result": message.get("params")})
            await writer.drain()


if __name__ == "__main__":
    asyncio.run(main())
    sys.exit(0)
