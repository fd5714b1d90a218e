"""A frame's bytes go through as they came: only ids and tokens are replaced, in place (BEHAVIOUR, "Framing: bytes are
forwarded as they came")."""

import re

from harness import Case, main, text_of
from harness.scripted_server import ScriptedServer

# What a parser and a printer in between would change.
PECULIAR = {
    "numbers": '{"a":1e400,"b":0.10,"c":-0,"d":1E+2,"e":123456789012345678901234567890,"f":1.0}',
    "escapes": r'{"a":"\u0041\/\b\f\n\r\t\"\\","b":"\ud83d\ude00","c":"\u0000","\u0064":"é😀"}',
    "key order": '{"z":1,"a":2,"m":{"y":1,"b":2}}',
    "white space": '{ "a" :\t1 , "b" : [ 1 , 2 ] }',
    "duplicate keys": '{"a":1,"a":2,"b":{"c":1,"c":2}}',
    "empty": '{"":{},"a":[],"b":""}',
    "lookalikes": '{"id":7,"method":"x","result":{"id":1,"id":2},"error":null,"jsonrpc":"1.0","requestId":9,'
                  '"progressToken":"t","cancelled":{"requestId":3}}',
    "1000 levels": "[" * 1000 + "]" * 1000,
}

IDS = ["0", '""', "-1", "1.5", r'"a\"b"', "123456789012345678901234567890", '"\\u0041"', "1e3", "-0", '"0"', '"é"',
       '"' + "i" * 500 + '"']


class ToTheUpstream(Case):
    def arrives(self, server, client, template, id):
        """`%s` in the template is the client's id, and upstream the bridge's; all else is the same."""
        server.fault('{"status":200,"body":"{\\"jsonrpc\\":\\"2.0\\",\\"id\\":$ID,\\"result\\":{}}"}')
        last = server.log()[-1]["n"]
        client.send(template.replace("%s", id))
        client.raw_line()
        body = server.log(since=last, wait=1)[0]["body"]
        before, after = template.strip(" \t").split("%s")
        self.assertRegex(body.strip(" \t"), "^" + re.escape(before) + "[0-9]+" + re.escape(after) + "$")

    def test_params_arrive_as_they_were_written(self):
        server, _ = self.bridge()
        client = self.client()
        client.fence()
        for name, value in PECULIAR.items():
            with self.subTest(name):
                line = '{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"mirror","arguments":' + value + "}}"
                self.arrives(server, client, line, '"mine"')

    def test_unknown_members_and_odd_layouts_arrive_as_they_were_written(self):
        server, _ = self.bridge()
        client = self.client()
        client.fence()
        for line in ('{"extra":[1,{"id":5}],"method":"x/y","params":{"a":1},"id":%s,"jsonrpc":"2.0","more":1e400}',
                     ' \t{ "id" : %s , "method" : "x/y" } ',
                     '{"method":"x\\/y","id":%s}',
                     '{"jsonrpc":"2.0","\\u0069d":%s,"method":"x/y","params":{}}',
                     '{"jsonrpc":"2.0","id":%s,"method":"x/y","params":[1,2]}',
                     '{"jsonrpc":"2.0","id":%s,"method":"x/y","params":null}'):
            with self.subTest(line):
                self.arrives(server, client, line, "17")

    def test_large_ones_are_sent_at_once_too(self):
        server = ScriptedServer()
        self.addCleanup(server.close)
        self.start_daemon(server)
        client = self.client()
        for size in (10, 64 << 10, 1 << 20, 3 << 20):
            with self.subTest(size):
                self.assertEqual(text_of(client.call("echo", {"message": "x" * size})), "done")
                asked = server.requests("tools/call")[-1]
                self.assertEqual(asked.message["params"]["arguments"]["message"], "x" * size)
                # A server that were asked whether it wants the body would have to answer first.
                self.assertNotIn("expect", asked.headers)
                self.assertEqual(asked.headers["accept"], "application/json, text/event-stream")
                self.assertEqual(asked.headers["content-type"], "application/json")
                self.assertGreater(int(asked.headers["content-length"]), size)

    def test_a_notification_arrives_as_it_was_written(self):
        server, _ = self.bridge()
        client = self.client()
        client.fence()
        line = '{ "method":"notifications/roots/list_changed", "x":1e400, "params":{"a":0.10,"a":1} , "jsonrpc":"2.0"}'
        client.send(line)
        self.assertEqual(server.log("notifications/roots/list_changed", wait=1)[0]["body"], line)

    def test_a_progress_token_is_replaced_in_place_and_nothing_else(self):
        server, _ = self.bridge()
        client = self.client()
        client.fence()
        line = ('{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"_meta":{"x":1e400,"progressToken":%s,'
                '"traceparent":"00-1"},"name":"mirror","arguments":{"progressToken":"t"}}}')
        client.send(line % ("3", '"t"'))
        client.raw_line()
        body = server.log("tools/call")[-1]["body"]
        pattern = re.escape(line).replace("%s", "%s") % ("([0-9]+)", '("[^"]*"|[0-9]+)')
        self.assertRegex(body, "^" + pattern + "$")
        self.assertNotIn('"progressToken":"t",', body)


