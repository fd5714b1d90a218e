// Two clients at the same time: their ids and progress tokens are equal, since both count from 0.
import assert from "node:assert/strict";
import { checkProgress, connect, textOf } from "./connect.mjs";

const both = await Promise.all([connect({ name: "first" }), connect({ name: "second" })]);
const results = await Promise.all(
  both.map(async ({ client }, which) => {
    const progress = [];
    const long = client.callTool({ name: "trigger-long-running-operation", arguments: { duration: 0.5, steps: 3 + which } }, undefined, {
      onprogress: (step) => progress.push(step.total),
    });
    const echoes = [];
    for (let n = 0; n < 20; ++n) echoes.push(client.callTool({ name: "echo", arguments: { message: `${which}-${n}` } }));
    return { long: textOf(await long), progress, echoes: (await Promise.all(echoes)).map(textOf) };
  }),
);
for (const [which, { long, progress, echoes }] of results.entries()) {
  assert.match(long, new RegExp(`Steps: ${3 + which}`));
  await checkProgress(progress, Array(3 + which).fill(3 + which), both[which].seen.errors);
  assert.deepEqual(echoes, Array.from({ length: 20 }, (_, n) => `Echo: ${which}-${n}`));
}
for (const { client } of both) await client.close();
