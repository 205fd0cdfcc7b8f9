/**
 * A second editor on the same session: the least a client must know, over `singletree attach`.
 */
import { spawn } from "node:child_process";
import { pathToFileURL } from "node:url";
import { need, type Server } from "./server.ts";

interface Message {
  id?: number | string;
  method?: string;
  params?: { options?: { id: string }[] };
}

/** Open the session of the server's folder and wait until something is asked: gives what allows it. */
export async function askedElsewhere(server: Server): Promise<() => void> {
  const child = spawn(need("SINGLETREE"), ["attach"], { env: server.env, stdio: ["pipe", "pipe", "ignore"] });
  const workspace = pathToFileURL(server.workspace).href;
  const send = (message: object): void => {
    const body = JSON.stringify({ jsonrpc: "2.0", ...message });
    child.stdin.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  };
  const agent = { protocolVersions: [1], permissions: {}, clientId: "peer" };
  send({ id: 1, method: "initialize", params: { processId: null, rootUri: null, capabilities: {}, initializationOptions: { agent } } });
  send({ method: "initialized", params: {} });
  send({ id: 2, method: "agent/session/open", params: { workspace } });
  for await (const message of messages(child.stdout)) {
    if (message.method !== "agent/permission/request") continue;
    return () => {
      send({ id: message.id, result: { outcome: "selected", optionId: message.params?.options?.[0]?.id } });
      child.stdin.end();
    };
  }
  throw new Error("the second editor was asked nothing");
}

async function* messages(stream: AsyncIterable<Buffer>): AsyncGenerator<Message> {
  let bytes = Buffer.alloc(0);
  for await (const piece of stream) {
    bytes = Buffer.concat([bytes, piece]);
    for (;;) {
      const end = bytes.indexOf("\r\n\r\n");
      const length = Number(/content-length: (\d+)/i.exec(bytes.toString("latin1", 0, Math.max(end, 0)))?.[1]);
      if (end < 0 || bytes.length < end + 4 + length) break;
      yield JSON.parse(bytes.toString("utf8", end + 4, end + 4 + length)) as Message;
      bytes = bytes.subarray(end + 4 + length);
    }
  }
}
