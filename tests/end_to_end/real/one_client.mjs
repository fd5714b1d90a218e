// Everything a client asks of a server: lists, calls, progress, resources, prompts, completion, log level.
import assert from "node:assert/strict";
import { checkProgress, connect, eventually, textOf } from "./connect.mjs";

const { client, seen } = await connect();
assert.equal(client.getServerVersion().name, "mcp-servers/everything");

const { tools } = await client.listTools();
assert.ok(tools.some((tool) => tool.name === "echo"));
assert.equal(textOf(await client.callTool({ name: "echo", arguments: { message: "héllo \u{1F600}" } })), "Echo: héllo \u{1F600}");
assert.match(textOf(await client.callTool({ name: "get-sum", arguments: { a: 2, b: 40 } })), /42/);

const image = await client.callTool({ name: "get-tiny-image", arguments: {} });
assert.ok(image.content.some((one) => one.type === "image" && one.data.length > 100));

const progress = [];
const long = await client.callTool({ name: "trigger-long-running-operation", arguments: { duration: 1, steps: 4 } }, undefined, {
  onprogress: (step) => progress.push(`${step.progress}/${step.total}`),
});
assert.match(textOf(long), /completed/);
await checkProgress(progress, ["1/4", "2/4", "3/4", "4/4"], seen.errors);

const { resources } = await client.listResources();
assert.ok(resources.length > 0);
assert.ok((await client.readResource({ uri: resources[0].uri })).contents.length > 0);
assert.ok((await client.listResourceTemplates()).resourceTemplates.length > 0);
const { prompts } = await client.listPrompts();
const simple = prompts.find((prompt) => !prompt.arguments?.some((argument) => argument.required));
assert.ok((await client.getPrompt({ name: simple.name })).messages.length > 0);
await client.ping();

await client.setLoggingLevel("debug");
await client.callTool({ name: "toggle-simulated-logging", arguments: {} });
await eventually(() => seen.logged.some((one) => /message/i.test(one.data)), "a log message");
await client.callTool({ name: "toggle-simulated-logging", arguments: {} });

const failed = await client.callTool({ name: "no-such-tool", arguments: {} }).catch((error) => ({ isError: true, error }));
assert.ok(failed.isError);

const stopped = new AbortController();
const hanging = client.callTool({ name: "trigger-long-running-operation", arguments: { duration: 60, steps: 2 } }, undefined, { signal: stopped.signal });
setTimeout(() => stopped.abort("enough"), 100);
await assert.rejects(hanging);
await client.ping();

assert.deepEqual(seen.errors, []);
await client.close();
