"""One session: who opens it, what later clients get, how it is kept and ended (BEHAVIOUR, "Session")."""

import json
import signal
import time

from harness import Case, call, eventually, initialize, main, notification, text_of, within


class Opening(Case):
    """BEHAVIOUR, "Session: opening", "Streamable HTTP: requests"."""

    def test_lazy_any_first_frame_opens_it(self):
        server, _ = self.bridge()
        client = self.client()
        self.assertEqual(text_of(client.call("echo", {"message": "first frame"})), "first frame")
        body = server.bodies("initialize")[0]
        self.assertEqual(body["params"]["clientInfo"]["name"], "mcp-session-bridge")
        self.assertTrue(body["params"]["clientInfo"]["version"])
        self.assertEqual(body["params"]["capabilities"], {"elicitation": {"form": {}, "url": {}}})
        self.assertEqual(body["params"]["protocolVersion"], "2025-11-25")

    def test_lazy_the_first_clients_initialize_is_used(self):
        server, _ = self.bridge()
        client = self.client()
        line = ('{"jsonrpc":"2.0","id":%s,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":'
                '{"roots":{"listChanged":true},"x":1e400},"clientInfo":{"name":"mine","version":"0.10"}}}')
        client.send(line % '"i"')
        result = client.answer("i")["result"]
        self.assertEqual(result["protocolVersion"], "2025-06-18")
        entry = server.log("initialize")[0]
        self.assertRegex(entry["id"], "^[0-9]+$")
        self.assertEqual(entry["body"], line % entry["id"])

    def test_the_order_of_an_opening(self):
        server, _ = self.bridge()
        client = self.client()
        client.send(call("echo", {"message": "1"}, 1), call("echo", {"message": "2"}, 2))
        client.lines(2)
        order = [(entry["httpMethod"], entry["method"]) for entry in server.log()]
        self.assertEqual(order[0], ("POST", "initialize"))
        self.assertEqual(order[1:3], [("GET", None), ("POST", "notifications/initialized")])
        self.assertEqual([method for _, method in order[3:]], ["tools/call"] * 2)
        self.assertEqual(order.count(("POST", "notifications/initialized")), 1)

    def test_the_headers(self):
        server, _ = self.bridge()
        self.client().fence()
        server.log(http_method="GET", wait=1)
        first, *others = server.log()
        self.assertNotIn("mcp-session-id", first["headers"])
        self.assertNotIn("mcp-protocol-version", first["headers"])
        session = others[0]["headers"]["mcp-session-id"]
        for entry in others:
            self.assertEqual(entry["headers"]["mcp-session-id"], session)
            self.assertEqual(entry["headers"]["mcp-protocol-version"], "2025-11-25")
        for entry in server.log():
            if entry["httpMethod"] == "POST":
                self.assertIn("application/json", entry["headers"]["accept"])
                self.assertIn("text/event-stream", entry["headers"]["accept"])
                self.assertEqual(entry["headers"]["content-type"], "application/json")
                self.assertIn("content-length", entry["headers"])
            else:
                self.assertEqual(entry["headers"]["accept"], "text/event-stream")


class Shared(Case):
    def test_concurrent_initializes_are_one(self):
        server, _ = self.bridge()
        server.fault({"delayMs": 300}, method="initialize")
        clients = [self.client() for _ in range(8)]
        for n, client in enumerate(clients):
            client.send(initialize(n))
        results = [client.answer(n)["result"] for n, client in enumerate(clients)]
        self.assertEqual(len({json.dumps(result) for result in results}), 1)
        self.assertEqual(len(server.log("initialize")), 1)

    def test_a_later_one_is_answered_in_the_askers_version_also_while_the_upstream_is_away(self):
        server, _ = self.bridge()
        for id, version, answered in ((1, "2025-11-25", "2025-11-25"), (2, "2025-03-26", "2025-03-26"), (3, "2099-01-01", "2025-11-25")):
            result = self.client().send(initialize(id, {}, version)).answer(id)["result"]
            self.assertEqual((result["protocolVersion"], result["serverInfo"]["name"]), (answered, "demo-upstream"))
            if server.running():
                server.stop()

    def test_what_a_later_client_declares_beyond_it_is_logged_once_with_the_remedy(self):
        _, daemon = self.bridge()
        roots = {"roots": {"listChanged": True}}
        for id, capabilities in enumerate((roots, {}, roots, {**roots, "sampling": {}}, {"sampling": {}}, {"elicitation": {}})):
            self.client().send(initialize(id, capabilities)).answer(id)
        log = daemon.logged("a client declares", times=2)
        self.assertEqual(log.count("a client declares"), 2)
        self.assertIn("a client declares sampling, but the session was opened without: the server may offer less; to declare all, "
                      "start with --client-capabilities '{\"roots\":{\"listChanged\":true},\"sampling\":{}}'", log)
        self.assertIn("a client declares elicitation, but", log)
        self.assertIn("'{\"elicitation\":{\"form\":{}},\"roots\":{\"listChanged\":true},\"sampling\":{}}'", log)

    def test_an_error_goes_to_that_client_alone_and_the_next_frame_opens_it(self):
        server, _ = self.bridge()
        server.fault('{"delayMs":300,"status":200,"body":{"jsonrpc":"2.0","id":$ID,"error":{"code":-32602,"message":"Unsupported","data":{"x":0.10}}}}', method="initialize")
        first, second = self.client(), self.client()
        first.send(initialize("mine"))
        server.log("initialize", wait=1)
        second.send(call("echo", {"message": "x"}, 1))
        self.assertEqual(self.assert_error(first.line(), -32602, "mine")["data"], {"x": 0.10})
        self.assertEqual(text_of(second.line()), "x")
        first.send(initialize("again"))
        self.assertIn("result", first.answer("again"))

    def test_control_methods_are_never_forwarded_but_with_no_control(self):
        server, daemon = self.bridge()
        client = self.client()
        self.assert_error(client.request("bridge/no-such-method"), -32601, 1)
        self.assertEqual(server.log(), [])
        daemon.stop()
        server, daemon = self.bridge("--no-control")
        self.assert_error(self.client().request("bridge/status"), -32601, 1)
        self.assertEqual(len(server.log("bridge/status")), 1)


