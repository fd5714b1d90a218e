"""What `mcp-nc` makes of a server's tools: the arguments of a call, lists, searches, and calls to copy."""

import json
import os

from harness import main, notification
from harness.binaries import binary
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
MANY = [{"name": f"tool-{number}", "description": f"Does thing {number}.\nAnd more", "inputSchema": {
    "type": "object", "properties": {"a": {"type": "number"}}, "required": ["a"]}} for number in range(30)]


class Tools(Gathering):
    def setUp(self):
        super().setUp()
        self.server, self.daemon = self.opened()

    def serve(self, tools):
        """Answers the lists of tools with these, from now on."""
        self.server.clear_faults()
        answer = '{"status":200,"body":{"jsonrpc":"2.0","id":$ID,"result":%s}}' % json.dumps({"tools": tools})
        self.server.fault(answer, method="tools/list", times=99)

    def fails(self, *methods):
        """The server has none of these methods."""
        for method in methods:
            self.server.fault('{"status":200,"body":{"jsonrpc":"2.0","id":$ID,"error":{"code":-32601,"message":"Method not found"}}}',
                              method=method, times=9)


class Arguments(Tools):
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
        self.fails("tools/list")
        self.assertEqual(self.sent("get-sum", "a=2")[0], {"a": "2"})

    def test_a_daemon_that_answers_no_control_method_is_done_without(self):
        self.daemon.stop()
        self.start_daemon(self.server, "--no-control")
        self.serve(TOOLS)
        self.assertEqual(self.sent("get-sum", "a=2", "b=40")[0], {"a": 2, "b": 40})


