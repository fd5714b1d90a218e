"""Servers of the 2024-11-05 transport, named as such or found by the fallback of the specification (BEHAVIOUR,
"HTTP+SSE")."""

import json
import time

from harness import Case, call, eventually, main, text_of, within
from harness.old_sse_server import OldSseServer
from test_lost_sessions import FORMS
from harness.scripted_server import ScriptedServer, response


class Sse(Case):
    def setUp(self):
        super().setUp()
        self.server = OldSseServer()
        self.addCleanup(self.server.stop)

    def by_config(self, *options, **how):
        config = self.write("mcp.json", json.dumps({"servers": {"old": {"type": "sse", "url": self.server.url}}}))
        return self.start_daemon(None, "--config", config, *options, **how)


class Sessions(Sse):
    def test_calls_progress_and_notifications_pass(self):
        daemon = self.by_config()
        client = self.client()
        self.assertEqual(text_of(client.call("echo", {"message": "hi"})), "hi")
        upstream = daemon.status()["upstream"]
        self.assertEqual((upstream["kind"], upstream["stream"], upstream["protocolVersion"]), ("sse", "open", "2024-11-05"))
        self.assertEqual(self.server.methods()[:3], ["initialize", "notifications/initialized", "tools/call"])
        self.server.emit({"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": "x:y"}})
        self.assertEqual(client.line()["params"], {"uri": "x:y"})

    def test_an_older_server_is_found_by_the_fallback(self):
        for status in (400, 404, 405):
            self.server.refusal = status
            daemon = self.start_daemon(self.server.url, socket=f"s{status}")
            self.assertEqual(text_of(self.client().call("echo", {"message": str(status)})), str(status))
            self.assertEqual(daemon.status()["upstream"]["kind"], "sse")
            daemon.terminate()

    def test_a_server_that_is_neither_is_refused_with_what_it_said_first(self):
        # Another refusal than these asks for no stream.
        for number, (refusal, kind, gets) in enumerate(((403, "auth", 0), (404, "http", 1))):
            self.server.refusal, self.server.get_refusal = refusal, 405
            self.start_daemon(self.server.url, socket=f"s{number}")
            error = self.assert_error(self.client().call("echo"), -32001, 1, kind)
            self.assertEqual((error["data"]["status"], self.server.gets), (refusal, gets))

    def test_many_requests_at_once_are_answered_on_the_one_stream(self):
        self.by_config()
        client = self.client()
        client.send(*[call("echo", {"message": str(n)}, n) for n in range(200)])
        self.assertEqual({m["id"]: text_of(m) for m in client.lines(200)}, {n: str(n) for n in range(200)})
        self.assertEqual(self.server.opened, 1)


class Losses(Sse):
    def test_a_broken_stream_is_a_lost_session_and_requests_in_flight_are_unknown(self):
        self.server.silent = ("tools/call",)
        daemon = self.by_config()
        client = self.client()
        client.send(call("echo", {}, 1))
        eventually(lambda: "tools/call" in self.server.methods(), "the call")
        self.server.silent = ()
        self.server.break_streams()
        client.others = []
        self.assert_error(client.answer(1), -32000, 1, "closed", "unknown")
        self.assertEqual(text_of(client.call("echo", {"message": "again"}, 2)), "again")
        self.assertEqual([message["method"] for message in client.others],
                         ["notifications/bridge/session_reopened", "notifications/tools/list_changed"])
        self.assertEqual(daemon.status()["upstream"]["reopened"], 1)
        self.assertEqual(self.server.opened, 2)

    def forget_sessions(self):
        with self.server.lock:
            for stream in self.server.sessions.values():
                self.addCleanup(stream.put, None)
            self.server.sessions.clear()

    def test_an_endpoint_that_does_not_know_the_session_is_a_lost_session(self):
        for number, (name, form) in enumerate(FORMS.items()):
            for keepalive in ("0", "200ms") if name in ("400 bare text", "200 -32002", "200 text") else ("0",):
                with self.subTest(name, keepalive=keepalive):
                    self.server.unknown = form
                    daemon = self.by_config("--keepalive", keepalive, socket=f"lost{number}-{keepalive}")
                    client = self.client()
                    client.fence()
                    self.forget_sessions()
                    if keepalive == "0":
                        self.assertEqual(text_of(client.call("echo", {"message": "again"}, 2)), "again")
                    daemon.status_when(lambda status: status["upstream"]["reopened"] == 1, "another session")
                    daemon.terminate()

    def test_an_error_in_the_response_of_a_post_is_the_answer(self):
        self.by_config()
        client = self.client()
        client.fence()
        error = {"code": -32602, "message": "Unknown tool"}
        body = json.dumps({"jsonrpc": "2.0", "id": None, "error": error}).encode()
        self.server.cut = (b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                           b"Content-Length: %d\r\n\r\n" % len(body)) + body
        self.server.silent = ("tools/call",)
        self.assertEqual(client.call("echo", {}, 2)["error"], error)

    def test_a_response_of_a_post_that_is_cut_does_not_matter_while_the_stream_is_open(self):
        self.by_config()
        client = self.client()
        for number, cut in enumerate((b"", b"HTTP/1.1 202 Accepted\r\nContent-Length: 100\r\n\r\nAcc",
                                      b"HTTP/1.1 202 Accepted\r\nContent-Le", b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                                      b"Content-Encoding: br\r\nContent-Length: 9\r\n\r\nxxx")):
            with self.subTest(cut):
                self.server.cut = cut
                self.assertEqual(text_of(client.call("echo", {"message": str(number)}, number)), str(number))
                client.send({"jsonrpc": "2.0", "id": "list", "method": "tools/list"})
                self.assertEqual(client.answer("list")["result"], {})
                for method in ("tools/call", "tools/list"):
                    self.assertEqual(self.server.methods().count(method), number + 1)
        self.assertEqual(self.server.opened, 1)


