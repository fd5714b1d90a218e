// Clients of the SDKs, each of which does all that a client does, one after the other:
//   node era_client.mjs CLIENT[,CLIENT…] COMMAND ARG… or URL
//   CLIENT  SDK:MODE; the SDK is v1 (1.32, the older revisions alone) or v2 (2.4),
//           the mode legacy, auto or pinned (v2: versionNegotiation)
// The server offers the tools of era_server.mjs. Each says a line on stdout: {"era":…,"version":…,"server":…}
import assert from "node:assert/strict";
import { checkProgress, eventually, textOf } from "./helpers.mjs";

const [clients, command, ...args] = process.argv.slice(2);
const isUrl = command.startsWith("http");
const capabilities = { sampling: {}, elicitation: { form: {} }, roots: {} };
const handlers = {
  "sampling/createMessage": () => ({ model: "m", role: "assistant", content: { type: "text", text: "sampled" } }),
  "elicitation/create": () => ({ action: "accept", content: { name: "Ada" } }),
  "roots/list": () => ({ roots: [{ uri: "file:///here" }] }),
};

for (const one of clients.split(",")) {
  try {
    await doAll(...one.split(":"));
  } catch (error) {
    console.error(`The client ${one}:`, error);
    process.exit(1);
  }
}

async function doAll(version, mode) {
  const seen = { logged: [], updated: [], tools: 0, errors: [] };
  const notifications = {
    "notifications/message": (one) => void seen.logged.push(one.params.data),
    "notifications/resources/updated": (one) => void seen.updated.push(one.params.uri),
    "notifications/tools/list_changed": () => void ++seen.tools,
  };

  const { client, transport, call, read } = await (version === "v1" ? v1(notifications) : v2(mode, notifications));
  client.onerror = (error) => seen.errors.push(String(error));
  await client.connect(transport);
  const era = version === "v1" ? "legacy" : client.getProtocolEra();

  const { tools } = await client.listTools();
  assert.ok(["echo", "slow", "ask", "change"].every((name) => tools.some((tool) => tool.name === name)), JSON.stringify(tools));
  const message = "héllo \u{1F600}";
  assert.equal(textOf(await call({ name: "echo", arguments: { message } })), message);
  const answers = await Promise.all(Array.from({ length: 10 }, (_, n) => call({ name: "echo", arguments: { message: `${n}` } })));
  answers.forEach((answer, n) => assert.equal(textOf(answer), `${n}`));

  const progress = [];
  if (era === "legacy") await client.setLoggingLevel("info");
  const logging = era === "modern" ? { _meta: { "io.modelcontextprotocol/logLevel": "info" } } : {};
  const slow = await call({ name: "slow", arguments: { steps: 3, delayMs: 20 }, ...logging }, { onprogress: (step) => progress.push(`${step.progress}/${step.total}`) });
  assert.equal(textOf(slow), "done after 3 steps");
  await checkProgress(progress, ["1/3", "2/3", "3/3"], seen.errors);
  await eventually(() => seen.logged.length >= 3, "three log messages");

  assert.match(textOf(await call({ name: "ask", arguments: { kind: "elicitation" } })), /Ada/);
  assert.match(textOf(await call({ name: "ask", arguments: { kind: "sampling" } })), /sampled/);
  assert.match(textOf(await call({ name: "ask", arguments: { kind: "roots" } })), /file:\/\/\/here/);
  assert.equal(JSON.parse(textOf(await call({ name: "ask", arguments: { kind: "elicitation", rounds: 3 } }))).answers.length, 3);

  const subscription = era === "modern" ? await client.listen({ toolsListChanged: true, resourceSubscriptions: ["demo://one"] }) : await client.subscribeResource({ uri: "demo://one" });
  await call({ name: "change", arguments: { kind: "tools" } });
  await call({ name: "change", arguments: { kind: "resource", uri: "demo://one" } });
  await eventually(() => seen.tools >= 1 && seen.updated.includes("demo://one"), `a changed list and a resource: ${JSON.stringify(seen)}`);
  if (era === "modern") await subscription.close();
  else await client.unsubscribeResource({ uri: "demo://one" });

  assert.equal((await read("demo://one")).contents[0].text, "text of one");
  assert.ok((await client.getPrompt({ name: "greet" })).messages.length > 0);
  await assert.rejects(read("demo://none"));

  const stopped = new AbortController();
  const hanging = call({ name: "slow", arguments: { steps: 1000, delayMs: 50 } }, { signal: stopped.signal });
  setTimeout(() => stopped.abort("enough"), 100);
  await assert.rejects(hanging);
  assert.equal(textOf(await call({ name: "echo", arguments: { message: "after" } })), "after");

  assert.deepEqual(seen.errors, []);
  console.log(JSON.stringify({ era, version: client.getNegotiatedProtocolVersion?.(), server: client.getServerVersion()?.name }));
  await client.close();
}

async function v1(notifications) {
  const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
  const types = await import("@modelcontextprotocol/sdk/types.js");
  const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/sdk/client/streamableHttp.js");
  const { StdioClientTransport } = await import("@modelcontextprotocol/sdk/client/stdio.js");
  const made = new Client({ name: "era-v1", version: "1" }, { capabilities });
  made.setRequestHandler(types.CreateMessageRequestSchema, handlers["sampling/createMessage"]);
  made.setRequestHandler(types.ElicitRequestSchema, handlers["elicitation/create"]);
  made.setRequestHandler(types.ListRootsRequestSchema, handlers["roots/list"]);
  made.setNotificationHandler(types.LoggingMessageNotificationSchema, notifications["notifications/message"]);
  made.setNotificationHandler(types.ResourceUpdatedNotificationSchema, notifications["notifications/resources/updated"]);
  made.setNotificationHandler(types.ToolListChangedNotificationSchema, notifications["notifications/tools/list_changed"]);
  return {
    client: made,
    transport: isUrl ? new StreamableHTTPClientTransport(new URL(command)) : new StdioClientTransport({ command, args, stderr: "inherit" }),
    call: (params, options) => made.callTool(params, undefined, options),
    read: (uri) => made.readResource({ uri }),
  };
}

async function v2(mode, notifications) {
  const { Client, StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
  const { StdioClientTransport } = await import("@modelcontextprotocol/client/stdio");
  const negotiation = { legacy: "legacy", auto: "auto", pinned: { pin: "2026-07-28" } }[mode];
  const made = new Client({ name: "era-v2", version: "1" }, { capabilities, versionNegotiation: { mode: negotiation } });
  for (const [method, handler] of Object.entries(handlers)) made.setRequestHandler(method, handler);
  for (const [method, handler] of Object.entries(notifications)) made.setNotificationHandler(method, handler);
  return {
    client: made,
    transport: isUrl ? new StreamableHTTPClientTransport(new URL(command)) : new StdioClientTransport({ command, args, stderr: "inherit" }),
    call: (params, options) => made.callTool(params, options),
    read: (uri) => made.readResource({ uri }),
  };
}
