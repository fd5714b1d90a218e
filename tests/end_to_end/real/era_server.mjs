// A server of the second SDK: node era_server.mjs modern|dual http|stdio
// `modern` refuses what is older, `dual` serves clients of the older revisions in sessions as well.
// On HTTP its address is the first line on stdout; what happens there is a line each (stdio: on stderr).
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { NodeStreamableHTTPServerTransport, toNodeHandler, toWebRequest } from "@modelcontextprotocol/node";
import { createMcpHandler, inputRequired, isLegacyRequest, McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import * as z from "zod/v4";

const [mode, carrier] = process.argv.slice(2);
const say = (line) => (carrier === "stdio" ? console.error(line) : console.log(line));
const text = (words) => ({ content: [{ type: "text", text: typeof words === "string" ? words : JSON.stringify(words) }] });

const questions = {
  elicitation: () => inputRequired.elicit({ message: "Who?", requestedSchema: z.object({ name: z.string() }) }),
  sampling: () => inputRequired.createMessage({ messages: [{ role: "user", content: { type: "text", text: "say" } }], maxTokens: 10 }),
  roots: () => inputRequired.listRoots(),
};

let notify; // tells all who listen
const sessions = new Map();

function build(context) {
  const server = new McpServer(
    { name: `sdk-${mode}`, version: "1" },
    { capabilities: { tools: { listChanged: true }, resources: { listChanged: true, subscribe: true }, prompts: {}, logging: {} }, instructions: "Ask nicely." },
  );
  const tool = (name, inputSchema, work) =>
    server.registerTool(name, { inputSchema: z.object(inputSchema) }, async (input, ctx) => {
      say(`call ${name} ${context.era}`);
      return work(input, ctx);
    });
  tool("echo", { message: z.string() }, ({ message }) => text(message));
  tool("slow", { steps: z.number(), delayMs: z.number() }, async ({ steps, delayMs }, ctx) => {
    const progressToken = ctx.mcpReq._meta?.progressToken;
    for (let step = 1; step <= steps; ++step) {
      await new Promise((resolve) => setTimeout(resolve, delayMs));
      if (ctx.mcpReq.signal.aborted) {
        say("aborted slow");
        break;
      }
      if (progressToken !== undefined) await ctx.mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress: step, total: steps } });
      await ctx.mcpReq.log("info", `step ${step}`);
    }
    return text(`done after ${steps} steps`);
  });
  tool("ask", { kind: z.string(), rounds: z.number().optional() }, ({ kind, rounds = 1 }, ctx) => {
    // The state of the rounds before stands in requestState, as a list.
    const before = JSON.parse(ctx.mcpReq.requestState() ?? "[]");
    const answered = ctx.mcpReq.inputResponses?.[kind];
    const answers = answered ? [...before, answered] : before;
    if (answers.length >= rounds) return text({ answers });
    return inputRequired({ inputRequests: { [kind]: questions[kind]() }, requestState: JSON.stringify(answers) });
  });
  tool("change", { kind: z.string(), uri: z.string().optional() }, ({ kind, uri }) => {
    change(kind, uri);
    return text(`changed ${kind}`);
  });
  server.registerResource("one", "demo://one", {}, (uri) => ({ contents: [{ uri: uri.href, text: "text of one" }] }));
  server.registerPrompt("greet", {}, () => ({ messages: [{ role: "user", content: { type: "text", text: "Hello" } }] }));
  server.server.setRequestHandler("resources/subscribe", () => ({}));
  server.server.setRequestHandler("resources/unsubscribe", () => ({}));
  return server;
}

function change(kind, uri = "demo://one") {
  say(`changed ${kind}`);
  if (kind === "tools") notify?.toolsChanged();
  if (kind === "resource") notify?.resourceUpdated(uri);
  for (const server of sessions.values()) {
    const sent = kind === "tools" ? server.sendToolListChanged() : server.server.sendResourceUpdated({ uri });
    void Promise.resolve(sent).catch(() => {});
  }
}

if (carrier === "stdio") {
  const made = [];
  serveStdio(
    (context) => {
      const server = build(context);
      made.push(server);
      return server;
    },
    { legacy: mode === "dual" ? "serve" : "reject", onerror: (error) => say(`error ${error.message}`) },
  );
  notify = {
    toolsChanged: () => made.at(-1)?.sendToolListChanged(),
    resourceUpdated: (uri) => void made.at(-1)?.server.sendResourceUpdated({ uri }),
  };
} else {
  const handler = createMcpHandler(build, { legacy: "reject", onerror: (error) => say(`error ${error.message}`) });
  notify = handler.notify;
  const modern = toNodeHandler(handler);
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const part of request) body += part;
    const parsed = body ? JSON.parse(body) : undefined;
    if (mode === "modern" || !(await isLegacyRequest(await toWebRequest(request, parsed), parsed))) return modern(request, response, parsed);
    const id = request.headers["mcp-session-id"];
    let transport = sessions.get(id)?.server.transport;
    if (!transport && parsed?.method === "initialize") {
      transport = new NodeStreamableHTTPServerTransport({ sessionIdGenerator: randomUUID, onsessioninitialized: (made) => void sessions.set(made, legacy) });
      const legacy = build({ era: "legacy" });
      await legacy.connect(transport);
    }
    if (!transport) return response.writeHead(404, { "Content-Type": "application/json" }).end('{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}');
    return transport.handleRequest(request, response, parsed);
  });
  server.listen(Number(process.env.PORT ?? 0), "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/mcp`));
}
