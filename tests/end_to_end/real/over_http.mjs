// The SDK's clients over the HTTP frontend: node over_http.mjs v1|v2 http|sse URL
// Everything a client does through Streamable HTTP or HTTP+SSE, against the demo upstream's tools.
import assert from "node:assert/strict";
import { checkProgress, eventually, textOf } from "./helpers.mjs";

const [version, transportName, url] = process.argv.slice(2);

const progress = [];
const seen = { logged: [], errors: [] };
const capabilities = { sampling: {}, elicitation: {}, roots: {} };
const handlers = {
  "sampling/createMessage": () => ({ model: "m", role: "assistant", content: { type: "text", text: "sampled" } }),
  "elicitation/create": () => ({ action: "accept", content: { answer: "Ada" } }),
  "roots/list": () => ({ roots: [{ uri: "file:///here" }] }),
};

const sdk = version === "v1" ? await v1() : await v2();
const { client, transport } = sdk;
client.onerror = (error) => seen.errors.push(String(error));
await client.connect(transport);
assert.equal(client.getServerVersion().name, "demo-upstream");

const { tools } = await client.listTools();
assert.ok(tools.some((tool) => tool.name === "echo"));
const message = "héllo \u{1F600}";
assert.equal(textOf(await client.callTool({ name: "echo", arguments: { message } })), message);
const answers = await Promise.all(
  Array.from({ length: 20 }, (_, n) => client.callTool({ name: "echo", arguments: { message: `${n}` } })),
);
answers.forEach((answer, n) => assert.equal(textOf(answer), `${n}`));

const long = await sdk.call({ name: "slow", arguments: { steps: 3, delayMs: 20 } }, { onprogress: (step) => progress.push(`${step.progress}/${step.total}`) });
assert.equal(textOf(long), "done after 3 steps");
await checkProgress(progress, ["1/3", "2/3", "3/3"], seen.errors);

// The upstream's questions come back with their answers as text.
assert.match(textOf(await client.callTool({ name: "ask", arguments: { question: "Who?" } })), /Ada/);
assert.match(textOf(await client.callTool({ name: "sample", arguments: { prompt: "x" } })), /sampled/);
assert.match(textOf(await client.callTool({ name: "roots", arguments: {} })), /file:\/\/\/here/);

await client.callTool({ name: "burst", arguments: { count: 50 } });
await eventually(() => seen.logged.length === 50, "50 notifications");
assert.deepEqual(seen.logged.map((one) => one.data.n), Array.from({ length: 50 }, (_, n) => n + 1));

const stopped = new AbortController();
const hanging = sdk.call({ name: "slow", arguments: { steps: 1000, delayMs: 1000 } }, { signal: stopped.signal });
setTimeout(() => stopped.abort("enough"), 50);
await assert.rejects(hanging);
await client.ping();

await assert.rejects(client.callTool({ name: "no-such-tool", arguments: {} }).then((answer) => answer.isError && Promise.reject(answer)));
assert.deepEqual(seen.errors, []);
if (transportName === "http") await transport.terminateSession();
await client.close();

async function v1() {
  const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
  const types = await import("@modelcontextprotocol/sdk/types.js");
  const made = new Client({ name: "over-http-v1", version: "1" }, { capabilities });
  made.setRequestHandler(types.CreateMessageRequestSchema, handlers["sampling/createMessage"]);
  made.setRequestHandler(types.ElicitRequestSchema, handlers["elicitation/create"]);
  made.setRequestHandler(types.ListRootsRequestSchema, handlers["roots/list"]);
  made.setNotificationHandler(types.LoggingMessageNotificationSchema, (n) => void seen.logged.push(n.params));
  const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/sdk/client/streamableHttp.js");
  const { SSEClientTransport } = await import("@modelcontextprotocol/sdk/client/sse.js");
  const Transport = transportName === "http" ? StreamableHTTPClientTransport : SSEClientTransport;
  return {
    client: made,
    transport: new Transport(new URL(url)),
    call: (params, options) => made.callTool(params, undefined, options),
  };
}

async function v2() {
  const { Client, SSEClientTransport, StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
  const made = new Client({ name: "over-http-v2", version: "1" }, { capabilities });
  for (const [method, handler] of Object.entries(handlers)) made.setRequestHandler(method, handler);
  made.setNotificationHandler("notifications/message", (n) => void seen.logged.push(n.params));
  const Transport = transportName === "http" ? StreamableHTTPClientTransport : SSEClientTransport;
  return { client: made, transport: new Transport(new URL(url)), call: (params, options) => made.callTool(params, options) };
}
