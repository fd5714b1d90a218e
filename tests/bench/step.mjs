// One step of an agent with the SDK and a session of its own: opens it, calls one tool, closes it.
//
//   node step.mjs URL      run by compare.py, in the folder of the newest SDK
import { pathToFileURL } from "node:url";
import { createRequire } from "node:module";

const require = createRequire(`${process.cwd()}/`);
const load = async (name) => import(pathToFileURL(require.resolve(`@modelcontextprotocol/sdk/client/${name}.js`)));
const { Client } = await load("index");
const { StreamableHTTPClientTransport } = await load("streamableHttp");

const client = new Client({ name: "step", version: "1" });
client.fallbackNotificationHandler = async (message) => console.log(JSON.stringify(message.params));
const transport = new StreamableHTTPClientTransport(new URL(process.argv[2]));
await client.connect(transport);
console.log((await client.callTool({ name: "echo", arguments: { message: "hi" } })).content[0].text);
await transport.terminateSession();
await client.close();
