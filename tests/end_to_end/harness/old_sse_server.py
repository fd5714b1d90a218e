"""An MCP server of the 2024-11-05 transport (HTTP+SSE) that the test changes while it runs."""

import http.server
import json
import queue
import threading


class OldSseServer:
    def __init__(self):
        handler = type("Handler", (_Handler,), {"owner": self})
        self.http = _Server(("127.0.0.1", 0), handler)
        self.origin = f"http://127.0.0.1:{self.http.server_address[1]}"
        self.url = self.origin + "/sse"
        self.lock = threading.Lock()
        self.sessions = {}         # number: a queue of what is written to its stream; None ends it
        self.opened = 0
        self.posted = []           # (path, message, headers)
        self.gets = 0

        self.endpoint = "/message?session={}"
        self.token = None
        self.moved = None          # where /sse redirects to
        self.refusal = 405         # of a POST to /sse
        self.get_refusal = None
        self.unknown = (404, None, "no", {})  # of a POST to an endpoint of no session: status, type, body, headers
        self.silent = ()           # methods that are never answered
        self.cut = None            # what a POST gets before its connection is closed, instead of a 202
        self.thread = threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.02})
        self.thread.start()

    def stop(self):
        self.break_streams()
        self.http.shutdown()
        self.http.server_close()
        self.thread.join()

    def running(self):
        return self.thread.is_alive()

    def break_streams(self):
        with self.lock:
            for stream in self.sessions.values():
                stream.put(None)
            self.sessions.clear()

    def emit(self, message):
        with self.lock:
            for stream in self.sessions.values():
                stream.put(message)

    def methods(self):
        with self.lock:
            return [message.get("method") for _, message, _ in self.posted]


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 512  # with the usual 5 connections would wait for a second SYN


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def refuse(self, status, headers=(), body=b"no"):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def allowed(self):
        if self.owner.token in (None, (self.headers.get("Authorization") or "").removeprefix("Bearer ")):
            return True
        self.refuse(401, [("WWW-Authenticate", "Bearer")])
        return False

    def do_GET(self):
        owner = self.owner
        owner.gets += 1
        if not self.allowed():
            return
        if owner.moved and self.path == "/sse":
            self.refuse(307, [("Location", owner.moved)])
            return
        if owner.get_refusal or self.path != (owner.moved or "/sse"):
            self.refuse(owner.get_refusal or 404)
            return
        stream = queue.Queue()
        with owner.lock:
            owner.opened += 1
            number = owner.opened
            owner.sessions[number] = stream
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        if owner.endpoint:
            self.wfile.write(f"event: endpoint\r\ndata: {owner.endpoint.format(number)}\r\n\r\n".encode())
        while (message := stream.get()) is not None:
            self.wfile.write(b"event: message\ndata: " + json.dumps(message).encode() + b"\n\n")

    def do_POST(self):
        owner = self.owner
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if not self.allowed():
            return
        if owner.moved and self.path == "/sse":
            self.refuse(307, [("Location", owner.moved)])
            return
        if self.path == (owner.moved or "/sse"):
            self.refuse(owner.refusal)
            return
        with owner.lock:
            owner.posted.append((self.path, message, dict(self.headers)))
            stream = owner.sessions.get(int(self.path.rpartition("=")[2]))
        if stream is None:
            status, kind, body, headers = owner.unknown
            if isinstance(body, dict):
                body = json.dumps({"jsonrpc": "2.0", "id": message.get("id"), "error": body})
                body = f"data: {body}\n\n" if kind == "text/event-stream" else body
            self.refuse(status, [*headers.items(), *([("Content-Type", kind)] if kind else [])], body.encode())
            return
        if owner.cut is None:
            self.refuse(202, body=b"Accepted")
        else:
            self.wfile.write(owner.cut)
            self.close_connection = True
        if message.get("method") in owner.silent:
            return
        if "id" in message and "method" in message:
            stream.put({"jsonrpc": "2.0", "id": message["id"], "result": self.result_of(message)})

    @staticmethod
    def result_of(message):
        if message["method"] == "initialize":
            return {"protocolVersion": "2024-11-05", "capabilities": {"tools": {"listChanged": True}},
                    "serverInfo": {"name": "old", "version": "1"}}
        if message["method"] == "tools/call":
            arguments = message["params"]["arguments"]
            return {"content": [{"type": "text", "text": arguments.get("message", "") * arguments.get("times", 1)}]}
        return {}
