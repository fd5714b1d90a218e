#!/usr/bin/env python3
"""What a call costs between the eras, counted by callgrind, beside one where both sides are legacy.

    eras.py DAEMON [--functions] [--small]

Every client before every server, one call of a tool each, with a text of 24 bytes, of 64 KiB and of 1 MiB both ways
(--small: the first); the median of three counts, since in which pieces a large message arrives differs from one run to the
next. The limits are 1.1 where both are modern, or the server speaks both eras, and 1.3 where the bridge translates; the exit code is 1 over one of
them. --functions says what costs more than legacy to legacy.
"""

import json
import sys
import tempfile

import ending
import instructions

LIMITS = {"modern to modern": 1.1, "modern to both": 1.1, "legacy to modern": 1.3, "modern to legacy": 1.3}
SIZES = {"": (24, 300, 1300), " of 64 KiB": (64 << 10, 30, 130), " of 1 MiB": (1 << 20, 3, 13)}  # text, few, many
FUNCTIONS_SHOWN = 15
META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        # Who can be asked something costs more.
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}, "sampling": {}, "roots": {}},
        "io.modelcontextprotocol/clientInfo": {"name": "instructions", "version": "1"}}


class ModernUpstream(instructions.Upstream):
    """The same of MCP 2026-07-28: discovered, listened to, called."""

    def respond(self, connection, line, body):
        message = json.loads(body) if body else {}
        if message.get("method") == "subscriptions/listen":
            self.listened(connection, message)
        else:
            super().respond(connection, line, body)

    def answer(self, line, body):
        return self.answer_modern(json.loads(body) if body else {})

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
        if message["method"] == "initialize":
            error = json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "Method not found"}})
            return f"HTTP/1.1 404 Not Found\r\nContent-Type: application/json\r\nContent-Length: {len(error)}\r\n\r\n{error}".encode()
        if message["method"] == "server/discover":
            result = {"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}},
                      "serverInfo": {"name": "instructions", "version": "1"}, "ttlMs": 0, "cacheScope": "private"}
        else:
            text = message["params"].get("arguments", {}).get("message", "")
            result = {"resultType": "complete", "content": [{"type": "text", "text": text}]}
        answer = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}, separators=(",", ":")).encode()
        return f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(answer)}\r\n\r\n".encode() \
            + answer


class BothUpstream(ModernUpstream):
    """One of both eras: what has no `_meta` of 2026-07-28 is answered as the legacy one does."""

    def answer_modern(self, message):
        meta = message.get("params", {}).get("_meta", {})
        if "io.modelcontextprotocol/protocolVersion" in meta:
            return super().answer_modern(message)
        return instructions.Upstream.answer(b"POST", json.dumps(message).encode())


SERVERS = {"legacy": instructions.Upstream, "modern": ModernUpstream, "both": BothUpstream}


def calls(client_is_modern, size):
    def operate(path, _, count):
        client = instructions.Client(path)
        params = {"name": "echo", "arguments": {"message": "x" * size}}
        if client_is_modern:
            params["_meta"] = META
        for _ in range(count):
            client.ask("tools/call", params)
    return operate


def median_cost(folder, daemon, name, size):
    return sorted((cost_of(folder, daemon, name, *size) for _ in range(3)), key=lambda cost: cost[0])[1]


def cost_of(folder, daemon, name, size, few, many):
    client, server = name.split(" to ")
    upstream = SERVERS[server]
    counts = [instructions.run_daemon(folder, daemon, name, calls(client == "modern", size), count, upstream)
              for count in (few, many)]
    return instructions.difference(*counts, many - few)


def main():
    daemon = sys.argv[1]
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        for words, size in SIZES.items():
            if words and "--small" in sys.argv:
                break
            base, base_functions = median_cost(folder, daemon, "legacy to legacy", size)
            print(f"{'legacy to legacy' + words:27} {base:9.0f}", flush=True)
            for name, limit in LIMITS.items():
                total, functions = median_cost(folder, daemon, name, size)
                verdict = "ok" if total <= limit * base else "NOT OK"
                failed = failed or verdict != "ok"
                print(f"{name + words:27} {total:9.0f}  {total / base:5.3f} of it, limit {limit}: {verdict}", flush=True)
                if "--functions" in sys.argv:
                    print(*instructions.grown(functions, base_functions, FUNCTIONS_SHOWN), sep="\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(ending.code_of(main))
