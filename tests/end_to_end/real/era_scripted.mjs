// Clients of the SDKs against scripted servers, one after the other: node era_scripted.mjs [[SDK, MODE, COMMAND, ARG…]…] (JSON; or a URL)
// As era_client.mjs, with that server's tools. What of it the SDK got wrong, the server says.
import assert from "node:assert/strict";
import { textOf } from "./helpers.mjs";

for (const one of JSON.parse(process.argv[2])) {
  try {
    await doAll(...one);
  } catch (error) {
    console.error(`The client ${one}:`, error);
    process.exit(1);
  }
}

async function doAll(version, mode, command, ...args) {
  const isUrl = command.startsWith("http");
  const v1 = version === "v1";
  const { Client } = await import(v1 ? "@modelcontextprotocol/sdk/client/index.js" : "@modelcontextprotocol/client");
  const { StreamableHTTPClientTransport } = await import(v1 ? "@modelcontextprotocol/sdk/client/streamableHttp.js" : "@modelcontextprotocol/client");
  const { StdioClientTransport } = await import(v1 ? "@modelcontextprotocol/sdk/client/stdio.js" : "@modelcontextprotocol/client/stdio");
  const negotiation = { legacy: "legacy", auto: "auto", pinned: { pin: "2026-07-28" } }[mode];
  const client = new Client({ name: "era", version: "1" }, { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: negotiation } });
  const accept = () => ({ action: "accept", content: { name: "Ada" } });
  if (v1) client.setRequestHandler((await import("@modelcontextprotocol/sdk/types.js")).ElicitRequestSchema, accept);
  else client.setRequestHandler("elicitation/create", accept);
  await client.connect(isUrl ? new StreamableHTTPClientTransport(new URL(command)) : new StdioClientTransport({ command, args, stderr: "inherit" }));
  const call = (params, options) => (v1 ? client.callTool(params, undefined, options) : client.callTool(params, options));

  const { tools } = await client.listTools();
  assert.equal(textOf(await call({ name: "echo", arguments: { message: "héllo" } })), "héllo");
  const steps = [];
  assert.equal(textOf(await call({ name: "slow", arguments: { steps: 3 } }, { onprogress: (one) => steps.push(one.progress) })), "done after 3 steps");
  assert.match(textOf(await call({ name: "ask", arguments: { kinds: ["elicitation"], rounds: 2 } })), /Ada.*Ada/);
  assert.equal((await client.readResource({ uri: "demo://zwei ü" })).contents[0].text, "text of demo://zwei ü");
  if (tools.some((one) => one.name === "regional")) {
    assert.match(textOf(await call({ name: "regional", arguments: { region: " ü ", count: 3, deep: { flag: false } } })), /"count": 3/);
  }
  console.log(JSON.stringify({ era: v1 ? "legacy" : client.getProtocolEra(), tools: tools.map((one) => one.name), steps }));
  await client.close();
}
