"""Frames from a client that are none: an error with id null, and the next line is read as usual (BEHAVIOUR,
"Framing")."""

import json

from harness import Case, call, main

PARSE, INVALID = -32700, -32600


class Lines(Case):
    def setUp(self):
        super().setUp()
        self.server, self.daemon = self.bridge()

    def refused(self, line, code, id=None):
        client = self.client()
        client.send(line)
        self.assert_error(client.line(), code, id)
        self.assertEqual(client.call("echo", {"message": "still here"}, id=2)["id"], 2)

    def test_each_kind_of_wrong_line_has_its_error_and_reaches_nobody(self):
        """One of each kind; tests/unit/daemon/json has the variations."""
        for line, code in (("{", PARSE), (b'{"id":1,"method":"x","params":"\xff"}', PARSE), ("1", INVALID), ("{}", INVALID),
                           ('{"id":null,"method":"x"}', INVALID), ('{"id":1,"id":2,"method":"x"}', INVALID), ("[]", INVALID),
                           ("[" * 200_000, INVALID), ('{"id":1,"method":"x","param\\u017f":{}}', INVALID),
                           ('{"id":1,"method":"x\\u0000"}', INVALID)):
            with self.subTest(line[:40]):
                self.refused(line, code)
        self.assertEqual([body for body in self.server.bodies() if body.get("method") == "x"], [])


class Batches(Case):
    def setUp(self):
        super().setUp()
        self.server, self.daemon = self.bridge()

    def test_a_batch_is_split_and_answered_by_single_lines(self):
        client = self.client()
        client.fence()
        client.send("[" + ",".join([call("echo", {"message": "a"}, 1), '{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}',
                                    ' {"id":"two","method":"ping"} ']) + "]")
        self.assertEqual({str(message["id"]) for message in client.lines(2)}, {"1", "two"})
        self.assertEqual(client.fence(), [])
        for entry in self.server.log():
            self.assertFalse((entry["body"] or "").lstrip().startswith("["))


class TooLong(Case):
    LIMIT = 4096

    def setUp(self):
        super().setUp()
        self.server, self.daemon = self.bridge("--max-frame", "4K")

    def line_of(self, length):
        frame = '{"id":1,"method":"tools/call","params":{"name":"echo","arguments":{"message":"%s"}}}'
        return (frame % ("x" * (length - len(frame) + 2))).encode()

    def send_in_parts(self, client, data, size):
        for start in range(0, len(data), size):
            client.send_raw(data[start:start + size])

    def test_the_rest_of_the_line_is_discarded_and_the_next_one_read(self):
        client = self.client()
        self.send_in_parts(client, self.line_of(50_000) + b"\n" + b'{"id":5,"method":"ping"}\n', 1000)
        self.assert_error(client.line(), INVALID)
        self.assertEqual(client.line()["id"], 5)


class DefaultLimit(Case):
    def test_eight_mebibytes_pass_and_one_byte_more_does_not(self):
        self.bridge()
        client = self.client()
        frame = '{"id":1,"method":"tools/call","params":{"name":"echo","arguments":{"message":"%s"}}}'
        full = (frame % ("x" * ((8 << 20) - len(frame) + 2)))
        client.send(full.replace("xx", "xxx", 1))
        self.assertIn(str(8 << 20), self.assert_error(client.line(), INVALID)["message"])
        # The answer has to be within the limit as well, and it is a little longer than the request.
        client.send(full.replace('"x', '"', 1).replace("x" * 1000, "", 1))
        self.assertEqual(client.line()["id"], 1)


class OfTheWrongKind(Case):
    """What the bridge acts on by a method's name does not pass in the other kind of message."""

    def test_a_request_named_as_a_notification_is_refused_and_reaches_nobody(self):
        server, _ = self.bridge()
        victim, client = self.client(), self.client()
        victim.send(call("slow", {"steps": 1000, "delayMs": 50}, 1))
        id = server.log("tools/call", wait=1)[0]["id"]
        for method in ("notifications/cancelled", "notifications\\/cancelled", "notifications/initialized", "notifications/x"):
            client.send('{"jsonrpc":"2.0","id":7,"method":"%s","params":{"requestId":%s}}' % (method, id))
            self.assert_error(client.line(), -32600, 7)
        client.fence()
        self.assertEqual([entry for entry in server.log() if "notifications/cancelled" in (entry["body"] or "")], [])
        self.in_flight(1)

    def test_a_request_of_the_protocol_without_an_id_is_refused(self):
        server, _ = self.bridge()
        client = self.client()
        client.fence()
        server.forget_log()
        for method in ("server/discover", "tools/call", "initialize", "tools/list", "ping"):
            client.send('{"jsonrpc":"2.0","method":"%s"}' % method)
            self.assert_error(client.line(), -32600, None)
        client.fence()
        self.assertEqual(len(server.log(http_method="POST")), 1)

    def test_from_the_server_likewise(self):
        server, daemon = self.bridge("--handshake", "eager")
        server.streams(1)
        server.ask('{"jsonrpc":"2.0","id":"s","method":"notifications/cancelled","params":{"requestId":1}}')
        refused = json.loads(server.answers(wait=1)[0]["body"])
        self.assertEqual((refused["id"], refused["error"]["code"]), ("s", -32600))
        server.emit('{"jsonrpc":"2.0","method":"sampling/createMessage","params":{}}')
        daemon.metrics_when(lambda seen: seen.sum("mcp_bridge_malformed_messages_total") == 2, "two malformed messages")
        self.assertEqual(daemon.status()["ring"]["entries"], 0)


if __name__ == "__main__":
    main()
