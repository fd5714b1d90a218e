// What the conformance suite asks a server for, with the second SDK: node server.mjs both|legacy|modern, the eras that it speaks; its
// address is the first line. Clients of the older revisions have sessions, since the suite asks them questions and subscribes.
//
// A server that speaks the legacy era has tools of old code, as the SDK's own conformance server has them: they push their question as
// a request, which the SDK refuses in the modern era. In a modern-only server the same tools answer with `input_required`.
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { localhostHostValidation, localhostOriginValidation, NodeStreamableHTTPServerTransport, toNodeHandler, toWebRequest } from "@modelcontextprotocol/node";
import { createMcpHandler, createRequestStateCodec, fromJsonSchema, inputRequired, isLegacyRequest, McpServer, ResourceTemplate } from "@modelcontextprotocol/server";
import * as z from "zod/v4";

const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
const wav = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=";
const codec = createRequestStateCodec({ key: new Uint8Array(32).fill(7) });
const text = (words) => ({ content: [{ type: "text", text: words }] });
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const form = (message, properties, required) => inputRequired.elicit({ message, requestedSchema: { type: "object", properties, ...(required && { required }) } });
const sample = (words, maxTokens) => inputRequired.createMessage({ messages: [{ role: "user", content: { type: "text", text: words } }], maxTokens });

const eras = process.argv[2] ?? "both";
let notify;
const legacyServers = new Set(); // of the sessions
const sessions = new Map();

