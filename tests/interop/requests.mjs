// What pi would send: cases on stdin ({model, context, options}), headers and bodies on stdout.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [, , api] = process.argv;
const cases = JSON.parse(readFileSync(0, "utf8"));
const sent = [];
for (const { model, context, options } of cases) {
  const { streamSimple } = await import(pathToFileURL(`${api}/${model.api}.js`).href);
  const fetch = async (url, { headers, body }) => {
    sent.push({ headers: Object.fromEntries(new Headers(headers)), body: JSON.parse(body) });
    return new Response("{}", { status: 400 });
  };
  const stream = streamSimple(model, context, { ...options, apiKey: "sk-key", fetch, maxRetries: 0 });
  for await (const _ of stream);
}
process.stdout.write(JSON.stringify(sent));
