"""The scripted peers of both eras, held against each other: what they judge by is right, before a bridge stands between."""

import json

from harness import Case, Client, eventually, initialize, main, notification, request, text_of
from harness.eras import with_each
from harness.face import Face
from harness.modern_client import ModernClient, ModernFace
from harness.modern_protocol import SUBSCRIPTION_ID, TASKS, VERSION
from harness.modern_tools import RIGHT, WRONG
from harness.modern_upstream import PROBES, ModernUpstream

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

    def on_lines(self, server):
        client = ModernClient(server.folder + "/s")
        self.clients.append(client)
        return client

    def tearDown(self):
        for server in self.servers:
            server.stop()
        super().tearDown()


class Modern(Peers):
    def both(self):
        """A server and a client of it for each carrier; both are judged at the test's end."""
        def makes(carrier):
            server = self.server()
            client = carrier(server)
            self.addCleanup(server.assert_clean)
            self.addCleanup(client.assert_clean)
            return server, client

        yield "HTTP", lambda: makes(self.over_http)
        yield "lines", lambda: makes(self.on_lines)

    @with_each("both")
    def test_discovery_lists_and_calls(self, _, client):
        self.assertIn(VERSION, client.ask("server/discover")["result"]["supportedVersions"])
        tools, cursor = [], {}
        while cursor is not None:
            result = client.ask("tools/list", cursor)["result"]
            tools += [tool["name"] for tool in result["tools"]]
            cursor = {"cursor": result["nextCursor"]} if "nextCursor" in result else None
        self.assertEqual(tools, RIGHT + WRONG)
        self.assertEqual(getattr(client, "rejected", WRONG), WRONG)
        self.assertEqual(text_of(client.call_tool("echo", {"message": "é \U0001F600"})), "é \U0001F600")
        self.assertIn("result", client.ask("resources/read", {"uri": "demo://zwei ü"}))
        self.assertIn("result", client.ask("prompts/get", {"name": "greet", "arguments": {"whom": "you"}}))
        self.assertEqual(client.ask("no/method")["error"]["code"], -32601)
        self.assertEqual(client.ask("resources/read", {"uri": "no"})["error"]["code"], -32602)

    @with_each("both")
    def test_progress_and_log_messages_as_asked(self, _, client):
        client.call_tool("slow", {"steps": 3}, token="t", log_level="info")
        self.assertEqual([one["method"].rpartition("/")[2] for one in client.others], ["progress", "message"] * 3)
        client.others = []
        client.call_tool("slow", {"steps": 3})
        self.assertEqual(client.others, [])

    @with_each("both")
    def test_rounds_of_questions(self, server, client):
        for arguments, asked in (({"kinds": ["elicitation"]}, 1), ({"kinds": ["elicitation", "url", "sampling", "roots"]}, 1),
                                 ({"kinds": ["sampling"], "rounds": 3}, 3), ({"kinds": ["roots"], "state": False}, 1)):
            response, times = client.with_answers("ask", arguments, CAPABLE)
            self.assertEqual(times, asked)
            self.assertEqual(len(json.loads(text_of(response))["answers"]), asked)
        self.assertEqual(client.call_tool("ask", {"kinds": ["sampling"]})["error"]["code"], -32021)
        self.assertEqual(server.refused, [("tools/call", -32021)])

    @with_each("both")
    def test_listens_and_their_ends(self, server, client):
        listen = client.listen(toolsListChanged=True, resourceSubscriptions=["demo://one"])
        server.wait_listens(1)
        self.assertEqual(server.emit("notifications/prompts/list_changed"), 0)
        self.assertEqual(server.emit("notifications/resources/updated", {"uri": "demo://one"}), 1)
        self.assertEqual(listen.next()["params"]["_meta"][SUBSCRIPTION_ID], listen.id)
        server.end_listens("graceful")
        self.assertEqual(listen.wait_end(), "graceful")
        other = client.listen(promptsListChanged=True)
        server.wait_listens(1)
        other.close()
        server.wait_listens(0)

    def test_a_cancelled_call_is_noticed(self):
        server = self.server()
        source = self.over_http(server).begin("tools/call", {"name": "hold", "arguments": {"key": "a"}})
        server.wait_held("a")
        source.close()
        server.wait_cancelled("tools/call")
        client = self.on_lines(server)
        id = client.begin("tools/call", {"name": "hold", "arguments": {"key": "b"}})
        server.wait_held("b")
        client.cancel(id)
        server.wait_cancelled("tools/call", 2)
        server.assert_clean()

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

    @with_each("both")
    def test_tasks_and_events(self, server, client):
        capable = {"extensions": {TASKS: {}}}
        created = client.call_tool("task", capabilities=capable)["result"]
        self.assertEqual(created["resultType"], "task")
        listen = client.listen(capabilities=capable, taskIds=[created["taskId"]])
        server.wait_listens(1)
        server.complete_task(created["taskId"])
        self.assertEqual(listen.next()["params"]["status"], "completed")
        listen.close()
        self.assertEqual(client.ask("tasks/get", {"taskId": created["taskId"]}, capabilities=capable)["result"]["status"], "completed")
        self.assertEqual(text_of(client.call_tool("task")), "done at once")
        server.happen({"n": 1})
        stream = client.stream_events("deploy", cursor="c0")
        self.assertEqual([stream.next()["method"] for _ in range(2)], ["notifications/events/active", "notifications/events/event"])
        stream.close()
        server.events.oldest = 1
        self.assertTrue(client.ask("events/poll", {"name": "deploy", "cursor": "c0"})["result"]["truncated"])
        server.events.oldest = 0


