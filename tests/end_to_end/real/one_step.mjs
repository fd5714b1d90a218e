// What a step does that has no bridge: opens a session, calls one tool, ends the session. node one_step.mjs URL
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { LoggingMessageNotificationSchema } from "@modelcontextprotocol/sdk/types.js";

const client = new Client({ name: "one-step", version: "1" });
client.setNotificationHandler(LoggingMessageNotificationSchema, (n) => console.error(JSON.stringify(n)));
const transport = new StreamableHTTPClientTransport(new URL(process.argv[2]));
await client.connect(transport);
console.log((await client.callTool({ name: "echo", arguments: { message: "hi" } })).content[0].text);
await transport.terminateSession();
await client.close();