function build() {
  const server = new McpServer(
    { name: "conformance", version: "1" },
    {
      capabilities: { tools: { listChanged: true }, resources: { listChanged: true, subscribe: true }, prompts: { listChanged: true }, logging: {}, completions: {} },
      requestState: { verify: codec.verify },
    },
  );
  const tool = (name, work, inputSchema = z.object({})) => server.registerTool(name, { description: `For ${name}`, inputSchema }, work);

  tool("test_simple_text", () => text("This is a simple text response for testing."));
  tool("test_image_content", () => ({ content: [{ type: "image", data: png, mimeType: "image/png" }] }));
  tool("test_audio_content", () => ({ content: [{ type: "audio", data: wav, mimeType: "audio/wav" }] }));
  tool("test_embedded_resource", () => ({
    content: [{ type: "resource", resource: { uri: "test://embedded-resource", mimeType: "text/plain", text: "This is an embedded resource content." } }],
  }));
  tool("test_multiple_content_types", () => ({
    content: [
      { type: "text", text: "Multiple content types test:" },
      { type: "image", data: png, mimeType: "image/png" },
      { type: "resource", resource: { uri: "test://mixed-content-resource", mimeType: "application/json", text: '{"test":"data","value":123}' } },
    ],
  }));
  tool("test_error_handling", () => {
    throw new Error("This tool intentionally returns an error for testing");
  });
  const logs = async (_, ctx) => {
    for (const words of ["Tool execution started", "Tool processing data", "Tool execution completed"]) {
      await ctx.mcpReq.log("info", words);
      await wait(50);
    }
    return text("logged");
  };
  tool("test_tool_with_logging", logs);
  tool("test_logging_tool", logs);
  tool("test_tool_with_progress", async (_, ctx) => {
    const progressToken = ctx.mcpReq._meta?.progressToken;
    for (const progress of [0, 50, 100]) {
      if (progressToken !== undefined) await ctx.mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress, total: 100 } });
      await wait(50);
    }
    return text("progressed");
  });

  tool("test_reconnection", async (_, ctx) => {
    ctx.http?.closeSSE?.();
    await wait(100);
    return text("reconnected");
  });

  // One question each, in the older revisions a request (of the SDK) and in the newest a result.
  const asks = (name, requests, done, inputSchema) =>
    tool(
      name,
      async (input, ctx) => {
        const answers = ctx.mcpReq.inputResponses ?? {};
        const wanted = requests(input);
        return Object.keys(wanted).every((key) => usable(answers[key])) ? done(answers) : inputRequired({ inputRequests: wanted });
      },
      inputSchema,
    );
  const usable = (answer) => answer !== null && typeof answer === "object" && !Array.isArray(answer);
  // The same by the tool's own request.
  const pushes = (name, requests, done, inputSchema) =>
    tool(
      name,
      async (input, ctx) => {
        const answers = {};
        for (const [key, { method, params }] of Object.entries(requests(input)))
          answers[key] = await (method === "sampling/createMessage" ? ctx.mcpReq.requestSampling(params) : ctx.mcpReq.elicitInput(params));
        return done(answers);
      },
      inputSchema,
    );
  const old = eras === "modern" ? asks : pushes;
  old("test_sampling", ({ prompt }) => ({ answer: sample(prompt, 100) }), ({ answer }) => text(`LLM response: ${answer.content?.text}`), z.object({ prompt: z.string() }));
  old(
    "test_elicitation",
    ({ message }) => ({ user: form(message, { username: { type: "string", description: "User's response" }, email: { type: "string", description: "User's email address" } }, ["username", "email"]) }),
    ({ user }) => text(`User response: action: ${user.action}, content: ${JSON.stringify(user.content)}`),
    z.object({ message: z.string() }),
  );
  const elicited = ({ user }) => text(`Elicitation completed: action=${user.action}, content=${JSON.stringify(user.content)}`);
  old(
    "test_elicitation_sep1034_defaults",
    () => ({
      user: form("Defaults", {
        name: { type: "string", default: "John Doe" },
        age: { type: "integer", default: 30 },
        score: { type: "number", default: 95.5 },
        status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
        verified: { type: "boolean", default: true },
      }),
    }),
    elicited,
  );
  const titled = ["First", "Second", "Third"];
  old(
    "test_elicitation_sep1330_enums",
    () => ({
      user: form("Choices", {
        untitledSingle: { type: "string", enum: ["option1", "option2", "option3"] },
        titledSingle: { type: "string", oneOf: titled.map((title, n) => ({ const: `value${n + 1}`, title: `${title} Option` })) },
        legacyEnum: { type: "string", enum: ["opt1", "opt2", "opt3"], enumNames: ["Option One", "Option Two", "Option Three"] },
        untitledMulti: { type: "array", items: { type: "string", enum: ["option1", "option2", "option3"] } },
        titledMulti: { type: "array", items: { anyOf: titled.map((title, n) => ({ const: `value${n + 1}`, title: `${title} Choice` })) } },
      }),
    }),
    elicited,
  );

  // Rounds, by name.
  const name = () => form("What is your name?", { name: { type: "string" } }, ["name"]);
  const roots = () => inputRequired.listRoots();
  const named = (answer) => typeof answer?.content?.name === "string";
  tool("test_input_required_result_elicitation", (_, ctx) => {
    const answer = ctx.mcpReq.inputResponses?.user_name;
    return named(answer) ? text(`Hello, ${answer.content.name}!`) : inputRequired({ inputRequests: { user_name: name() } });
  });
  asks("test_input_required_result_sampling", () => ({ capital_question: sample("What is the capital of France?", 100) }), ({ capital_question }) => text(`${capital_question.content?.text}`));
  asks("test_input_required_result_list_roots", () => ({ client_roots: roots() }), ({ client_roots }) => text(`Roots: ${JSON.stringify(client_roots.roots)}`));
  const confirmed = async (_, ctx) => {
    if (ctx.mcpReq.requestState() !== undefined && ctx.mcpReq.inputResponses?.confirm) return text("state-ok");
    return inputRequired({ inputRequests: { confirm: form("Please confirm", { ok: { type: "boolean" } }, ["ok"]) }, requestState: await codec.mint({ step: 1 }, ctx) });
  };
  tool("test_input_required_result_request_state", confirmed);
  tool("test_input_required_result_tampered_state", confirmed);
  tool("test_input_required_result_multiple_inputs", async (_, ctx) => {
    const answers = ctx.mcpReq.inputResponses ?? {};
    if (answers.user_name && answers.greeting && answers.client_roots) return text(`${answers.user_name.content?.name}: ${answers.greeting.content?.text}`);
    return inputRequired({ inputRequests: { user_name: name(), greeting: sample("Generate a greeting", 50), client_roots: roots() }, requestState: await codec.mint({ step: 1 }, ctx) });
  });
  tool("test_input_required_result_multi_round", async (_, ctx) => {
    const before = ctx.mcpReq.requestState();
    const answers = ctx.mcpReq.inputResponses ?? {};
    if (answers.step2 && before?.step === 2) return text(`${before.name} likes ${answers.step2.content?.color}`);
    if (answers.step1)
      return inputRequired({
        inputRequests: { step2: form("Step 2: What is your favorite color?", { color: { type: "string" } }, ["color"]) },
        requestState: await codec.mint({ step: 2, name: answers.step1.content?.name }, ctx),
      });
    return inputRequired({ inputRequests: { step1: form("Step 1: What is your name?", { name: { type: "string" } }, ["name"]) }, requestState: await codec.mint({ step: 1 }, ctx) });
  });
  tool("test_input_required_result_capabilities", (_, ctx) => {
    const declared = ctx.mcpReq.envelope?.["io.modelcontextprotocol/clientCapabilities"] ?? {};
    const answers = ctx.mcpReq.inputResponses;
    if (answers) return text("done");
    const wanted = { ...(declared.elicitation && { user_name: name() }), ...(declared.sampling && { greeting: sample("Generate a greeting", 50) }), ...(declared.roots && { client_roots: roots() }) };
    return Object.keys(wanted).length > 0 ? inputRequired({ inputRequests: wanted }) : text("nothing can be asked");
  });
  asks("test_missing_capability", () => ({ greeting: sample("Generate a greeting", 50) }), () => text("done"));
  asks("test_streaming_elicitation", () => ({ user_name: name() }), () => text("done"));
  tool("test_trigger_tool_change", () => {
    notify.toolsChanged();
    for (const one of legacyServers) one.sendToolListChanged();
    return text("changed");
  });
  tool("test_trigger_prompt_change", () => {
    notify.promptsChanged();
    for (const one of legacyServers) one.sendPromptListChanged();
    return text("changed");
  });
  tool(
    "test_headers",
    ({ region }) => text(`region ${region}`),
    fromJsonSchema({ type: "object", properties: { region: { type: "string", "x-mcp-header": "Region" } } }),
  );

  tool(
    "json_schema_2020_12_tool",
    () => text("valid"),
    fromJsonSchema({
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      $defs: { address: { $anchor: "addressDef", type: "object", properties: { street: { type: "string" }, city: { type: "string" } } } },
      properties: { name: { type: "string" }, address: { $ref: "#/$defs/address" }, contactMethod: { enum: ["phone", "email"] }, phone: { type: "string" }, email: { type: "string" } },
      allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
      if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
      then: { required: ["phone"] },
      else: { required: ["email"] },
      additionalProperties: false,
    }),
  );

  // Resources.
  const resource = (id, uri, mimeType, contents) => server.registerResource(id, uri, { description: id, mimeType }, (at) => ({ contents: [{ uri: at.href, mimeType, ...contents }] }));
  resource("static-text", "test://static-text", "text/plain", { text: "This is the content of the static text resource." });
  resource("static-binary", "test://static-binary", "image/png", { blob: png });
  resource("watched", "test://watched-resource", "text/plain", { text: "watched" });
  server.registerResource("template", new ResourceTemplate("test://template/{id}/data", { list: undefined }), { description: "By id" }, (uri, { id }) => ({
    contents: [{ uri: uri.href, mimeType: "application/json", text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }) }],
  }));
  server.server.setRequestHandler("resources/subscribe", () => ({}));
  server.server.setRequestHandler("resources/unsubscribe", () => ({}));
  server.server.setRequestHandler("completion/complete", () => ({ completion: { values: ["paris", "park", "party"], total: 150, hasMore: false } }));

  // Prompts.
  const says = (...contents) => ({ messages: contents.map((content) => ({ role: "user", content })) });
  server.registerPrompt("test_simple_prompt", { description: "Simple" }, () => says({ type: "text", text: "This is a simple prompt for testing." }));
  server.registerPrompt("test_prompt_with_arguments", { description: "With arguments", argsSchema: z.object({ arg1: z.string(), arg2: z.string() }) }, ({ arg1, arg2 }) =>
    says({ type: "text", text: `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'` }),
  );
  server.registerPrompt("test_prompt_with_embedded_resource", { description: "With a resource", argsSchema: z.object({ resourceUri: z.string() }) }, ({ resourceUri }) =>
    says({ type: "resource", resource: { uri: resourceUri, mimeType: "text/plain", text: "Embedded resource content for testing." } }, { type: "text", text: "Please process the embedded resource above." }),
  );
  server.registerPrompt("test_prompt_with_image", { description: "With an image" }, () =>
    says({ type: "image", data: png, mimeType: "image/png" }, { type: "text", text: "Please analyze the image above." }),
  );
  server.registerPrompt("test_input_required_result_prompt", { description: "Asks" }, (ctx) => {
    const answer = ctx.mcpReq.inputResponses?.user_context;
    if (answer) return says({ type: "text", text: `In ${answer.content?.context}` });
    return inputRequired({ inputRequests: { user_context: form("What context should the prompt use?", { context: { type: "string" } }, ["context"]) } });
  });
  return server;
}

