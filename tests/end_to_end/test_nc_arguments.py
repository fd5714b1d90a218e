"""The arguments of `mcp-nc call`, made by the tool's input schema."""

import json

from harness import main, notification
from harness.gathering import Gathering

TOOLS = [
    {"name": "get-sum", "inputSchema": {"type": "object", "required": ["a", "b"], "properties": {
        "a": {"type": "number"}, "b": {"type": "number"}}}},
    {"name": "search", "inputSchema": {"type": "object", "required": ["query"], "properties": {
        "query": {"type": "string"}, "limit": {"anyOf": [{"$ref": "#/$defs/count"}, {"type": "null"}]},
        "mode": {"type": "string", "enum": ["fast", "slow"]}, "tags": {"type": "array", "items": {"type": "string"}},
        "filter": {"type": "object", "properties": {"year": {"type": ["integer", "null"]}}}},
        "$defs": {"count": {"type": "integer"}}}},
]


class Arguments(Gathering):
    def setUp(self):
        super().setUp()
        self.server, self.daemon = self.opened()

    def serve(self, tools):
        """Answers the lists of tools with these, from now on."""
        self.server.clear_faults()
        answer = '{"status":200,"body":{"jsonrpc":"2.0","id":$ID,"result":%s}}' % json.dumps({"tools": tools})
        self.server.fault(answer, method="tools/list", times=9)

    def sent(self, *words, **options):
        """The arguments that reach the server for these words, as bytes."""
        before = len(self.server.log("tools/call"))
        self.server.fault('{"status":200,"body":{"jsonrpc":"2.0","id":$ID,"result":{"content":[]}}}', method="tools/call")
        self.run_nc("call", *words, **options)
        calls = self.server.log("tools/call")
        self.assertEqual(len(calls), before + 1)
        return json.loads(calls[-1]["body"])["params"]["arguments"], calls[-1]["body"]

    def refused(self, *words, **options):
        before = len(self.server.log("tools/call"))
        out, err = self.run_nc("call", *words, code=2, **options)
        self.assertEqual(out, "")
        self.assertEqual(len(self.server.log("tools/call")), before, "it was sent")
        return err

    def test_values_become_what_the_schema_wants(self):
        self.serve(TOOLS)
        self.assertEqual(self.sent("get-sum", "a=2", "b=40")[0], {"a": 2, "b": 40})
        self.assertEqual(
            self.sent("search", "query=7", "limit=3", "mode=fast", "tags=a", "tags=b", "filter.year=1999")[0],
            {"query": "7", "limit": 3, "mode": "fast", "tags": ["a", "b"], "filter": {"year": 1999}})
        self.assertIn('"a":0.10', self.sent("get-sum", "a=0.10", "b=123456789012345678901234567890")[1])

    def test_the_list_is_asked_for_once_and_again_when_it_has_changed(self):
        self.serve(TOOLS)
        self.sent("get-sum", "a=2", "b=40")
        self.sent("get-sum", "a=2", "b=40")
        self.assertEqual(len(self.server.log("tools/list")), 1)
        self.serve([{"name": "get-sum", "inputSchema": {"properties": {"a": {"type": "string"}}}}])
        self.server.emit(notification("notifications/tools/list_changed"))
        self.newest(1)
        self.assertEqual(self.sent("get-sum", "a=2")[0], {"a": "2"})
        self.assertEqual(len(self.server.log("tools/list")), 2)

    def test_files_are_taken_unchanged_and_only_where_they_are_named(self):
        self.serve(TOOLS)
        text = self.write("text", "line 1\r\n{\"x\": 1}\n\n")
        value = self.write("value", '\n{"year": 1.0}\n')
        self.assertEqual(self.sent("search", f"query:@{text}", f"filter:=@{value}")[0],
                         {"query": "line 1\r\n{\"x\": 1}\n\n", "filter": {"year": 1.0}})
        self.assertEqual(self.sent("search", "query:@-", stdin="from stdin\n")[0], {"query": "from stdin\n"})
        self.assertEqual(self.sent("search", f"query=@{text}")[0], {"query": f"@{text}"})
        self.assertIn("no-such-file", self.refused("search", "query:@no-such-file"))
        self.assertIn("is not JSON", self.refused("search", "query=x", f"filter:=@{text}"))

    def test_what_is_wrong_is_said_with_the_signature_before_anything_is_sent(self):
        self.serve(TOOLS)
        err = self.refused("get-sum", "a=two", "c=1")
        for part in ("a=two: number expected, for example a=1", "unknown argument 'c'", "'b' is required",
                     f"usage: {self.typed_nc} call get-sum a=<number> b=<number>"):
            self.assertIn(part, err)

    def test_raw_sends_as_written_and_asks_for_no_list(self):
        self.assertEqual(self.sent("get-sum", "--raw", "a=2", "c.d=x")[0], {"a": "2", "c.d": "x"})
        self.assertEqual(self.server.log("tools/list"), [])

    def test_a_server_without_a_list_is_called_as_written(self):
        error = '{"status":200,"body":{"jsonrpc":"2.0","id":$ID,"error":{"code":-32601,"message":"Method not found"}}}'
        self.server.fault(error, method="tools/list", times=9)
        self.assertEqual(self.sent("get-sum", "a=2")[0], {"a": "2"})

    def test_a_daemon_that_answers_no_control_method_is_done_without(self):
        self.daemon.stop()
        self.start_daemon(self.server, "--no-control")
        self.serve(TOOLS)
        self.assertEqual(self.sent("get-sum", "a=2", "b=40")[0], {"a": 2, "b": 40})


if __name__ == "__main__":
    main()
