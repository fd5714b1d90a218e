// One step of an agent: a process that starts, calls one tool and ends. How long that takes by each way, how many
// sessions the server sees, and what becomes of a notification that comes between two steps.
//
//   node step.mjs ROUNDS URL MCP_NC SOCKET DAEMON_PID PEERS FOLDER      called by step.sh
import { spawn } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";

const [rounds, url, nc, socket, daemon, peers, folder] = process.argv.slice(2);
const control = url.replace(/\/mcp$/, "/control");
// mcpc keeps what it knows below HOME, and its bridge process is told by it.
const environment = { ...process.env, HOME: folder, MCP_SOCKET_PATH: socket, NO_COLOR: "1" };

/// Runs it to its end, or with `stdin` until the response to its last message has come.
function run(command, stdin) {
  return new Promise((resolve, reject) => {
    const began = performance.now();
    const child = spawn(command[0], command.slice(1), { env: environment, stdio: [stdin ? "pipe" : "ignore", "pipe", "pipe"] });
    let output = "";
    const take = (data) => {
      output += data;
      if (!stdin || !output.includes('"id":2')) return;
      child.kill();
    };
    child.stdout.on("data", take);
    child.stderr.on("data", (data) => (output += data));
    child.on("error", reject);
    child.on("close", (code) => {
      if (!stdin && code !== 0) return reject(new Error(`${command.join(" ")}: exit ${code}: ${output}`));
      resolve({ milliseconds: performance.now() - began, output });
    });
    if (stdin) child.stdin.write(stdin);
  });
}

const lines = [
  { jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "step", version: "1" } } },
  { jsonrpc: "2.0", method: "notifications/initialized" },
  { jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "echo", arguments: { message: "hi" } } },
].map((message) => JSON.stringify(message) + "\n").join("");

const mcpc = [process.execPath, `${peers}/node_modules/@apify/mcpc/bin/mcpc`];
const ways = {
  "mcp-nc call": () => run([nc, "call", "echo", "message=hi"]),
  "TypeScript SDK": () => run([process.execPath, "tests/end_to_end/real/one_step.mjs", url]),
  "mcp-remote": () => run([process.execPath, `${peers}/node_modules/mcp-remote/dist/proxy.js`, url, "--allow-http", "--transport", "http-only"], lines),
  "mcpc": () => run([...mcpc, "@step", "tools-call", "echo", "message:=hi"]),
};

const initializes = async () => (await (await fetch(`${control}/log?method=initialize`)).json()).length;
const emit = (text) => fetch(`${control}/emit`, {
  method: "POST",
  body: JSON.stringify({ message: { jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data: text } } }),
});
const median = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)];

/// RssAnon in MiB of this process.
function anonymous(pid) {
  return Number(/RssAnon:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]) / 1024;
}

/// The processes that have our folder as HOME and are no children of this one.
function left_running() {
  return readdirSync("/proc").filter((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/environ`, "utf8").includes(`HOME=${folder}\0`);
    } catch {
      return false;
    }
  });
}

await run([...mcpc, "connect", url, "@step"]);
const times = {}, sessions = {}, kept = {};
for (const name of Object.keys(ways)) {
  await ways[name]();  // the first one is not measured: files are read, the session is opened
  times[name] = [];
  const before = await initializes();
  await emit(`for ${name}`);
  kept[name] = (await ways[name]()).output.includes(`for ${name}`);
  for (let i = 0; i < 4; ++i) await ways[name]();
  sessions[name] = (await initializes()) - before;
}
for (let round = 0; round < Number(rounds); ++round) {
  for (const name of Object.keys(ways)) times[name].push((await ways[name]()).milliseconds);
}
const between = { "mcp-nc call": anonymous(daemon), "TypeScript SDK": 0, "mcp-remote": 0, "mcpc": left_running().map(anonymous).reduce((a, b) => a + b, 0) };
const ours = median(times["mcp-nc call"]);
for (const name of Object.keys(ways)) {
  const time = median(times[name]);
  console.log(`${name.padEnd(15)} ${time.toFixed(1).padStart(8)} ms a step, ${(time / ours).toFixed(0).padStart(4)} times; `
    + `${sessions[name]} initialize in 5 steps; a notification between two steps is ${kept[name] ? "printed by the next" : "not printed"}; `
    + `${between[name].toFixed(1)} MiB between steps`);
}
await run([...mcpc, "close", "@step"]);