class ToTheClient(Case):
    def answered(self, server, client, body, id="1", sse=False):
        """The line the client gets for an upstream answer of these bytes ($ID in it is the request's)."""
        if sse:
            action = {"sse": [{"raw": "data: " + body + "\n\n"}]}
        else:
            action = {"status": 200, "body": body}
        server.fault(action, method="tools/call")
        client.send('{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"echo"}}' % id)
        return client.raw_line().decode()

    def test_results_arrive_as_they_were_written(self):
        server, _ = self.bridge()
        client = self.client()
        for sse in (False, True):
            for name, value in PECULIAR.items():
                with self.subTest(name, sse=sse):
                    body = '{"jsonrpc":"2.0","id":%s,"result":{"content":[],"x":' + value + "}}"
                    self.assertEqual(self.answered(server, client, body % "$ID", "42", sse), body % "42")

    def test_every_id_comes_back_byte_for_byte(self):
        self.bridge()
        client = self.client()
        for id in IDS:
            with self.subTest(id):
                client.send('{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"mirror","arguments":{"a":1}}}' % id)
                line = client.raw_line().decode()
                self.assertIn('"id":%s' % id, line)
                self.assertIn('"structuredContent":{"a":1}', line)

    def test_a_session_notification_arrives_as_it_was_written(self):
        server, _ = self.bridge()
        client = self.client()
        client.fence()
        message = '{"method":"notifications/message", "params":{"data":[1e400,0.10,"\\u0041"],"level":"info","a":1,"a":2},"x":{},"jsonrpc":"2.0"}'
        server.emit(message)
        self.assertEqual(client.raw_line().decode(), message)

    def test_a_request_of_the_server_arrives_as_it_was_written_but_for_its_id(self):
        server, _ = self.bridge()
        client = self.client()
        client.call("echo", {"message": "x"})
        message = '{"params":{"messages":[],"maxTokens":1e400,"b":0.10} , "method":"sampling/createMessage","id":%s,"jsonrpc":"2.0"}'
        # The session was opened by the bridge, with no capabilities: declare them first.
        client.send('{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"sampling":{}},"clientInfo":{"name":"x","version":"1"}}}')
        client.answer("i")
        client.send('{"jsonrpc":"2.0","method":"notifications/initialized"}')
        client.fence()
        server.ask(message % '"srv-7"')
        line = client.raw_line().decode()
        id = line.split('"id":')[1].rsplit(',"jsonrpc"', 1)[0]
        self.assertEqual(line, message % id)
        reply = '{"result":{"model":"m","x":1e400,"x":0.10},"id":%s, "jsonrpc":"2.0"}'
        client.send(reply % id)
        self.assertEqual(server.answers(wait=1)[0]["body"], reply % '"srv-7"')


if __name__ == "__main__":
    main()
