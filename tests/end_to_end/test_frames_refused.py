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

    def test_not_json(self):
        for line in ("{", "}", "hello", "{]", '{"a":1,}', "[1,2}", '{"a":1} {"b":2}', '{"a":01}', '{"a":1.}', '{"a":.5}',
                     '{"a":+1}', '{"a":tru}', "{'a':1}", '{"a":"\t"}', '{"a":"\\x"}', '{"a":"\\u12g4"}', '{"a" 1}',
                     '{"a":NaN}', '{"id":1,"method":"x"', "\ufeff" + '{"id":1', '{"a":1}//', "nul"):
            with self.subTest(line):
                self.refused(line, PARSE)

    def test_not_utf8(self):
        for text in (b"\xff", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf5\x80\x80\x80", b"\xe2\x82"):
            with self.subTest(text):
                self.refused(b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":"' + text + b'"}}', PARSE)

    def test_not_an_object(self):
        for line in ("1", '"x"', "null", "true", "1e400"):
            with self.subTest(line):
                self.refused(line, INVALID)

    def test_none_of_the_three_kinds(self):
        for line in ("{}", '{"jsonrpc":"2.0"}', '{"id":1}', '{"id":null,"method":"x"}', '{"id":true,"method":"x"}',
                     '{"id":[1],"method":"x"}', '{"id":{},"method":"x"}', '{"id":1,"method":5}', '{"method":null}',
                     '{"id":1,"result":{},"error":{"code":1,"message":""}}', '{"result":{}}',
                     '{"error":{"code":1,"message":""}}'):
            with self.subTest(line):
                self.refused(line, INVALID)

    def test_a_missing_jsonrpc_is_tolerated(self):
        client = self.client()
        client.send('{"id":1,"method":"ping"}')
        self.assertEqual(client.line()["result"], {})

    def test_nested_to_1024_levels_passes_and_beyond_is_an_error(self):
        client = self.client()
        # The frame and its params are two levels, the arguments the rest.
        for levels in (1000, 1021):
            client.send('{"id":1,"method":"x","params":{"a":' + "[" * levels + "]" * levels + "}}")
            self.assert_error(client.line(), -32601, 1)
        for levels in (1025, 5000, 200_000):
            with self.subTest(levels):
                self.refused('{"id":1,"method":"x","params":{"a":' + "[" * levels + "]" * levels + "}}", self.nested_code())
                self.refused("[" * levels, self.nested_code())
                self.refused('{"a":' * levels, self.nested_code())

    @staticmethod
    def nested_code():
        return (PARSE, INVALID)

    def assert_error(self, message, code, id=None, **how):
        if isinstance(code, tuple):
            self.assertIn(message["error"]["code"], code, message)
            code = message["error"]["code"]
        return super().assert_error(message, code, id, **how)

    def test_members_the_bridge_acts_on_may_not_stand_twice(self):
        for line in ('{"id":1,"id":2,"method":"x"}', '{"id":1,"\\u0069d":2,"method":"x"}',
                     '{"id":1,"method":"x","method":"y"}', '{"id":1,"method":"x","meth\\u006fd":"y"}',
                     '{"id":1,"method":"x","params":{},"params":{}}', '{"id":1,"result":1,"result":2}',
                     '{"id":1,"error":1,"\\u0065rror":2}',
                     '{"id":1,"method":"x","params":{"_meta":{},"_meta":{}}}',
                     '{"id":1,"method":"x","params":{"_meta":{},"\\u005fmeta":{}}}',
                     '{"id":1,"method":"x","params":{"_meta":{"progressToken":1,"progressToken":2}}}',
                     '{"id":1,"method":"x","params":{"_meta":{"progressToken":1,"progress\\u0054oken":2}}}',
                     '{"method":"notifications/cancelled","params":{"requestId":1,"requestId":2}}',
                     '{"method":"notifications/cancelled","params":{"requestId":1,"\\u0072equestId":2}}'):
            with self.subTest(line):
                self.refused(line, INVALID)
        self.assertEqual([body for body in self.server.bodies() if body.get("method") in ("x", "y", "notifications/cancelled")], [])

    def test_empty_lines_and_carriage_returns_are_no_frames(self):
        client = self.client()
        client.send_raw(b"\n\r\n\n" + call("echo", {"message": "hi"}, 1).encode() + b"\r\n\n")
        self.assertEqual(client.line()["id"], 1)
        self.assertEqual(client.fence(), [])

    def test_several_frames_in_one_write_and_one_frame_in_many(self):
        client = self.client()
        client.send(*[call("echo", {"message": str(n)}, n) for n in range(20)])
        self.assertEqual(sorted(message["id"] for message in client.lines(20)), list(range(20)))
        for byte in call("echo", {"message": "bytes"}, 99).encode() + b"\n":
            client.send_raw(bytes([byte]))
        self.assertEqual(client.line()["id"], 99)


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

    def test_an_empty_or_nested_batch_is_invalid(self):
        client = self.client()
        for line in ("[]", "[ ]"):
            client.send(line)
            self.assert_error(client.line(), INVALID)
        client.send("[[]]")
        self.assert_error(client.line(), INVALID)
        client.send('[[{"id":1,"method":"ping"}]]')
        self.assert_error(client.line(), INVALID)
        self.assertEqual(client.fence(), [])

    def test_what_is_none_in_a_batch_gets_its_own_error_and_the_rest_its_answers(self):
        client = self.client()
        client.send('[1,{"id":1,"method":"ping"},{"id":null,"method":"x"},{"id":2,"method":"ping"}]')
        answers = client.lines(4)
        self.assertEqual(sorted(json.dumps(message["id"]) for message in answers), ["1", "2", "null", "null"])
        self.assertEqual([message["error"]["code"] for message in answers if message["id"] is None], [INVALID] * 2)

    def test_a_batch_that_is_no_json_is_one_parse_error(self):
        client = self.client()
        client.send('[{"id":1,"method":"ping"},')
        self.assert_error(client.line(), PARSE)
        self.assertEqual(client.fence(), [])

    def test_a_large_batch(self):
        client = self.client()
        client.send("[" + ",".join('{"id":%d,"method":"ping"}' % n for n in range(500)) + "]")
        self.assertEqual(sorted(message["id"] for message in client.lines(500)), list(range(500)))


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

    def test_the_limit_does_not_depend_on_the_chunks(self):
        for size in (1, 7, 100, 4095, 4096, 4097, 100_000):
            with self.subTest(size):
                client = self.client()
                self.send_in_parts(client, self.line_of(self.LIMIT) + b"\n", size)
                self.assertEqual(client.line()["id"], 1)
                self.send_in_parts(client, self.line_of(self.LIMIT + 1) + b"\n", size)
                error = self.assert_error(client.line(), INVALID)
                self.assertRegex(error["message"], "4096|4 ?Ki?B?")
                self.assertEqual(client.fence(), [])

    def test_the_rest_of_the_line_is_discarded_and_the_next_one_read(self):
        client = self.client()
        self.send_in_parts(client, self.line_of(50_000) + b"\n" + b'{"id":5,"method":"ping"}\n', 1000)
        self.assert_error(client.line(), INVALID)
        self.assertEqual(client.line()["id"], 5)

    def test_it_is_said_once_and_before_the_line_ends(self):
        client = self.client()
        client.send_raw(b"x" * 10_000)
        self.assert_error(client.line(), INVALID)
        client.send_raw(b"x" * 10_000 + b'\n{"id":5,"method":"ping"}\n')
        self.assertEqual(client.line()["id"], 5)

    def test_an_unterminated_long_line_at_a_half_close(self):
        client = self.client()
        client.send_raw(b"x" * 10_000)
        client.half_close()
        self.assert_error(client.line(), INVALID)
        client.expect_closed()

    def test_a_carriage_return_is_not_counted_as_the_frame(self):
        client = self.client()
        client.send_raw(self.line_of(self.LIMIT) + b"\r\n")
        self.assertEqual(client.line()["id"], 1)


class DefaultLimit(Case):
    def test_eight_mebibytes_pass_and_one_byte_more_does_not(self):
        self.bridge()
        client = self.client()
        frame = '{"id":1,"method":"tools/call","params":{"name":"echo","arguments":{"message":"%s"}}}'
        full = (frame % ("x" * ((8 << 20) - len(frame) + 2)))
        client.send(full.replace("xx", "xxx", 1))
        self.assert_error(client.line(), INVALID)
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
