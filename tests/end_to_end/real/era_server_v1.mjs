// A server of the first SDK, which knows the older revisions alone: node era_server_v1.mjs http|stdio
// The tools are those of era_server.mjs; so is what it prints.
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { CreateMessageResultSchema, ElicitResultSchema, ListRootsResultSchema, SubscribeRequestSchema, UnsubscribeRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";

const [carrier] = process.argv.slice(2);
const say = (line) => (carrier === "stdio" ? console.error(line) : console.log(line));
const text = (words) => ({ content: [{ type: "text", text: typeof words === "string" ? words : JSON.stringify(words) }] });

const questions = {
  elicitation: [{ method: "elicitation/create", params: { message: "Who?", requestedSchema: { type: "object", properties: { name: { type: "string" } } } } }, ElicitResultSchema],
  sampling: [{ method: "sampling/createMessage", params: { messages: [{ role: "user", content: { type: "text", text: "say" } }], maxTokens: 10 } }, CreateMessageResultSchema],
  roots: [{ method: "roots/list" }, ListRootsResultSchema],
};

const servers = new Set();
const sessions = new Map();

function build() {
  const server = new McpServer(
    { name: "sdk-legacy", version: "1" },
    { capabilities: { tools: { listChanged: true }, resources: { listChanged: true, subscribe: true }, prompts: {}, logging: {} }, instructions: "Ask nicely." },
  );
  const tool = (name, inputSchema, work) =>
    server.registerTool(name, { inputSchema }, async (input, extra) => {
      say(`call ${name} legacy`);
      return work(input, extra);
    });
  tool("echo", { message: z.string() }, ({ message }) => text(message));
  tool("slow", { steps: z.number(), delayMs: z.number() }, async ({ steps, delayMs }, extra) => {
    const progressToken = extra._meta?.progressToken;
    for (let step = 1; step <= steps; ++step) {
      await new Promise((resolve) => setTimeout(resolve, delayMs));
      if (extra.signal.aborted) {
        say("aborted slow");
        break;
      }
      if (progressToken !== undefined) await extra.sendNotification({ method: "notifications/progress", params: { progressToken, progress: step, total: steps } });
      await extra.sendNotification({ method: "notifications/message", params: { level: "info", data: `step ${step}` } });
    }
    return text(`done after ${steps} steps`);
  });
  tool("ask", { kind: z.string(), rounds: z.number().optional() }, async ({ kind, rounds = 1 }, extra) => {
    const answers = [];
    while (answers.length < rounds) answers.push(await extra.sendRequest(...questions[kind]));
    return text({ answers });
  });
  tool("change", { kind: z.string(), uri: z.string().optional() }, ({ kind, uri = "demo://one" }) => {
    say(`changed ${kind}`);
    for (const one of servers) {
      if (kind === "tools") one.sendToolListChanged();
      else void one.server.sendResourceUpdated({ uri }).catch(() => {});
    }
    return text(`changed ${kind}`);
  });
  server.registerResource("one", "demo://one", {}, (uri) => ({ contents: [{ uri: uri.href, text: "text of one" }] }));
  server.registerPrompt("greet", {}, () => ({ messages: [{ role: "user", content: { type: "text", text: "Hello" } }] }));
  server.server.setRequestHandler(SubscribeRequestSchema, () => ({}));
  server.server.setRequestHandler(UnsubscribeRequestSchema, () => ({}));
  servers.add(server);
  return server;
}

if (carrier === "stdio") await build().connect(new StdioServerTransport());
else {
  const server = createServer(async (request, response) => {
    let transport = sessions.get(request.headers["mcp-session-id"]);
    let body = "";
    for await (const part of request) body += part;
    const parsed = body ? JSON.parse(body) : undefined;
    if (!transport && parsed?.method === "initialize") {
      transport = new StreamableHTTPServerTransport({ sessionIdGenerator: randomUUID, onsessioninitialized: (id) => void sessions.set(id, transport) });
      await build().connect(transport);
    }
    if (!transport) return response.writeHead(404, { "Content-Type": "application/json" }).end('{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}');
    return transport.handleRequest(request, response, parsed);
  });
  server.listen(Number(process.env.PORT ?? 0), "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/mcp`));
}
