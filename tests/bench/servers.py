"""The servers of the counted runs: they echo, as legacy ones, as ones of 2026-07-28, and as both."""

import json
import socket
import threading
import time

SESSION = "Mcp-Session-Id: 00000000-0000-4000-8000-000000000000\r\n"


def state_of(process):
    """R where it runs, D where it waits for a disk, S where it sleeps: proc(5)."""
    with open(f"/proc/{process}/stat", encoding="utf-8") as file:
        return file.read().rpartition(") ")[2][0]


class Upstream:
    """A server that echoes: one thread a connection, nothing checked.

    It answers when the daemon that is counted sleeps. An answer that is there when libcurl first looks for it, right after
    the request, saves a turn of the loop, 5,200 instructions; on a busy machine that is more than every second one.
    """

    def __init__(self):
        self.daemon = None  # its process, if it is counted
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}/mcp"
        self.stream = None
        self.stream_is_open = threading.Event()
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            connection, _ = self.listener.accept()
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        file = connection.makefile("rb")
        while line := file.readline():
            length = 0
            while (header := file.readline()) not in (b"\r\n", b""):
                if header.lower().startswith(b"content-length:"):
                    length = int(header.split(b":")[1])
            if line.startswith(b"GET"):
                self.stream = connection
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
                self.stream_is_open.set()
            else:
                self.respond(connection, line, file.read(length))

    def respond(self, connection, line, body):
        answer = self.answer(line, body)
        self.await_sleep()
        connection.sendall(answer)

    def await_sleep(self):
        while self.daemon and state_of(self.daemon) in "RD":
            time.sleep(0.0001)

    @staticmethod
    def answer(line, body):
        message = json.loads(body) if body else {}
        if "id" not in message or not line.startswith(b"POST"):
            return b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"
        if message["method"] == "initialize":
            result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}, "logging": {}},
                      "serverInfo": {"name": "instructions", "version": "1"}}
        elif message["method"] == "tools/list":
            schema = {"type": "object", "required": ["message"], "properties": {
                "message": {"type": "string", "description": "what to answer"},
                "times": {"type": "integer", "minimum": 1, "default": 1, "description": "how often"},
                "mode": {"type": "string", "enum": ["plain", "loud"], "description": "how to answer"}}}
            result = {"tools": [{"name": "echo", "description": "Answers the message", "inputSchema": schema}]}
        else:
            text = message.get("params", {}).get("arguments", {}).get("message", "")
            result = {"content": [{"type": "text", "text": text}]}
        answer = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}, separators=(",", ":")).encode()
        head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n{SESSION}Content-Length: {len(answer)}\r\n\r\n"
        return head.encode() + answer

    def notify(self, count):
        event = b'event: message\r\ndata: {"jsonrpc":"2.0","method":"notifications/message",' \
                b'"params":{"level":"info","data":"a notification of the usual size"}}\r\n\r\n'
        assert self.stream_is_open.wait(30)
        for _ in range(count // 10):
            self.await_sleep()
            self.stream.sendall(event * 10)


class ModernUpstream(Upstream):
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
        return Upstream.answer(b"POST", json.dumps(message).encode())


SERVERS = {"legacy": Upstream, "modern": ModernUpstream, "both": BothUpstream}
