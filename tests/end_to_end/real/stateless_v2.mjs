// A server of the second SDK as it is by default: no sessions for clients of the older revisions.
import { createServer } from "node:http";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import * as z from "zod/v4";

let calls = 0;
const handler = createMcpHandler(() => {
  const server = new McpServer({ name: "stateless", version: "1" });
  server.registerTool("greet", { inputSchema: z.object({ name: z.string() }) }, async ({ name }) => {
    console.log(`call ${++calls} ${name}`);
    return { content: [{ type: "text", text: `Hello, ${name}!` }] };
  });
  return server;
});
createServer(toNodeHandler(handler)).listen(0);
