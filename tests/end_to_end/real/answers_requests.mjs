// Requests of the server while it works for a call of ours.
import assert from "node:assert/strict";
import { connect, textOf } from "./connect.mjs";

const asked = [];
const { client, seen } = await connect({
  answers: {
    sampling: (params) => {
      asked.push("sampling");
      assert.ok(params.messages.length > 0);
      return { role: "assistant", model: "a-model", content: { type: "text", text: "a sampled answer" } };
    },
    elicitation: (params) => {
      asked.push("elicitation");
      assert.equal(params.requestedSchema.type, "object");
      return { action: "accept", content: { name: "Ada", check: true } };
    },
    roots: () => {
      asked.push("roots");
      return { roots: [{ uri: "file:///a/root", name: "a root" }] };
    },
  },
});
assert.match(textOf(await client.callTool({ name: "trigger-sampling-request", arguments: { prompt: "say", maxTokens: 10 } })), /a sampled answer/);
assert.match(textOf(await client.callTool({ name: "trigger-elicitation-request", arguments: {} })), /Ada/);
assert.match(textOf(await client.callTool({ name: "get-roots-list", arguments: {} })), /a root/);
assert.ok(asked.includes("sampling") && asked.includes("elicitation"), asked.join());
assert.deepEqual(seen.errors, []);
await client.close();
