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
    def test_a_protocol_version_cannot_split_a_request(self):
        server = self.serve(lambda asked: json_response(answer_to(asked, SPLIT)) if asked.method == "initialize"
                            else good(asked))
        self.refused_at_once("malformed", "protocolVersion")
        self.assertEqual([one.method for one in server.requests()], ["initialize"])
        self.assertNotIn(b"169.254", server.all_bytes())
        status = self.default_daemon.status()["upstream"]
        self.assertEqual((status["state"], status["ready"], status["protocolVersion"]), ("refused", False, None))
        self.assertNotIn("\r", self.default_daemon.stderr())

    def test_a_session_id_has_no_control_characters(self):
        server = self.serve(lambda asked: json_response(answer_to(asked), [("Mcp-Session-Id", b"a\x01b")])
                            if asked.method == "initialize" else good(asked))
        self.refused_at_once("malformed", "Mcp-Session-Id")
        self.assertEqual([one.method for one in server.requests()], ["initialize"])

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


if __name__ == "__main__":
    main_parallel(8)
