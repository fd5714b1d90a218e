"""Upstreams that are not there, or that answer wrongly: the client gets an error, the daemon goes on (BEHAVIOUR,
"Streamable HTTP: answers")."""

import gzip
import json
import zlib

from harness import Case, call, eventually, main, notification, text_of
from harness.scripted_server import Last, ScriptedServer, good, json_response, response


class NotThere(Case):
    def test_the_daemon_runs_and_says_so_once(self):
        url = f"http://127.0.0.1:{self.unused_port()}/mcp"
        daemon = self.start_daemon(url, "--connect-wait", "1s")
        client = self.client()
        client.send(*[call("echo", {"message": "x"}, n) for n in range(3)])
        for message in client.lines(3):
            self.assert_error(message, -32000, message["id"], "connect", "no")
        said = [line for line in daemon.stderr().splitlines() if "warning" in line or "error" in line]
        self.assertEqual([sum(what in line for line in said) for what in ("cannot open a session", "requests fail until")],
                         [1, 1], daemon.stderr())
        self.assertEqual(len(said), 2, daemon.stderr())
        last = daemon.status()["lastError"]
        self.assertEqual(last["kind"], "connect")

    def test_a_client_that_leaves_while_it_waits_is_forgotten(self):
        port = self.unused_port()
        daemon = self.start_daemon(f"http://127.0.0.1:{port}/mcp")
        client = self.client()
        client.send(call("echo", {"message": "never"}, 1))
        daemon.status_when(lambda status: status["upstream"]["state"] == "waiting", "a failed try")
        client.close()
        self.others(0)
        server = self.upstream("--port", str(port))
        self.client().fence()
        self.assertEqual(len(server.log("tools/call")), 1)