class Finding(Tools):
    def test_the_call_to_copy_works_whatever_the_tools_name_is(self):
        names = ["--weird", "-x", "two words", "it's", 'quo"te', "$HOME", "a;b", "=x", "@at", "{brace"]
        schema = {"type": "object", "required": ["a=b", "--c", "n", "point"], "properties": {
            "a=b": {"type": "number"}, "--c": {"type": "string"}, "n": {"type": "null"},
            "point": {"type": "array", "prefixItems": [{"type": "number"}, {"type": "string"}]}}}
        self.serve([{"name": name, "inputSchema": schema} for name in names])
        self.write("mcp-nc", f'#!/bin/bash\nexec "{binary("MCP_NC")}" "$@"\n', 0o700)
        path = {"PATH": self.folder + ":" + os.environ["PATH"]}
        for name in names:
            with self.subTest(name):
                page = self.run_nc("tools", "--", name)[0]
                typed = page.split("For example\n")[1].splitlines()[0].strip()
                self.server.forget_log()
                self.run_tool(["bash", "-c", typed], code=None, environment=path)
                params = self.server.bodies("tools/call")[0]["params"]
                self.assertEqual((params["name"], params["arguments"]),
                                 (name, {"a=b": 1, "--c": "text", "n": None, "point": [1, "text"]}))

    def test_a_tool_that_only_runs_as_a_task_says_how_to_call_it(self):
        self.serve([{"name": "echo", "inputSchema": {"type": "object"}, "execution": {"taskSupport": "required"}}])
        for answer in ('"error":{"code":-32601,"message":"only as a task"}', '"result":{"content":[],"isError":true}'):
            self.server.fault('{"status":200,"body":{"jsonrpc":"2.0","id":$ID,%s}}' % answer, method="tools/call", times=2)
            self.assertIn("call --detach", self.run_nc("call", "echo", "message=x", code=1)[1])
            told = json.loads(self.run_nc("call", "echo", "message=x", "--json", code=1)[0])["error"]
            self.assertIn("call --detach", told["hint"])
        self.assertEqual(self.run_nc("call", "echo", "message=x"), ("x\n", ""))

    def test_a_list_whose_cursor_repeats_ends_there_with_each_element_once(self):
        for verb, method, member, name in (("tools", "tools/list", "tools", "name"),
                                           ("prompts", "prompts/list", "prompts", "name"),
                                           ("templates", "resources/templates/list", "resourceTemplates", "uriTemplate"),
                                           ("resources", "resources/list", "resources", "uri")):
            with self.subTest(verb):
                elements = [{"name": f"n{number}", name: f"n{number}"} for number in range(8)]
                answer = json.dumps({member: elements, "nextCursor": "same"})
                self.server.fault('{"status":200,"body":{"jsonrpc":"2.0","id":$ID,"result":%s}}' % answer, method=method, times=9)
                before = len(self.server.log(method))
                out, err = self.run_nc(verb, "--json")
                self.assertEqual([one[name] for one in json.loads(out)[member]], [f"n{number}" for number in range(8)])
                self.assertEqual(err.count("repeats a cursor"), 1, err)
                self.assertEqual(len(self.server.log(method)) - before, 2)

    def test_an_empty_list_is_named_in_words(self):
        self.server.fault('{"status":200,"body":{"jsonrpc":"2.0","id":$ID,"result":{"resourceTemplates":[]}}}', method="resources/templates/list")
        self.assertIn("the server has no resource templates\n", self.run_nc("templates")[1])

    def test_many_tools_have_a_line_each(self):
        self.serve(MANY)
        lines = self.run_nc("tools")[0].splitlines()
        self.assertEqual(len(lines), 30)
        self.assertEqual(lines[0], "tool-0 a=<number>  - Does thing 0.")
        self.assertIn("And more", self.run_nc("tools", "--full")[0])

    def test_grep_looks_into_all_lists(self):
        out, _ = self.run_nc("grep", "TICKER")
        self.assertIn("tool ticker  - Makes the session emit", out)
        self.assertIn("resource demo://ticker", out)
        self.assertIn("prompt greet", self.run_nc("grep", "greet")[0])
        self.assertEqual(self.run_nc("grep", "adds", "numbers")[0], "tool add  - Adds two numbers\n")
        found = json.loads(self.run_nc("grep", "ticker", "--json")[0])
        self.assertEqual([tool["name"] for tool in found["tools"]], ["ticker"])
        self.assertEqual(found["prompts"], [])
        self.assertEqual(self.run_nc("grep", "no-such-thing", code=1), ("", ""))

    def test_grep_does_without_a_list_that_the_server_has_not(self):
        self.fails("resources/list", "prompts/list", "resources/templates/list")
        self.assertIn("tool add", self.run_nc("grep", "add")[0])

    def test_each_verb_asks_what_it_is_about(self):
        for words, method, params in (
                (["ping"], "ping", None), (["subscribe", "demo://ticker"], "resources/subscribe", {"uri": "demo://ticker"}),
                (["unsubscribe", "demo://ticker"], "resources/unsubscribe", {"uri": "demo://ticker"}),
                (["log-level", "warning"], "logging/setLevel", {"level": "warning"}),
                (["complete", "prompt", "greet", "name", "A"], "completion/complete",
                 {"ref": {"type": "ref/prompt", "name": "greet"}, "argument": {"name": "name", "value": "A"}}),
                (["complete", "resource", "demo://{x}", "x", "", "y=1"], "completion/complete",
                 {"ref": {"type": "ref/resource", "uri": "demo://{x}"}, "argument": {"name": "x", "value": ""},
                  "context": {"arguments": {"y": "1"}}}),
                (["templates"], "resources/templates/list", None)):
            with self.subTest(words):
                self.run_nc(*words, code=None)
                self.assertEqual(self.server.bodies(method)[-1].get("params"), params)
        self.assertEqual(self.run_nc("complete", "prompt", "greet", "name", "A")[0], "Ada\nAlan\n")
        self.assertIn("did you mean 'warning'?", self.run_nc("log-level", "warnin", code=2)[1])

    def test_they_take_no_notification(self):
        self.server.emit(notification("notifications/tools/list_changed"))
        self.untaken(1)
        for verb in (["tools", "echo"], ["grep", "echo"], ["server"], ["ping"], ["subscribe", "demo://readme"],
                     ["log-level", "info"], ["complete", "prompt", "greet", "name", "A"]):
            self.assertEqual(self.run_nc(*verb)[1], "", verb)
        self.untaken(1)


if __name__ == "__main__":
    main()
