// The smallest local server that the SDK makes, for the benchmark: one tool, and nothing said unasked.
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { z } from "zod";

const server = new McpServer({ name: "echo", version: "1" });
server.registerTool("echo", { inputSchema: { message: z.string() } }, ({ message }) => ({ content: [{ type: "text", text: message }] }));
await server.connect(new StdioServerTransport());