class Kept(Case):
    """BEHAVIOUR, "Streamable HTTP: server stream"."""

    def test_the_server_stream_is_reopened_at_once(self):
        server, _ = self.bridge("--handshake", "eager")
        for opened in range(1, 4):
            server.log(http_method="GET", wait=opened)
            server.streams(1)
            if opened < 3:
                server.control("POST", "streams/close", "{}")
        server.emit(notification("notifications/message", {"level": "info", "data": "still"}))
        self.assertEqual(self.client().line()["params"]["data"], "still")

    def test_a_server_without_a_stream_is_asked_once_and_none_if_that_is_not_wanted(self):
        for options, upstream, stream, asked in (((), ("--no-stream",), "none", 1), (("--no-server-stream",), (), "off", 0)):
            with self.subTest(options):
                server, daemon = self.bridge(*options, upstream=upstream)
                client = self.client()
                client.fence()
                daemon.status_when(lambda status: status["upstream"]["stream"] == stream, stream)
                client.fence()
                self.assertEqual(len(server.log(http_method="GET")), asked)
                daemon.stop()


class Ending(Case):
    """BEHAVIOUR, "Shutdown"."""

    def test_the_session_is_ended_with_delete_and_exit_0(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            server, daemon = self.bridge()
            client = self.client()
            client.fence()
            daemon.signal(number)
            self.assertEqual(daemon.wait(), 0)
            client.expect_closed()
            self.assertEqual(server.state()["deletes"], 1)
            entry = server.log(http_method="DELETE")[0]
            self.assertEqual(entry["headers"]["mcp-session-id"], entry["sessionId"])
            self.assertEqual(server.state()["sessions"], 0)

    def test_requests_in_flight_get_the_grace_and_no_new_client_is_accepted(self):
        server, daemon = self.bridge("--grace", "20s")
        client = self.client()
        client.send(call("slow", {"steps": 5, "delayMs": 100}, 1))
        server.log("tools/call", wait=1)
        daemon.signal(signal.SIGTERM)

        def refused():
            try:
                self.client().close()
            except OSError:
                return True
            return False

        eventually(refused, "the end of accepting")
        self.assertEqual(text_of(client.line()), "done after 5 steps")
        client.expect_closed()
        self.assertEqual(daemon.wait(), 0)

    def test_it_takes_8_seconds_at_most_whatever_the_upstream_does(self):
        server, daemon = self.bridge("--grace", "5s")
        client = self.client()
        client.fence()
        server.fault({"hang": True}, times=-1)
        client.send(call("echo", {}, 1))
        server.log("tools/call", wait=2)
        began = time.monotonic()
        daemon.signal(signal.SIGTERM)
        self.assertEqual(daemon.wait(), 0)
        self.assertLess(time.monotonic() - began, within(8))
        self.assertGreater(time.monotonic() - began, 4.9)

    def test_a_second_signal_exits_at_once(self):
        for first, second, code in ((signal.SIGTERM, signal.SIGINT, 130), (signal.SIGINT, signal.SIGTERM, 143)):
            server, daemon = self.bridge("--grace", "20s")
            daemon.exit_codes = (code,)
            client = self.client()
            client.send(call("slow", {"steps": 1000, "delayMs": 50}, 1))
            server.log("tools/call", wait=1)
            daemon.signal(first)
            daemon.logged("signal")
            daemon.signal(second)
            self.assertEqual(daemon.wait(5), code)


if __name__ == "__main__":
    main()