class Rules(Peers):
    """Each breach is found, and nothing else."""

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


class Probes(Peers):
    def test_each_answer_is_given_once(self):
        server = self.server("legacy")
        for name, answer in PROBES.items():
            with self.subTest(name):
                server.probe(name)
                client = self.over_http(server)
                connection = client.face.connect()
                message = client.made("server/discover")
                head = "".join(f"{key}: {value}\r\n" for key, value in client.headers(message).items())
                body = json.dumps(message).encode()
                connection.sendall(f"POST /mcp HTTP/1.1\r\n{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
                if answer.get("silent"):
                    eventually(lambda: not server.faults, "the probe")
                    connection.settimeout(0.05)
                    self.assertRaises(TimeoutError, connection.recv, 1)
                elif answer.get("close"):
                    self.assertEqual(connection.recv(1), b"")
                else:
                    self.assertIn(f"HTTP/1.1 {answer.get('status', 200)} ", connection.recv(4096).decode())
                connection.close()
                self.assertEqual(server.faults, [])
        self.assertEqual(self.over_http(server).ask("server/discover")["error"]["code"], -32601)


class Legacy(Peers):
    def test_one_that_only_knows_sessions(self):
        server = self.server("legacy")
        face = Face(server.url.removesuffix("/mcp"))
        self.assertEqual(face.ask("server/discover").json()["error"]["code"], -32601)
        session = face.session(capabilities=CAPABLE)
        self.assertEqual(text_of(face.call("echo", {"message": "x"}, session=session).json()), "x")
        stream = face.stream(session)
        eventually(lambda: server.emit("notifications/tools/list_changed"), "the stream")
        self.assertEqual(stream.message()["method"], "notifications/tools/list_changed")
        asking = face.post_stream({"jsonrpc": "2.0", "id": 5, "method": "tools/call",
                                   "params": {"name": "ask", "arguments": {"kinds": ["roots"]}}}, session)
        question = asking.message()
        self.assertEqual(question["method"], "roots/list")
        self.assertEqual(face.post({"jsonrpc": "2.0", "id": question["id"], "result": {"roots": []}}, session).status, 202)
        self.assertEqual(json.loads(text_of(asking.message())), {"answers": [{"roots": {"roots": []}}]})
        server.forget_sessions()
        self.assertEqual(face.call("echo", session=session).status, 404)
        face.close()

    def test_one_of_both_eras_serves_both_at_one_address(self):
        server = self.server("dual")
        face = Face(server.url.removesuffix("/mcp"))
        session = face.session()
        self.assertIn("result", face.call("echo", {"message": "x"}, session=session).json())
        modern = ModernFace(face)
        self.assertIn("2025-11-25", modern.ask("server/discover")["result"]["supportedVersions"])
        modern.assert_clean()
        server.assert_clean()

    def test_on_lines(self):
        server = self.server("legacy")
        client = Client(server.folder + "/s")
        self.clients.append(client)
        client.send(initialize(0, CAPABLE))
        client.answer(0)
        client.send(notification("notifications/initialized"), request("resources/subscribe", {"uri": "demo://one"}, 2))
        client.answer(2)
        self.assertEqual(server.emit("notifications/resources/updated", {"uri": "demo://one"}), 1)
        self.assertEqual(client.line()["params"]["uri"], "demo://one")

    def test_an_upgraded_one_refuses_what_it_spoke_before(self):
        server = self.server("legacy")
        face = Face(server.url.removesuffix("/mcp"))
        session = face.session()
        server.becomes("modern")
        refused = face.call("echo", session=session)
        self.assertEqual((refused.status, refused.json()["error"]["code"]), (400, -32022))
        server.assert_clean()
        face.close()


class Relay(Peers):
    def test_a_child_leads_into_the_same_server(self):
        server = self.server()
        child = self.run_process("relay", server.command, stdin=-1)
        client = self.over_http(server)
        message = client.made("server/discover")
        child.stdin.write(json.dumps(message).encode() + b"\n")
        child.stdin.flush()
        self.assertIn('"supportedVersions"', child.stdout_line())
        server.restart()
        self.assertEqual(child.wait(), 0)
        self.assertEqual(server.starts, 1)


if __name__ == "__main__":
    main()
