"""What a server says and the bridge would send on in a header, or take from behind a body."""

import json

from faults import FaultCase, call, eventually, main_parallel, text_of
from harness.old_sse_server import OldSseServer
from harness.scripted_server import ScriptedServer, answer_to, chunked, good, json_response, response

SPLIT = "2025-11-25\r\nContent-Length: 0\r\n\r\nGET http://169.254.169.254/latest HTTP/1.1\r\nHost: x"


class Scripted(FaultCase):
    def serve(self, answer, *options):
        server = ScriptedServer(answer)
        self.addCleanup(server.close)
        self.start_daemon(server, "--connect-wait", "20s", *options)
        return server

    def refused_at_once(self, kind, says):
        """A call ends with this, and was not kept waiting for the opening to be tried again."""
        client = self.client()
        client.send(call("echo", {"message": "x"}, 1))
        error = self.assert_error(client.line(deadline=10), -32000, 1, kind, "no")
        self.assertIn(says, error["message"])
        return error


class WhatGoesIntoHeaders(Scripted):
    def version_refused(self, version):
        server = self.serve(lambda asked: json_response(answer_to(asked, version)) if asked.method == "initialize"
                            else good(asked))
        self.refused_at_once("malformed", "protocolVersion")
        self.assertEqual([one.method for one in server.requests()], ["initialize"])
        self.assertNotIn(b"169.254", server.all_bytes())
        status = self.default_daemon.status()["upstream"]
        self.assertEqual((status["state"], status["ready"], status["protocolVersion"]), ("refused", False, None))
        self.assertNotIn("\r", self.default_daemon.stderr())

    def test_a_protocol_version_cannot_split_a_request(self):
        self.version_refused(SPLIT)

    def test_nor_end_a_header_early(self):
        self.version_refused("2025-11-25\0")

    def test_nor_be_longer_than_any_version(self):
        self.version_refused("2" * 200_000)

    def test_nor_have_a_blank_in_it(self):
        self.version_refused("2025-11-25 x")

    def test_a_clients_own_initialize_gets_the_same_error_and_none_of_the_version(self):
        self.serve(lambda asked: json_response(answer_to(asked, SPLIT)))
        client = self.client()
        client.send({"jsonrpc": "2.0", "id": "mine", "method": "initialize",
                     "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}})
        error = self.assert_error(client.line(), -32000, "mine", "malformed", "no")
        self.assertNotIn("\r", error["message"])

    def session_refused(self, session_id):
        server = self.serve(lambda asked: json_response(answer_to(asked), [("Mcp-Session-Id", session_id)])
                            if asked.method == "initialize" else good(asked))
        self.refused_at_once("malformed", "Mcp-Session-Id")
        self.assertEqual([one.method for one in server.requests()], ["initialize"])

    def test_a_session_id_has_no_control_characters(self):
        self.session_refused(b"a\x01b")

    def test_nor_other_letters_than_ascii(self):
        self.session_refused("sitzung-\u00e4")

    def test_nor_more_than_1024_bytes(self):
        self.session_refused("x" * 1025)

    def test_an_event_id_that_is_no_text_for_a_header_is_not_sent(self):
        event = "id: a\x01b\ndata: \n\n"

        def answer(asked):
            if asked.method == "tools/call":
                return response(200, [("Content-Type", "text/event-stream")], event)
            return good(asked)

        server = self.serve(answer)
        client = self.client()
        client.send(call("echo", {"message": "x"}, 1))
        error = self.assert_error(client.line(), -32000, 1, "closed", "unknown")
        self.assertIn("event id", error["message"])
        self.assertNotIn(b"\x01", server.all_bytes())

    def test_a_server_stream_with_such_an_id_is_opened_again_without_it(self):
        def answer(asked):
            if asked.http_method == "GET":
                return response(200, [("Content-Type", "text/event-stream")], "id: a\u00e4b\ndata: {}\n\n")
            return good(asked)

        server = self.serve(answer)
        self.assertEqual(text_of(self.client().call("echo", {"message": "x"})), "done")
        eventually(lambda: len(server.requests(http_method="GET")) > 1, "another opening")
        self.assertNotIn(b"last-event-id", server.all_bytes().lower())
        self.default_daemon.logged("not valid in a header")

    def test_an_event_id_that_is_too_long_takes_the_one_before_it_back(self):
        events = f"id: 1\ndata: \n\nid: {'x' * 5000}\ndata: \n\n"

        def answer(asked):
            if asked.method == "tools/call":
                return response(200, [("Content-Type", "text/event-stream")], events)
            if asked.http_method == "GET":
                return response(200, [("Content-Type", "text/event-stream")], events.replace("data: ", "data: {}"))
            return good(asked)

        server = self.serve(answer)
        client = self.client()
        client.send(call("echo", {"message": "x"}, 1))
        error = self.assert_error(client.line(), -32000, 1, "closed", "unknown")
        self.assertIn("event id is too long", error["message"])
        eventually(lambda: len(server.requests(http_method="GET")) > 1, "another opening")
        self.assertNotIn(b"last-event-id", server.all_bytes().lower())
        self.default_daemon.logged("the server stream cannot be resumed: its event id is too long")

    def test_a_redirection_goes_to_a_url(self):
        server = self.serve(lambda asked: response(307, [("Location", b"/m\xc3\xa4p")]))
        client = self.client()
        client.send(call("echo", {"message": "x"}, 1))
        error = self.assert_error(client.line(deadline=10), -32001, 1, "http")
        self.assertIn("redirects", error["message"])
        self.assertEqual(error["data"]["status"], 307)
        self.assertEqual({one.path for one in server.requests()}, {"/mcp"})

    def test_an_endpoint_of_the_older_transport_is_a_url(self):
        for named in ("/message?a\u00e4={}", "/message?\u0001={}", "/" + "x" * 9000 + "?session={}"):
            server = OldSseServer()
            server.endpoint = named
            self.addCleanup(server.stop)
            daemon = self.start_daemon(server, "--connect-wait", "20s", socket=f"s{len(named)}")
            client = self.client(daemon)
            client.send(call("echo", {"message": "x"}, 1))
            error = self.assert_error(client.line(deadline=10), -32000, 1, "malformed", "no")
            self.assertIn("endpoint", error["message"])
            self.assertEqual(server.posted, [])


class WhatIsBehindTheHead(Scripted):
    TRAILERS = [("Content-Type", "text/html"), ("Mcp-Session-Id", "trailed"), ("Retry-After", "9"),
                ("WWW-Authenticate", "Bearer"), ("HTTP/1.1 200 x", "y"), ("Keep-Alive", "timeout=1")]
    JSON = [("Content-Type", "application/json")]

    def test_a_trailer_changes_nothing_of_an_answer(self):
        def answer(asked):
            if asked.http_method != "POST" or asked.id is None:
                return good(asked)
            return chunked(json.dumps(answer_to(asked)), self.JSON, self.TRAILERS)

        server = self.serve(answer)
        client = self.client()
        self.assertEqual(text_of(client.call("echo", {"message": "x"}, 1)), "done")
        self.assertEqual(text_of(client.call("echo", {"message": "x"}, 2)), "done")
        self.assertNotIn(b"trailed", server.all_bytes())

    def test_nor_of_a_refusal(self):
        def answer(asked):
            if asked.method != "tools/call":
                return good(asked)
            return chunked("busy", [("Content-Type", "text/plain")], self.TRAILERS, status=503)

        server = self.serve(answer)
        client = self.client()
        client.send(call("echo", {"message": "x"}, 1))
        error = self.assert_error(client.line(deadline=5), -32001, 1, "http", "unknown")
        self.assertNotIn("retryAfterMs", error["data"])
        self.assertNotIn("wwwAuthenticate", error["data"])
        self.assertEqual(len(server.requests("tools/call")), 1)

    def test_nor_of_the_server_stream(self):
        def answer(asked):
            if asked.http_method != "GET":
                return good(asked)
            return chunked("data: {}\n\n", [("Content-Type", "text/event-stream")], self.TRAILERS)

        server = self.serve(answer)
        client = self.client()
        client.fence()
        eventually(lambda: len(server.requests(http_method="GET")) > 1, "another opening")
        opened = self.default_daemon.metrics().sum("mcp_bridge_server_stream_openings_total")
        self.assertLessEqual(opened, len(server.requests(http_method="GET")))
        self.assertNotIn(b"trailed", server.all_bytes())

    def test_nothing_of_an_informational_head_remains(self):
        early = b"HTTP/1.1 103 Early Hints\r\nMcp-Session-Id: early\r\nRetry-After: 9\r\n\r\n"
        server = self.serve(lambda asked: early + good(asked))
        client = self.client()
        self.assertEqual(text_of(client.call("echo", {"message": "x"}, 1)), "done")
        self.assertNotIn(b"early", server.all_bytes())


if __name__ == "__main__":
    main_parallel(8)
