// A client of the SDK whose server is `mcp-nc`, or the HTTP frontend: node SCRIPT MCP_NC SOCKET, or URL
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  LoggingMessageNotificationSchema,
  ResourceUpdatedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";

const [command, socket] = process.argv.slice(2);
const isUrl = command.startsWith("http");

export const everything = { sampling: {}, elicitation: {}, roots: { listChanged: true } };

/// `answers`: what to answer to the server's requests, by the method's first part.
export async function connect({ capabilities = everything, answers = {}, name = "end-to-end" } = {}) {
  const client = new Client({ name, version: "1" }, { capabilities });
  const seen = { updated: [], logged: [], errors: [] };
  client.onerror = (error) => seen.errors.push(String(error));
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, (n) => void seen.updated.push(n.params.uri));
  client.setNotificationHandler(LoggingMessageNotificationSchema, (n) => void seen.logged.push(n.params));
  const schemas = { sampling: CreateMessageRequestSchema, elicitation: ElicitRequestSchema, roots: ListRootsRequestSchema };
  for (const [kind, schema] of Object.entries(schemas)) {
    if (kind in capabilities) {
      client.setRequestHandler(schema, (request) => {
        if (!(kind in answers)) throw new Error(`nobody expected ${kind}`);
        return answers[kind](request.params);
      });
    }
  }
  await client.connect(
    isUrl ? new StreamableHTTPClientTransport(new URL(command)) : new StdioClientTransport({ command, args: ["-s", socket], stderr: "inherit" }),
  );
  return { client, seen };
}

export * from "./helpers.mjs";
