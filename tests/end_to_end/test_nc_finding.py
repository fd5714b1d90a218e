"""What `mcp-nc` tells of a server: one tool in full, one line each of many, a search, and the server itself."""

import json
import os

from harness import Case, main
from harness.binaries import binary

MANY = [{"name": f"tool-{number}", "description": f"Does thing {number}.\nAnd more", "inputSchema": {
    "type": "object", "properties": {"a": {"type": "number"}}, "required": ["a"]}} for number in range(30)]
RICH = {"name": "rich", "title": "A rich one", "description": "Does much.", "annotations": {"readOnlyHint": True},
        "inputSchema": {"type": "object", "required": ["mode"], "properties": {
            "mode": {"enum": ["fast", "slow"], "description": "how"}, "quiet": {"type": "boolean", "default": False},
            "filter": {"type": "object", "properties": {"year": {"type": "integer", "description": "of birth"}}}}},
        "outputSchema": {"type": "object", "properties": {"total": {"type": "integer"}}}}


class Finding(Case):
    def setUp(self):
        super().setUp()
        self.server, self.daemon = self.bridge()

    def serve(self, tools):
        answer = '{"status":200,"body":{"jsonrpc":"2.0","id":$ID,"result":%s}}' % json.dumps({"tools": tools})
        self.server.fault(answer, method="tools/list", times=99)

    def test_one_tool_is_shown_whole_with_a_call_to_copy(self):
        self.serve([RICH])
        out, _ = self.run_nc("tools", "rich")
        for part in ("rich - A rich one", "Does much.", 'mode*: "fast"|"slow" - how', "quiet: boolean = false",
                     "        filter.year: integer - of birth", "total: integer", "readOnlyHint: true", f"{self.typed_nc} call rich mode=fast"):
            self.assertIn(part, out)
        self.assertEqual(json.loads(self.run_nc("tools", "rich", "--json")[0]), RICH)
        self.run_nc("call", "rich", "mode=fast", code=None)
        self.assertEqual(len(self.server.log("tools/list")), 1)

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
        error = '{"status":200,"body":{"jsonrpc":"2.0","id":$ID,"error":{"code":-32601,"message":"only as a task"}}}'
        self.server.fault(error, method="tools/call", times=2)
        self.assertIn("call --detach", self.run_nc("call", "echo", "message=x", code=1)[1])
        told = json.loads(self.run_nc("call", "echo", "message=x", "--json", code=1)[0])["error"]
        self.assertIn("call --detach", told["hint"])
        failed = '{"status":200,"body":{"jsonrpc":"2.0","id":$ID,"result":{"content":[],"isError":true}}}'
        self.server.fault(failed, method="tools/call", times=2)
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
        self.server.clear_faults()
        self.assertIn("echo message=<string>  - Answers the message\n", self.run_nc("tools", "--brief")[0])

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

    def test_the_server_is_shown(self):
        out, _ = self.run_nc("server")
        shown = json.loads(self.run_nc("server", "--json")[0])
        self.assertIn(shown["name"], out)
        self.assertEqual((shown["era"], shown["protocolVersion"]), ("legacy", "2025-11-25"))
        self.assertIn("tools", shown["capabilities"])
        self.assertIn("2025-11-25 (legacy)", out)

    def test_ping(self):
        self.assertRegex(self.run_nc("ping")[0], r"^\d+\.\d ms\n$")
        self.assertGreater(json.loads(self.run_nc("ping", "--json")[0])["ms"], 0)
        self.assertEqual(len(self.server.log("ping")), 2)

    def test_subscribe_and_unsubscribe_return_at_once(self):
        self.assertEqual(self.run_nc("subscribe", "demo://ticker", "demo://readme"), ("", ""))
        self.assertEqual([body["params"]["uri"] for body in self.server.bodies("resources/subscribe")],
                         ["demo://ticker", "demo://readme"])
        self.assertEqual(json.loads(self.run_nc("unsubscribe", "demo://ticker", "--json")[0]), {"uris": ["demo://ticker"]})
        self.assertEqual(self.server.bodies("resources/unsubscribe")[0]["params"]["uri"], "demo://ticker")

    def test_log_level(self):
        self.run_nc("log-level", "warning")
        self.assertEqual(self.server.bodies("logging/setLevel")[0]["params"], {"level": "warning"})
        self.assertIn("did you mean 'warning'?", self.run_nc("log-level", "warnin", code=2)[1])

    def test_complete(self):
        self.assertEqual(self.run_nc("complete", "prompt", "greet", "name", "A")[0], "Ada\nAlan\n")
        body = self.server.bodies("completion/complete")[0]
        self.assertEqual(body["params"], {"ref": {"type": "ref/prompt", "name": "greet"},
                                          "argument": {"name": "name", "value": "A"}})
        self.run_nc("complete", "resource", "demo://{x}", "x", "", "y=1", code=None)
        self.assertEqual(self.server.bodies("completion/complete")[1]["params"]["context"], {"arguments": {"y": "1"}})
        self.assertIn("values", self.run_nc("complete", "prompt", "greet", "name", "A", "--json")[0])
        self.run_nc("complete", "tool", "greet", "name", "A", code=2)

    def test_templates(self):
        answer = '{"status":200,"body":{"jsonrpc":"2.0","id":$ID,"result":{"resourceTemplates":[' \
                 '{"name":"one","uriTemplate":"demo://{id}"}]}}}'
        self.server.fault(answer, method="resources/templates/list", times=2)
        self.assertIn("demo://{id}", self.run_nc("templates")[0])
        self.assertEqual(self.run_nc("templates", "--names")[0], "demo://{id}\n")

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
