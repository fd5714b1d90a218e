// The next client: what came while nobody was connected is there. argv[4]: the uri, argv[5]: at least so many.
import assert from "node:assert/strict";
import { connect, eventually } from "./connect.mjs";

const [uri, count] = process.argv.slice(4);
const { client, seen } = await connect();
await eventually(() => seen.updated.length >= Number(count), `${count} updates`);
assert.ok(seen.updated.every((one) => one === uri));
await client.callTool({ name: "toggle-subscriber-updates", arguments: {} });
assert.deepEqual(seen.errors, []);
await client.close();
