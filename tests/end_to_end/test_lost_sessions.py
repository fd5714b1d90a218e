"""Servers that say in their own way that they do not know a session (BEHAVIOUR, "Session: a lost session", "Session: suspected loss")."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from harness import Case
from harness.parallel import main_parallel


def rpc_error(code, message):
    return json.dumps({"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": message}})


JSON, TEXT = "application/json", "text/plain"
# name: status, content type (None: none), body, further headers. The next form of a server is a row.
FORMS = {
    "404": (404, JSON, rpc_error(-32001, "Session not found"), {}),
    "400 JSON-RPC": (400, JSON, rpc_error(-32000, "Bad Request: No valid session ID provided"), {}),
    "400 bare text": (400, None, "Bad Request: No valid session ID provided", {}),
    "400 text/plain": (400, TEXT, "Invalid session ID", {}),
    "400 own JSON": (400, JSON, '{"error": "Invalid or missing session ID"}', {}),
    "401 challenge": (401, JSON, '{"error": "no such session"}', {"WWW-Authenticate": "Bearer"}),
    "401 bare": (401, None, "", {}),
    "409 text": (409, TEXT, "Unknown session", {}),
    "410 empty": (410, None, "", {}),
    "422 JSON": (422, JSON, '{"detail": "unknown session_id"}', {}),
    "500 quoting": (500, TEXT, "HTTP 400: Bad Request: No valid session ID provided", {}),
    "503 JSON-RPC": (503, JSON, rpc_error(-32001, "MCP session is unknown on this API instance"), {}),
    "502 quoting": (502, TEXT, "session not found", {}),
    "200 text": (200, TEXT, "Session not found", {}),
    "200 own JSON": (200, JSON, '{"error": "Invalid session"}', {}),
    "200 -32002": (200, JSON, {"code": -32002, "message": "Server not initialized"}, {}),
    "200 -32600": (200, JSON, {"code": -32600, "message": "missing or invalid Mcp-Session-Id"}, {}),
    "200 -32005": (200, "text/event-stream", {"code": -32005, "message": "Session not found or expired"}, {}),
}


class Forgetful:
    """A server of 2025-11-25 that forgets its sessions when told to, and then answers in one form."""

    def __init__(self, form):
        self.form, self.refuses_all = form, False
        self.stream = None  # set: the server streams end
        self.sessions, self.calls, self.received = set(), [], []
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def answer(self, status, kind=None, body="", headers=()):
                data = body.encode()
                self.send_response(status)
                for name, value in dict(headers).items():
                    self.send_header(name, value)
                if kind:
                    self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def refuse(self, id):
                status, kind, body, headers = server.form
                if isinstance(body, dict):
                    body = json.dumps({"jsonrpc": "2.0", "id": id, "error": body})
                    if kind == "text/event-stream":
                        body = f"data: {body}\n\n"
                self.answer(status, kind, body, headers)

            def do_GET(self):
                if server.stream is None:
                    self.answer(405)
                elif self.headers.get("Mcp-Session-Id") not in server.sessions:
                    self.refuse(None)
                else:
                    self.send_response(200)
                    self.send_header("Content-Type", "text/event-stream")
                    self.send_header("Connection", "close")
                    self.end_headers()
                    self.close_connection = True
                    server.stream.wait()

            def do_DELETE(self):
                self.answer(200)

            def do_POST(self):
                message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                method, id = message.get("method"), message.get("id")
                server.received.append(method)
                known = self.headers.get("Mcp-Session-Id") in server.sessions
                if server.refuses_all or (method != "initialize" and not known):
                    self.refuse(id)
                elif id is None:
                    self.answer(202)
                elif method == "initialize":
                    session = f"session-{len(server.received)}"
                    server.sessions.add(session)
                    result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                              "serverInfo": {"name": "forgetful", "version": "1"}}
                    self.answer(200, JSON, json.dumps({"jsonrpc": "2.0", "id": id, "result": result}),
                                {"Mcp-Session-Id": session})
                else:
                    if method == "tools/call":
                        server.calls.append(message["params"]["name"])
                    self.answer(200, JSON, json.dumps({"jsonrpc": "2.0", "id": id, "result": {}}))

        ThreadingHTTPServer.block_on_close = False
        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}/mcp"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def stop(self):
        self.http.shutdown()
        self.http.server_close()


class LostSessions(Case):
    def forgetful(self, form):
        server = Forgetful(form)
        self.addCleanup(server.stop)
        return server

    def call(self, daemon, name, id):
        client = self.client(daemon)
        answer = client.request("tools/call", {"name": name}, id)
        client.close()
        return answer

    def test_a_call_in_a_forgotten_session_is_made_once_in_the_next_one(self):
        for name, form in FORMS.items():
            with self.subTest(name):
                server = self.forgetful(form)
                daemon = self.start_daemon(server)
                self.assertEqual(self.call(daemon, "before", 1).get("result"), {})
                server.sessions.clear()
                self.assertEqual(self.call(daemon, "after", 2).get("result"), {})
                self.assertEqual(server.calls, ["before", "after"])
                self.assertEqual(daemon.status()["upstream"]["reopened"], 1)
                daemon.terminate()

    def test_a_saved_session_that_the_server_has_forgotten_is_opened_again(self):
        for name, form in FORMS.items():
            with self.subTest(name):
                server = self.forgetful(form)
                options = ("--state-dir", self.path(f"state-{server.http.server_port}"))
                daemon = self.start_daemon(server, *options)
                self.assertEqual(self.call(daemon, "before", 1).get("result"), {})
                daemon.terminate()
                server.sessions.clear()
                daemon = self.start_daemon(server, *options)
                self.assertEqual(self.call(daemon, "after", 2).get("result"), {})
                daemon.terminate()

    def test_a_ping_of_the_bridge_finds_it_before_a_client_needs_it(self):
        for name, form in FORMS.items():
            with self.subTest(name):
                server = self.forgetful(form)
                daemon = self.start_daemon(server, "--keepalive", "200ms")
                self.assertEqual(self.call(daemon, "before", 1).get("result"), {})
                server.sessions.clear()
                daemon.status_when(lambda status: status["upstream"]["reopened"] == 1, "another session")
                daemon.terminate()

    def test_the_server_streams_get_finds_it_before_a_client_needs_it(self):
        unnamed = {"401 without a word of it": (401, JSON, '{"error": "Unauthorized"}', {})}
        for name, form in (FORMS | unnamed).items():
            with self.subTest(name):
                server = self.forgetful(form)
                server.stream = threading.Event()
                self.addCleanup(server.stream.set)
                daemon = self.start_daemon(server, "--keepalive", "0")
                self.assertEqual(self.call(daemon, "before", 1).get("result"), {})
                daemon.status_when(lambda status: status["upstream"]["stream"] == "open", "the server stream")
                server.sessions.clear()
                server.stream.set()
                server.stream = threading.Event()
                self.addCleanup(server.stream.set)
                daemon.status_when(lambda status: status["upstream"]["reopened"] == 1, "another session")
                daemon.terminate()

    def test_a_server_that_refuses_everything_is_not_stormed_and_heals(self):
        server = self.forgetful(FORMS["401 bare"])
        daemon = self.start_daemon(server, "--keepalive", "1s")
        self.assertEqual(self.call(daemon, "before", 1).get("result"), {})
        server.refuses_all = True
        begun = len(server.received)
        for id in range(2, 12):
            self.assertIn("error", self.call(daemon, "refused", id))
        # One check (a ping and an initialize) beside the calls.
        self.assertLessEqual(server.received[begun:].count("initialize"), 1)
        self.assertEqual(daemon.status()["upstream"]["state"], "refused")
        server.refuses_all = False
        daemon.status_when(lambda status: status["upstream"]["state"] == "open", "the session serves again")


if __name__ == "__main__":
    main_parallel(4)
