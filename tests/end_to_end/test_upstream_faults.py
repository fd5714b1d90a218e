"""Upstreams that are not there, or that answer wrongly: the client gets an error, the daemon goes on (BEHAVIOUR,
"Streamable HTTP: answers")."""

from harness import Case, call, main, notification, text_of


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
                       {"status": 206}, {"status": 200, "body": other}, {"sse": [{"raw": f"data: {other}\n\n"}]}):
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

    def test_after_a_2xx_without_a_body_the_answer_is_awaited_on_any_stream(self):
        for action in ({"status": 202}, {"status": 204}, {"status": 202, "body": "", "chunked": True}):
            with self.subTest(action):
                self.server.fault(action, method="tools/call")
                last = self.server.log()[-1]["n"]
                self.asker.send(call("echo", {}, 1))
                id = next(entry["id"] for entry in self.server.log("tools/call", since=last, wait=1))
                self.server.emit('{"jsonrpc":"2.0","id":%s,"result":{"late":1}}' % id)
                self.assertEqual(self.asker.line()["result"], {"late": 1})
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
