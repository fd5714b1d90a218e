// Loaded into servers from npm by NODE_OPTIONS=--require. It binds all interfaces and prints the
// port that was asked for: here it binds loopback and says which port it got; BIND_PORT wins over
// what it asks for. What it does every five seconds it does five times a second, so that a test need
// not wait.
"use strict";
const net = require("node:net");

const listen = net.Server.prototype.listen;
net.Server.prototype.listen = function (port, ...rest) {
  const callback = rest.find((argument) => typeof argument === "function");
  this.once("listening", () => console.log(`bound http://127.0.0.1:${this.address().port}/mcp`));
  return listen.call(this, { port: Number(process.env.BIND_PORT ?? port), host: "127.0.0.1" }, callback);
};

const interval = globalThis.setInterval;
globalThis.setInterval = (work, ms, ...rest) => interval(work, ms === 5000 ? 200 : ms, ...rest);
