"""What waiting would not change is told at once, and as what it is."""

import json
import time

from faults import FaultCase, call, eventually, initialize, main_parallel, text_of, within
from harness.scripted_server import ScriptedServer, good, json_response, response

RPC_ERROR = {"code": -32000, "message": "who are you?", "data": {"a": [1.10]}}


def rpc_error(asked, error, status=200):
    return json_response({"jsonrpc": "2.0", "id": asked.id, "error": error}, status=status)


class Told(FaultCase):
    def serve(self, answer=good, *options, **how):
        server = ScriptedServer(answer)
        self.addCleanup(server.close)
        self.start_daemon(server, "--connect-wait", "30s", "--keepalive", "0", *options, **how)
        return server

    def error_of_a_call(self, id=1, deadline=15):
        client = self.client()
        client.send(call("echo", {"message": "x"}, id))
        message = client.line(deadline)
        self.assertEqual(message["id"], id)
        return message["error"]

    def assert_told(self, error, kind, *says, delivered="no", code=-32000):
        self.assertEqual((error["code"], error["data"]["kind"], error["data"]["delivered"]), (code, kind, delivered), error)
        for words in says:
            self.assertIn(words, error["message"])


class Openings(Told):
    """--connect-wait is half a minute: whatever comes sooner was not waited for."""

    def test_a_port_that_speaks_plain_http(self):
        server = ScriptedServer()
        self.addCleanup(server.close)
        self.start_daemon(server.url.replace("http:", "https:"), "--connect-wait", "30s")
        self.assert_told(self.error_of_a_call(), "tls", "plain HTTP")

    def test_later_calls_try_anew(self):
        well = []
        self.serve(lambda asked: good(asked) if well else response(501))
        self.assert_told(self.error_of_a_call(), "http", code=-32001)
        well.append(True)
        self.assertEqual(text_of(self.client().call("echo", {"message": "x"})), "done")
        self.assertTrue(self.default_daemon.status()["upstream"]["ready"])

    def test_an_echo_as_the_command(self):
        daemon = self.start_daemon(None, "--connect-wait", "30s", "--", "cat")
        for id in (1, 2):
            self.assert_told(self.error_of_a_call(id), "malformed", "sends back what it is sent", "not an MCP server")
        client = self.client()
        client.send(initialize("mine"))
        self.assertEqual(client.line(10)["error"]["data"]["kind"], "malformed")
        self.assertNotIn("no client of the bridge", daemon.stderr())
        self.assertFalse(daemon.status()["upstream"]["ready"])

    def test_the_url_of_a_name_that_is_not_found_is_the_one_that_was_given(self):
        url = "http://no-such-host.invalid/mcp"
        file = self.write("servers.json", json.dumps({"mcpServers": {"a": {"url": url}}}))
        for source, options, environment in [("--url", ["--url", url], {}), ("MCP_SERVER_URL", [], {"MCP_SERVER_URL": url}),
                                             (file, ["--config", file], {})]:
            self.start_daemon(None, "--connect-wait", "1s", *options, environment=environment,
                              socket=f"u{len(source)}")
            error = self.error_of_a_call()
            self.assert_told(error, "dns")
            self.assertIn("check the host name in ", error["message"])
            self.assertIn(source, error["message"].split("check the host name in ")[1])


class ServerStream(Told):
    def test_a_refused_server_stream_does_not_hold_the_opening_up(self):
        for status in (401, 403, 406, 429, 500, 503):
            server = self.serve(lambda asked, status=status: response(status) if asked.http_method == "GET" else good(asked),
                                socket=f"s{status}")
            client = self.client()
            self.assertEqual(text_of(client.call("echo", {"message": "x"})), "done")
            asked, = [one for one in server.requests(http_method="GET")][:1]
            initialized, = server.requests("notifications/initialized")
            self.assertLess(initialized.at - asked.at, 0.7, f"HTTP {status}")
            # It is tried again beside.
            eventually(lambda: len(server.requests(http_method="GET")) > 1, f"another try after {status}")


class TurnedAway(Told):
    def test_at_the_opening_too(self):
        for status in (401, 403):
            self.serve(lambda asked, status=status: rpc_error(asked, RPC_ERROR, status), socket=f"o{status}")
            error = self.error_of_a_call()
            self.assert_told(error, "auth", f"HTTP {status}: who are you?", code=-32001)
            self.assertEqual(error["data"]["upstream"], RPC_ERROR)
            client = self.client()
            client.send(initialize("mine"))
            self.assertEqual(client.line(10)["error"]["data"]["kind"], "auth")
            self.assertFalse(self.default_daemon.status()["upstream"]["ready"])
            self.run_nc("status", "--ready", code=4)

    def test_one_tool_that_is_forbidden_does_not_make_the_upstream_unready(self):
        server = self.serve(lambda asked: response(403) if asked.method == "tools/call" else good(asked))
        client = self.client()
        self.assertEqual(client.call("echo", {"message": "x"}, 1)["error"]["data"]["kind"], "auth")
        self.default_daemon.status_when(lambda now: now["upstream"]["ready"], "ready")
        self.assertEqual(len(server.requests("ping")), 1)


class Answers(Told):
    def test_202_to_a_request_where_there_is_no_server_stream_is_malformed_after_5_seconds(self):
        self.serve(lambda asked: response(202) if asked.method in ("tools/call", "tools/list") else good(asked))
        client = self.client()
        client.request("ping", None, 0)
        began = time.monotonic()
        client.send(call("echo", {"message": "x"}, 1), {"jsonrpc": "2.0", "id": 2, "method": "tools/list"})
        for _ in range(2):
            self.assert_told(client.line(deadline=12)["error"], "malformed", "202", "server stream", delivered="unknown")
        self.assertGreater(time.monotonic() - began, 4.5)
        self.assertLess(time.monotonic() - began, within(9))

    def test_where_there_is_one_it_is_awaited_and_when_it_ends_for_good_no_longer(self):
        server, daemon = self.bridge("--request-timeout", "60s")
        client = self.client()
        client.fence()
        server.streams(1)
        server.fault({"status": 202}, method="tools/call", times=2)
        began = time.monotonic()
        client.send(call("echo", {"message": "x"}, 1))
        server.log("tools/call", wait=2)
        # Nothing but time shows that it is not ended: more of it than without a stream.
        self.assertFalse(client.wait_readable(6))
        server.fault({"status": 503}, http_method="GET", times=-1)
        server.control("POST", "streams/close", "{}")
        self.assert_told(client.line(deadline=15)["error"], "malformed", delivered="unknown")
        self.assertGreater(time.monotonic() - began, 10)


if __name__ == "__main__":
    main_parallel(8)
