// Ten clients one after the other, each from connecting to closing.
import assert from "node:assert/strict";
import { connect, textOf } from "./connect.mjs";

for (let n = 0; n < 10; ++n) {
  const { client, seen } = await connect({ name: `client ${n}` });
  assert.ok((await client.listTools()).tools.length > 5);
  assert.equal(textOf(await client.callTool({ name: "echo", arguments: { message: String(n) } })), `Echo: ${n}`);
  assert.deepEqual(seen.errors, []);
  await client.close();
}
