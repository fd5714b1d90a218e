#!/usr/bin/env python3
"""What a call costs between the eras, counted by callgrind, beside one where both sides are legacy.

    eras.py DAEMON [--functions]

Every client before every server, one call of a tool each; the median of three counts, since how the kernel wakes the
daemon is worth 2 % from one run to the next. The limits are 1.1 where both are modern and 1.3 where the
bridge translates; the exit code is 1 over one of them. --functions says what costs more than legacy to legacy.
"""

import json
import sys
import tempfile

import instructions

LIMITS = {"modern to modern": 1.1, "legacy to modern": 1.3, "modern to legacy": 1.3}
FEW, MANY = 300, 1300
FUNCTIONS_SHOWN = 15
META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "instructions", "version": "1"}}


class ModernUpstream(instructions.Upstream):
    """The same of MCP 2026-07-28: discovered, listened to, called."""

    def serve(self, connection):
        file = connection.makefile("rb")
        while file.readline():
            length = 0
            while (header := file.readline()) not in (b"\r\n", b""):
                if header.lower().startswith(b"content-length:"):
                    length = int(header.split(b":")[1])
            message = json.loads(file.read(length)) if length else {}
            if message.get("method") == "subscriptions/listen":
                self.listened(connection, message)
            else:
                connection.sendall(self.answer_modern(message))

    @staticmethod
    def listened(connection, message):
        told = {"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged",
                "params": {"_meta": {"io.modelcontextprotocol/subscriptionId": message["id"]},
                           "notifications": message["params"]["notifications"]}}
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
                           + f"data: {json.dumps(told)}\n\n".encode())

    @staticmethod
    def answer_modern(message):
        if "id" not in message:
            return b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"
        if message["method"] == "server/discover":
            result = {"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}},
                      "serverInfo": {"name": "instructions", "version": "1"}, "ttlMs": 0, "cacheScope": "private"}
        else:
            text = message["params"].get("arguments", {}).get("message", "")
            result = {"resultType": "complete", "content": [{"type": "text", "text": text}]}
        answer = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}, separators=(",", ":")).encode()
        return f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(answer)}\r\n\r\n".encode() \
            + answer


def calls(client_is_modern):
    def operate(path, _, count):
        client = instructions.Client(path)
        params = {"name": "echo", "arguments": {"message": "x" * 24}}
        if client_is_modern:
            params["_meta"] = META
        for _ in range(count):
            client.ask("tools/call", params)
    return operate


def median_cost(folder, daemon, client, server):
    return sorted((cost_of(folder, daemon, client, server) for _ in range(3)), key=lambda cost: cost[0])[1]


def cost_of(folder, daemon, client, server):
    upstream = ModernUpstream if server == "modern" else instructions.Upstream
    name = f"{client} to {server}"
    counts = [instructions.run_daemon(folder, daemon, name, calls(client == "modern"), count, upstream)
              for count in (FEW, MANY)]
    return instructions.difference(*counts, MANY - FEW)


def main():
    daemon = sys.argv[1]
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        base, base_functions = median_cost(folder, daemon, "legacy", "legacy")
        print(f"{'legacy to legacy':17} {base:9.0f}", flush=True)
        for name, limit in LIMITS.items():
            total, functions = median_cost(folder, daemon, *name.split(" to "))
            verdict = "ok" if total <= limit * base else "NOT OK"
            failed = failed or verdict != "ok"
            print(f"{name:17} {total:9.0f}  {total / base:5.3f} of it, limit {limit}: {verdict}", flush=True)
            if "--functions" in sys.argv:
                print(*instructions.grown(functions, base_functions, FUNCTIONS_SHOWN), sep="\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