class WrongAnswers(Case):
    def setUp(self):
        super().setUp()
        self.server, self.daemon = self.bridge()
        self.asker = self.client()
        self.asker.fence()

    def answer_to(self, action):
        self.server.fault(action, method="tools/call")
        self.asker.send(call("echo", {"message": "real"}, 1))
        return self.asker.line()

    def still_well(self):
        self.assertEqual(self.asker.fence(), [])
        self.in_flight(0)

    def test_what_is_no_answer_is_malformed(self):
        right = '{"jsonrpc":"2.0","id":$ID,"result":{}}'
        other = right.replace("$ID", "999999")
        for action in ({"status": 200, "body": "garbage"}, {"status": 200, "body": "[]"}, {"status": 200, "body": right + " trailing"},
                       {"status": 200, "body": right.replace("{}", "[" * 200_000 + "]" * 200_000)},
                       {"status": 200, "contentType": "text/html", "body": right},
                       {"status": 200, "body": other}, {"sse": [{"raw": f"data: {other}\n\n"}]}):
            with self.subTest(str(action)[:100]):
                self.assert_error(self.answer_to(action), -32000, 1, "malformed", "unknown")
                self.still_well()

    def test_an_answer_that_comes_twice_counts_once(self):
        answer = '{"data":{"jsonrpc":"2.0","id":$ID,"result":{"n":%d}}}'
        message = self.answer_to('{"sse":[%s,%s,%s]}' % (answer % 1, answer % 2, answer % 3))
        self.assertEqual(message["result"], {"n": 1})
        self.still_well()

    def test_a_batch_from_upstream_is_split(self):
        note = notification("notifications/message", {"level": "info", "data": "in the batch"})
        self.server.fault('{"status":200,"body":[%s,{"jsonrpc":"2.0","id":$ID,"result":{"n":1}}]}' % note, method="tools/call")
        self.asker.send(call("echo", {}, 1))
        self.assertEqual(self.asker.line()["params"]["data"], "in the batch")
        self.assertEqual(self.asker.line()["result"], {"n": 1})

    def test_bad_events_before_the_answer_are_survived(self):
        events = ['{"raw":"data: garbage\\n\\n"}', '{"raw":": comment\\n\\n"}', '{"raw":"event: x\\n\\n"}', '{"raw":"data: {}\\n\\n"}',
                  '{"raw":"data:\\n\\n"}', '{"raw":"nonsense\\n\\n"}', '{"raw":"data: {\\"id\\":1,\\"id\\":2,\\"result\\":{}}\\n\\n"}',
                  '{"raw":"data: {\\"jsonrpc\\":\\"2.0\\",\\"id\\":424242,\\"result\\":{}}\\n\\n"}', '{"raw":"data: {\\"half\\": \\n\\n"}']
        self.server.fault('{"sse":[%s],"thenAnswer":true}' % ",".join(events), method="tools/call")
        self.asker.send(call("echo", {"message": "real"}, 1))
        self.assertEqual(text_of(self.asker.line()), "real")
        self.still_well()

    def test_after_a_2xx_without_the_answer_it_is_awaited_on_any_stream(self):
        accepted = '{"accepted":true}'
        note = json.dumps(notification("notifications/message", {"level": "info", "data": "x"}))
        for action in ({"status": 202}, {"status": 204}, {"status": 202, "body": "", "chunked": True}, {"status": 206},
                       {"status": 202, "body": "Accepted", "contentType": "text/plain"}, {"status": 202, "body": "null"},
                       {"status": 202, "body": "{}"}, {"status": 201, "body": accepted}, {"status": 202, "body": "Accepted"},
                       {"status": 202, "body": note}, {"status": 200, "body": accepted}, {"status": 200, "body": "null"}):
            with self.subTest(action):
                self.server.fault(action, method="tools/call")
                last = self.server.log()[-1]["n"]
                self.asker.send(call("echo", {}, 1))
                id = next(entry["id"] for entry in self.server.log("tools/call", since=last, wait=1))
                self.server.emit('{"jsonrpc":"2.0","id":%s,"result":{"late":1}}' % id)
                self.assertEqual(self.asker.answer(1)["result"], {"late": 1})
                self.still_well()

    def test_an_answer_in_a_body_with_another_2xx_is_the_answer(self):
        for status in (201, 202):
            self.assertEqual(self.answer_to({"status": status, "body": '{"jsonrpc":"2.0","id":$ID,"result":{"n":1}}'})["result"], {"n": 1})
            self.still_well()

    def test_an_answer_to_nothing_on_the_server_stream(self):
        for id in ("77777", '"x"', "null", "0"):
            self.server.emit('{"jsonrpc":"2.0","id":%s,"result":{}}' % id)
        self.server.emit_raw("data: garbage\n\ndata: {}\n\ndata: [1]\n\n: x\n\n")
        self.server.emit(notification("notifications/message", {"level": "info", "data": "after"}))
        self.assertEqual(self.asker.line()["params"]["data"], "after")
        self.still_well()

    def test_http_errors_with_a_json_rpc_error_come_byte_for_byte(self):
        error = '{"code":-32099,"message":"no \\u0041","data":{"a":0.10,"a":1e400}}'
        for status, id in ((400, "$ID"), (503, "null")):
            with self.subTest(status):
                self.server.fault({"status": status, "body": '{"jsonrpc":"2.0","id":%s,"error":%s}' % (id, error)}, method="tools/call")
                self.asker.send(call("echo", {}, 1))
                line = self.asker.raw_line().decode()
                self.assertIn('"error":' + error, line.replace('"error": ', '"error":'))
                self.assertIn('"id":1', line)
                self.still_well()

    def test_http_errors_with_text(self):
        for status, kind in ((403, "auth"), (502, "http")):
            with self.subTest(status):
                message = self.answer_to({"status": status, "contentType": "text/plain", "body": "it \x1b[31m broke\r\n" + "x" * 500})
                error = self.assert_error(message, -32001, 1, kind)
                self.assertTrue(error["message"].startswith(f"HTTP {status}: it "), error)
                self.assertNotIn("\x1b", error["message"])
                self.assertEqual(error["data"]["status"], status)
                self.still_well()

    def test_a_failing_notification_post_is_survived(self):
        for action in ({"status": 500}, {"closeBeforeAnswer": True}):
            self.server.fault(action, method="notifications/roots/list_changed")
            self.asker.send(notification("notifications/roots/list_changed"))
            self.still_well()


