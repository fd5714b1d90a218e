"""The scripted peers of the modern era find each breach of its rules. (test_era_sdk compares them with the real SDKs.)"""

import json

from harness import Case, main, text_of
from harness.face import Face
from harness.modern_client import ModernFace
from harness.modern_upstream import ModernUpstream

CAPABLE = {"elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {}}


class Peers(Case):
    def setUp(self):
        super().setUp()
        self.servers = []

    def server(self, *arguments, **how):
        self.servers.append(ModernUpstream(*arguments, **how))
        return self.servers[-1]

    def over_http(self, server):
        return ModernFace(Face(server.url.removesuffix("/mcp")))

    def tearDown(self):
        for server in self.servers:
            server.stop()
        super().tearDown()


class Rules(Peers):
    """Each breach is found, and nothing else."""

    def test_mirrored_parameters(self):
        server = self.server()
        client = self.over_http(server)
        arguments = {"region": " ü ", "count": 42, "deep": {"flag": True}, "note": "x"}
        self.assertEqual(client.call_tool("regional", arguments)["error"]["code"], -32020)
        server.assert_clean()  # it was not told of them
        server.page = 9
        client.ask("tools/list")
        self.assertEqual(json.loads(text_of(client.call_tool("regional", arguments))), arguments)
        self.assertIn("result", client.call_tool("regional", {"region": None, "note": "y"}))
        server.assert_clean()
        client.tools = {}
        client.call_tool("regional", arguments)
        self.assertEqual(len(server.violations), 1)

    def breaks(self, expected, method="tools/list", params=None, headers=None, drop=(), change=None):
        server = self.server()
        client = self.over_http(server)
        message = client.made(method, params or {})
        if change:
            change(message)
        sent = {**client.headers(message), **(headers or {})} if "method" in message else dict(headers or {})
        source = client.post(message, {name: value for name, value in sent.items() if name not in drop})
        source.response.read()
        source.close()
        self.assertTrue(server.violations and all(expected in one for one in server.violations), (expected, server.violations))
        return source.status

    def test_what_a_client_must_not_send_is_found(self):
        meta = lambda key: lambda message: message["params"]["_meta"].pop("io.modelcontextprotocol/" + key)
        for expected, how in (
                ("MCP-Protocol-Version", {"drop": ["MCP-Protocol-Version"]}),
                ("Mcp-Method", {"drop": ["Mcp-Method"]}),
                ("Mcp-Method", {"headers": {"Mcp-Method": "Tools/List"}}),
                ("Mcp-Name", {"method": "tools/call", "params": {"name": "echo"}, "drop": ["Mcp-Name"]}),
                ("Mcp-Name", {"method": "resources/read", "params": {"uri": "demo://one"}, "headers": {"Mcp-Name": "demo://two"}}),
                ("Mcp-Name", {"headers": {"Mcp-Name": "x"}}),
                ("no Base64", {"method": "tools/call", "params": {"name": "echo"}, "headers": {"Mcp-Name": "=?base64?***?="}}),
                ("should be", {"method": "tools/call", "params": {"name": "echo"}, "headers": {"Mcp-Param-Region": "x"}}),
                ("mcp-session-id", {"headers": {"Mcp-Session-Id": "x"}}),
                ("last-event-id", {"headers": {"Last-Event-ID": "1"}}),
                ("clientCapabilities", {"change": meta("clientCapabilities")}),
                ("no id", {"change": lambda message: message.update(id=True)}),
                ("not in this revision", {"method": "ping"}),
                ("not in this revision", {"method": "logging/setLevel"}),
                ("responses", {"change": lambda message: (message.pop("method"), message.update(result={}))}),
                ("no notification", {"method": "notifications/cancelled", "change": lambda message: message.pop("id")}),
                ("never given", {"method": "tools/call", "params": {"name": "echo", "requestState": "x"}})):
            with self.subTest(expected, **{key: str(value)[:60] for key, value in how.items()}):
                self.breaks(expected, **how)

    def test_other_verbs_are_found(self):
        server = self.server()
        for verb in ("GET", "DELETE"):
            self.assertEqual(Face(server.url.removesuffix("/mcp")).request(verb, "/mcp").status, 405)
        self.assertEqual(len(server.violations), 2)

    def test_a_changed_state_and_an_old_id_are_found(self):
        server = self.server()
        client = self.over_http(server)
        message = client.made("tools/call", {"name": "ask", "arguments": {}}, capabilities=CAPABLE)
        response = client.exchange(message)
        client.retry(message, response, capabilities=CAPABLE, id=message["id"])
        self.assertIn("has the id of the request", server.violations[0])
        response["result"]["requestState"] += " "
        client.retry(message, response, capabilities=CAPABLE)
        self.assertIn("never given", server.violations[1])


if __name__ == "__main__":
    main()
