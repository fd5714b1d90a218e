"""What `mcp-nc` tells of a server: one tool in full, one line each of many, a search, and the server itself."""

import json
import os

from harness import Case, main
from harness.binaries import binary

MANY = [{"name": f"tool-{number}", "description": f"Does thing {number}.\nAnd more", "inputSchema": {
    "type": "object", "properties": {"a": {"type": "number"}}, "required": ["a"]}} for number in range(30)]


class Finding(Case):
    def setUp(self):
        super().setUp()
        self.server, self.daemon = self.bridge()

    def serve(self, tools):
        answer = '{"status":200,"body":{"jsonrpc":"2.0","id":$ID,"result":%s}}' % json.dumps({"tools": tools})
        self.server.fault(answer, method="tools/list", times=99)

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
        error = '{"status":200,"body":{"jsonrpc":"2.0","id":$ID,"error":{"code":-32601,"message":"Method not found"}}}'
        for method in ("resources/list", "prompts/list", "resources/templates/list"):
            self.server.fault(error, method=method)
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
        self.run_nc("request", "ping")
        self.server.emit({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
        self.untaken(1)
        for verb in (["tools", "echo"], ["grep", "echo"], ["server"], ["ping"], ["subscribe", "demo://readme"],
                     ["log-level", "info"], ["complete", "prompt", "greet", "name", "A"]):
            self.assertEqual(self.run_nc(*verb)[1], "", verb)
        self.untaken(1)


if __name__ == "__main__":
    main()