class Endpoints(Sse):
    def test_an_endpoint_that_is_not_named_is_waited_for_for_5_seconds(self):
        streams = b"HTTP/1.1 200 x\r\nContent-Type: text/event-stream\r\n\r\n: nothing yet\n\n"
        server = ScriptedServer(lambda asked: streams if asked.http_method == "GET" else response(405))
        self.addCleanup(server.close)
        self.start_daemon(server, "--connect-wait", "30s")
        began = time.monotonic()
        error = self.assert_error(self.client().call("echo"), -32000, 1, "malformed", "no")
        for said in ("HTTP+SSE", "endpoint", "HTTP 405"):
            self.assertIn(said, error["message"])
        self.assertGreater(time.monotonic() - began, 4.5)
        self.assertLess(time.monotonic() - began, within(20))

    def test_an_endpoint_of_another_origin_is_refused(self):
        for endpoint in ("http://127.0.0.2:1/message", "https://127.0.0.1/x", "//localhost:1/x"):
            self.server.endpoint = endpoint
            for start in (self.by_config, lambda *options, **how: self.start_daemon(self.server.url, *options, **how)):
                daemon = start(socket=f"s{self.counter}")
                error = self.assert_error(self.client().call("echo"), -32000, 1, "malformed", "no")
                for said in ("HTTP+SSE", "another origin"):
                    self.assertIn(said, error["message"])
                    daemon.logged(said)
                daemon.terminate()
        self.assertEqual(self.server.posted, [])

    def test_a_stream_that_has_moved_within_its_origin_is_found_and_endpoints_are_relative_to_it(self):
        self.server.moved = "/sse/"
        for endpoint, path in (("/message?session={}", "/message"), ("message?session={}", "/sse/message"),
                               (self.server.origin + "/message?session={}", "/message")):
            for start in (self.by_config, lambda **how: self.start_daemon(self.server.url, **how)):
                self.server.endpoint = endpoint
                daemon = start(socket=f"s{self.counter}")
                self.assertEqual(text_of(self.client().call("echo", {"message": "x"})), "x")
                self.assertEqual(daemon.status()["upstream"]["kind"], "sse")
                self.assertEqual(self.server.posted[-1][0].partition("?")[0], path)
                daemon.terminate()

    def test_a_stream_that_has_moved_to_another_origin_is_not_asked_for(self):
        other = OldSseServer()
        self.addCleanup(other.stop)
        self.server.moved = other.url
        self.by_config()
        error = self.assert_error(self.client().call("echo"), -32001, 1, "http", "no")
        self.assertEqual((error["data"]["status"], other.gets), (307, 0))

    def test_the_token_goes_with_the_stream_and_the_posts_and_a_refused_one_is_told(self):
        self.server.token = "t0ken"
        daemon = self.by_config(environment={"MCP_SERVER_TOKEN": "t0ken"})
        self.assertEqual(text_of(self.client().call("echo", {"message": "x"})), "x")
        self.assertNotIn("t0ken", daemon.stderr())
        self.by_config(socket="without")
        error = self.assert_error(self.client().call("echo"), -32001, 1, "auth", "no")
        self.assertEqual(error["data"]["status"], 401)


if __name__ == "__main__":
    main()