class Scripted(Case):
    """Responses as no demo server gives them."""

    def scripted(self, said, *options, stream=False):
        def answer(asked):
            if asked.http_method == "GET" and stream:
                return b"HTTP/1.1 200 x\r\nContent-Type: text/event-stream\r\n\r\n: open\n\n"
            return said(asked) if asked.method == "tools/call" else good(asked)
        server = ScriptedServer(answer)
        self.addCleanup(server.close)
        daemon = self.start_daemon(server, *options, socket=f"s{self.counter}")
        return server, daemon

    def test_the_answer_after_a_202_that_is_cut_is_awaited_on_the_server_stream(self):
        server, daemon = self.scripted(lambda _: Last(b"HTTP/1.1 202 x\r\nContent-Length: 100\r\n\r\nAcc"), stream=True)
        client = self.client()
        client.send({"jsonrpc": "2.0", "id": "first", "method": "ping"})
        client.answer("first")
        daemon.status_when(lambda status: status["upstream"]["stream"] == "open", "the server stream")
        client.send(call("echo", {}, 1))
        asked = eventually(lambda: server.requests("tools/call"), "the call")
        stream = next(one for one, raw in zip(server.connections, server.raw) if b"GET /mcp" in raw)
        stream.sendall(b'data: {"jsonrpc":"2.0","id":"%d","result":{"late":1}}\n\n' % asked[0].id)
        self.assertEqual(client.line(), {"jsonrpc": "2.0", "id": 1, "result": {"late": 1}})
        self.assertEqual(len(server.requests("tools/call")), 1)
        daemon.logged("in another spelling")

    def test_json_that_is_no_message_is_malformed_without_a_server_stream(self):
        self.scripted(lambda _: json_response({"accepted": True}))
        self.assert_error(self.client().call("echo"), -32000, 1, "malformed", "unknown")

    def test_encoded_bodies_are_decoded(self):
        def encoded(coding, encode, body, status=200, content_type="application/json"):
            return lambda asked: response(status, [("Content-Type", content_type), ("Content-Encoding", coding)],
                                          encode((body % asked.id if "%d" in body else body).encode()))
        right = '{"jsonrpc":"2.0","id":%d,"result":{"n":1}}'
        event, stream = "data: " + right + "\n\n", "text/event-stream"
        large = " " * 10_000_000
        deflate = lambda body: zlib.compress(body)[2:-4]  # noqa: E731
        for said, result in (
                (encoded("gzip", gzip.compress, right), {"n": 1}), (encoded("x-gzip", gzip.compress, right), {"n": 1}),
                (encoded("Deflate", zlib.compress, right), {"n": 1}), (encoded("deflate", deflate, right), {"n": 1}),
                (encoded("identity", bytes, right), {"n": 1}), (encoded("gzip", gzip.compress, event, 200, stream), {"n": 1}),
                (encoded("gzip", gzip.compress, "no such thing\n", 502, "text/plain"), ("http", "HTTP 502: no such thing")),
                (encoded("gzip", gzip.compress, large + right), ("too_large", "--max-frame")),
                (encoded("gzip", gzip.compress, "data: " + large + right + "\n\n", 200, stream), ("too_large", "--max-frame")),
                (encoded("gzip", gzip.compress, event.replace("%d", "7") * 100_000, 200, stream), ("too_large", "--max-frame")),
                (encoded("gzip", bytes, "not gzip"), ("malformed", "'gzip', but its body is not valid")),
                (encoded("br", bytes, "xxx"), ("malformed", "'br', which is not decoded")),
                (encoded("gzip, gzip", lambda body: gzip.compress(gzip.compress(body)), right), ("malformed", "'gzip, gzip'")),
                (encoded("br", bytes, "xxx", 502), ("http", "HTTP 502"))):
            server, daemon = self.scripted(said, "--max-frame", "64K")
            message = self.client().call("echo")
            with self.subTest(result):
                if isinstance(result, dict):
                    self.assertEqual(message["result"], result)
                else:
                    error = self.assert_error(message, -32001 if result[0] == "http" else -32000, 1, result[0])
                    self.assertIn(result[1], error["message"])
                self.assertEqual({one.headers.get("accept-encoding") for one in server.requests()}, {"identity"})
            daemon.terminate()


class TooLarge(Case):
    def test_an_answer_over_the_limit_is_an_error_and_a_notification_is_skipped(self):
        server, _ = self.bridge("--max-frame", "64K")
        client = self.client()
        client.fence()
        large = {"sse": [{"raw": "data: " + "x" * 100_000 + "\n\n"}], "thenAnswer": True}
        endless = {"sse": [{"raw": "data: " + "x" * 1000}] + [{"raw": "x" * 10_000}] * 50, "end": "keep"}
        for fault in (None, large, endless):
            if fault:
                server.fault(fault, method="tools/call")
            client.send(call("big", {"bytes": 10_000_000}, 1))
            self.assert_error(client.line(), -32000, 1, "too_large", "unknown")
            self.assertEqual(client.fence(), [])
        for data in ("x" * 100_000, "next"):
            server.emit(notification("notifications/message", {"level": "info", "data": data}))
        self.assertEqual(client.line()["params"]["data"], "next")
        # The same stream, not a new one.
        self.assertEqual(len(server.log(http_method="GET")), 1)


if __name__ == "__main__":
    main()