// What a stream sent, so that it can be resumed: an id is STREAM/NUMBER.
function eventStore() {
  const events = [];
  const streamOf = (id) => id.slice(0, id.lastIndexOf("/"));
  return {
    storeEvent: async (stream, message) => {
      events.push({ id: `${stream}/${events.length}`, stream, message });
      return events.at(-1).id;
    },
    getStreamIdForEventId: async (id) => streamOf(id),
    replayEventsAfter: async (last, { send }) => {
      const later = events.slice(Number(last.slice(last.lastIndexOf("/") + 1)) + 1);
      for (const { id, stream, message } of later) if (stream === streamOf(last) && "jsonrpc" in message) await send(id, message);
      return streamOf(last);
    },
  };
}

const handler = createMcpHandler(build, { legacy: "reject", onerror: (error) => console.error(error.message) });
notify = handler.notify;
const modern = toNodeHandler(handler);
const validHost = localhostHostValidation();
const validOrigin = localhostOriginValidation();

const listener = createServer(async (request, response) => {
  if (!validHost(request, response) || !validOrigin(request, response)) return undefined;
  let body = "";
  for await (const part of request) body += part;
  let parsed;
  try {
    parsed = body ? JSON.parse(body) : undefined;
  } catch {
    return response.writeHead(400, { "Content-Type": "application/json" }).end('{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}');
  }
  if (eras === "modern" || (eras === "both" && !(await isLegacyRequest(await toWebRequest(request, parsed), parsed)))) return modern(request, response, parsed);
  let transport = sessions.get(request.headers["mcp-session-id"]);
  if (!transport && parsed?.method === "initialize") {
    transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      eventStore: eventStore(),
      retryInterval: 500,
      onsessioninitialized: (id) => void sessions.set(id, transport),
      onsessionclosed: (id) => void sessions.delete(id),
    });
    const server = build();
    legacyServers.add(server);
    await server.connect(transport);
  }
  if (!transport) return response.writeHead(404, { "Content-Type": "application/json" }).end('{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}');
  return transport.handleRequest(request, response, parsed);
});
listener.listen(Number(process.env.PORT ?? 0), "127.0.0.1", () => console.log(`http://127.0.0.1:${listener.address().port}/mcp`));
