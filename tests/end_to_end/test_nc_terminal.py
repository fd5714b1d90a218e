"""mcp-nc on a terminal: the progress bar, questions, and nothing raw from the server."""

import json
import os
import re
import signal
import socket
import termios
import threading

from harness import Case, main
from harness.binaries import binary
from harness.frames import notification
from harness.terminal import Terminal

EVIL = "\u202egnp\u2066\U000e0041\u2028\u200b\x1b]0;title\x07\x1b[2J\x1b[31mred\x9b31m\x00\x08\x7f end"


class OnATerminal(Case):
    def setUp(self):
        super().setUp()
        self.server, self.daemon = self.bridge("--client-capabilities", '{"elicitation":{}}')

    def nothing_raw(self, shown):
        """Only what mcp-nc itself may use to draw: no title, no clearing of the screen by the server, no C1, no BEL."""
        text = shown.decode(errors="replace")
        for sign in ("\x1b]", "\x07", "\x1b[31m", "\x9b", "\x00", "\x08", "\x7f", "\u202e", "\u2066", "\U000e0041", "\u2028",
                     "\u200b"):
            self.assertNotIn(sign, text, repr(text))

    def test_without_one_it_says_how_a_question_can_be_answered(self):
        out, told = self.run_nc("--json", "call", "ask", "question=Which colour?", code=1)
        self.assertIn("mcp-nc: the server asked a question, but there is no terminal to answer at: Which colour?\nmcp-nc: to answer it, type: mcp-nc ", told)
        self.assertRegex(told, r"mcp-nc .*call --detach ask 'question=Which colour\?', then: mcp-nc .*answer JOB key=value\n")
        self.assertRegex(json.loads(out)["error"]["hint"], "mcp-nc .*call --detach")

    def test_progress_is_a_bar_on_stderr(self):
        terminal = self.terminal("call", "slow", "steps:=4", "delayMs:=150", stdout_apart=True)
        terminal.expect(r"[1-3].*4|[257][05] ?%")
        self.assertEqual(terminal.wait(), 0)
        self.assertEqual(terminal.popen.stdout.read(), b"done after 4 steps\n")

    def test_it_asks_at_the_terminal(self):
        terminal = self.terminal("call", "ask", "question=How are you?", stdout_apart=True)
        terminal.expect("How are you\\?")
        self.server.log("tools/call", wait=1)
        terminal.type("fine\n")
        self.assertEqual(terminal.wait(), 0)
        answered = json.loads(self.server.answers(wait=1)[0]["body"])
        self.assertEqual(answered["result"]["action"], "accept")
        self.assertIn("fine", json.dumps(answered))

    def test_an_interrupt_at_the_question_cancels(self):
        terminal = self.terminal("call", "ask", "question=Well?")
        terminal.expect("Well\\?").type("\x03")
        terminal.wait()
        self.server.state(activeCalls=0)
        answers = [json.loads(entry["body"]) for entry in self.server.answers()]
        self.assertFalse(any(answer.get("result", {}).get("action") == "accept" for answer in answers))

    def test_the_terminal_is_left_as_it_was(self):
        terminal = self.terminal("call", "ask", "question=Well?")
        before = termios.tcgetattr(terminal.master)
        terminal.expect("Well\\?")
        terminal.popen.send_signal(signal.SIGTERM)
        terminal.wait()
        self.assertEqual(termios.tcgetattr(terminal.master), before)
        self.assertTrue(os.get_blocking(terminal.master))

    def test_text_of_the_server_has_no_raw_control_characters(self):
        terminal = self.terminal("call", "echo", json.dumps({"message": EVIL + "\nsecond line"}))
        self.assertEqual(terminal.wait(), 0)
        self.nothing_raw(terminal.shown)
        self.assertIn(b"red", terminal.shown)
        self.assertIn(b"\nsecond line", terminal.shown.replace(b"\r", b""))
        # Into a pipe it goes as it is.
        self.assertEqual(self.run_nc("call", "echo", json.dumps({"message": "\x1b[31mred"}))[0], "\x1b[31mred\n")

    def test_nor_have_errors_names_questions_and_notifications(self):
        evil = json.dumps(EVIL)
        tool = '{"name":%s,"description":%s,"inputSchema":{"type":"object","properties":{%s:{"type":"string","description":%s}}}}' % ((evil,) * 4)
        for method, result, command in (
                ("tools/call", '"error":{"code":-1,"message":%s}' % evil, ["call", "echo", "message=x"]),
                ("tools/list", '"result":{"tools":[%s]}' % tool, ["tools"]),
                ("resources/list", '"result":{"resources":[{"uri":%s,"name":%s,"description":%s}]}' % ((evil,) * 3), ["resources"]),
                ("prompts/list", '"result":{"prompts":[{"name":%s,"description":%s}]}' % ((evil,) * 2), ["prompts"]),
                ("resources/read", '"result":{"contents":[{"uri":%s,"text":%s}]}' % ((evil,) * 2), ["read", "demo://x"])):
            with self.subTest(method):
                self.server.fault('{"status":200,"body":{"jsonrpc":"2.0","id":$ID,%s}}' % result, method=method)
                terminal = self.terminal(*command)
                terminal.wait()
                self.nothing_raw(terminal.shown)
                self.assertIn(b"end", terminal.shown)
        terminal = self.terminal("call", "ask", json.dumps({"question": EVIL}))
        terminal.expect("end")
        self.nothing_raw(terminal.shown)
        terminal.type("\x03").wait()
        self.server.emit('{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":%s}}' % evil)
        self.untaken(1)
        terminal = self.terminal("call", "echo", "message=x", stdout_apart=True)
        terminal.wait()
        self.nothing_raw(terminal.shown)
        self.assertIn(b"mcp-nc: server log, info: ", terminal.shown)
        self.assertEqual(terminal.popen.stdout.read(), b"x\n")

    def test_without_a_command_it_says_what_it_is(self):
        terminal = self.terminal()
        terminal.expect("copies JSON-RPC messages.*\\^D ends it.*mcp-nc .* server shows.*mcp-nc --help")
        terminal.type("\x04")
        self.assertEqual(terminal.wait(), 0)

    def test_an_interrupted_call_says_what_became_of_it(self):
        terminal = self.terminal("call", "slow", "steps=100", "delayMs=100")
        terminal.expect("[0-9]%|of 100")
        terminal.type("\x03")
        self.assertEqual(terminal.wait(), 130)
        self.assertIn(b"mcp-nc: interrupted; the server was told to stop\r\n", terminal.shown)
        self.server_away()
        terminal = self.terminal("-w", "20s", "call", "echo", "message=x")
        terminal.expect("\\^C to stop")
        terminal.type("\x03")
        self.assertEqual(terminal.wait(), 130)
        self.assertRegex(terminal.shown, b"interrupted; the server did not get the request: cannot reach http")

    def test_a_time_limit_while_the_server_is_away_is_not_a_timeout_of_the_server(self):
        self.server_away()
        out, told = self.run_nc("--json", "-w", "600ms", "call", "echo", "message=x", code=4)
        self.assertEqual(json.loads(out)["error"]["kind"], "connect", told)

    def test_json_is_laid_out_at_a_terminal_and_one_line_in_a_pipe(self):
        terminal = self.terminal("request", "tools/call", '{"name":"add","arguments":{"a":1,"b":2}}')
        self.assertEqual(terminal.wait(), 0)
        self.assertIn(b"{\r\n  \x1b[1m\"content\"\x1b[0m: [\r\n    {\r\n", terminal.shown)
        terminal = self.terminal("request", "ping", stdout_apart=True)
        terminal.wait()
        self.assertEqual(terminal.popen.stdout.read(), b"{}\n")

    def test_listen_says_what_has_changed_in_a_sentence(self):
        terminal = self.terminal("listen", "demo://ticker", "--count", "1")
        self.server.log("resources/subscribe", wait=1)
        self.server.emit('{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"demo://ticker"}}')
        self.assertEqual(terminal.wait(), 0)
        self.assertRegex(terminal.shown, rb"^\d\d:\d\d:\d\dZ  the resource demo://ticker has changed\r\n$")
        self.server.log("resources/unsubscribe", wait=1)

    def test_many_tools_fit_the_width_with_a_count(self):
        tools = ",".join('{"name":"tool-%d","description":"%s","annotations":{"readOnlyHint":true},"inputSchema":{"type":"object",'
                         '"required":["query"],"properties":{"limit":{"type":"integer"},"query":{"type":"string"}}}}' % (at, "does much " * 12)
                         for at in range(40))
        self.server.fault('{"status":200,"body":{"jsonrpc":"2.0","id":$ID,"result":{"tools":[%s]}}}' % tools, method="tools/list")
        terminal = self.terminal("tools")
        self.assertEqual(terminal.wait(), 0)
        lines = re.sub(r"\x1b\[[0-9]*m", "", terminal.shown.decode()).splitlines()
        self.assertRegex(lines[1], r"^tool-0 +r +query limit\?:int - does much .*\.\.\.$")
        self.assertLessEqual(max(map(len, lines)), 80)
        self.assertTrue(lines[-2].startswith("40 tools"))
        self.assertIn("tools NAME", lines[-1])

    def test_a_server_is_shown_with_what_it_offers_and_the_next_step(self):
        terminal = self.terminal("server")
        self.assertEqual(terminal.wait(), 0)
        self.assertRegex(terminal.shown.decode(), r"(?s)server  .*tools  +\d+: echo, .*resources  +\d+: demo://.*next  +mcp-nc .*tools echo, ")

    def server_away(self):
        """A daemon that waits no longer for its server than has to be seen here."""
        self.daemon.stop()
        self.daemon = self.start_daemon(self.server, "--connect-wait", "2500ms")
        self.server.stop()

    def test_what_a_request_waits_for_is_told_after_a_second(self):
        self.server_away()
        terminal = self.terminal("-w", "20s", "call", "echo", "message=x")
        terminal.expect("still waiting: cannot reach http://[^ ]*: ")
        self.assertIsNone(terminal.popen.poll())
        self.assertEqual(terminal.wait(), 4)
        self.assertEqual(terminal.shown.count(b"still waiting"), 1)

    def test_the_relay_tells_it_too_once_each_time_and_leaves_its_output_alone(self):
        self.server_away()
        terminal = self.terminal(stdout_apart=True)
        for spell in (1, 2):
            for number in (1, 2):  # both wait for the same
                terminal.type('{"jsonrpc":"2.0","id":"%d-%d","method":"tools/list"}\n' % (spell, number))
            terminal.expect("(still waiting: cannot reach http://[^ ]*: [^\n]*\r\n.*){%d}" % spell)
            answers = [json.loads(terminal.popen.stdout.readline()) for _ in (1, 2)]
            self.assertEqual(sorted(answer["id"] for answer in answers), [f"{spell}-1", f"{spell}-2"])
            self.assertEqual({answer["error"]["code"] for answer in answers}, {-32000})
        terminal.type("\x04")
        self.assertEqual(terminal.wait(), 0)
        self.assertEqual(terminal.popen.stdout.read(), b"")
        self.assertEqual(terminal.shown.count(b"still waiting"), 2)

    def connections(self):
        return self.daemon.metrics().sum("mcp_bridge_clients_connected_total")

    def test_the_relay_where_nobody_reads_stderr_tells_nothing_and_looks_into_nothing(self):
        self.server_away()
        before = self.connections()
        out, err = self.run_nc(stdin='{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
        self.assertEqual(json.loads(out)["error"]["code"], -32000)
        self.assertEqual(err, "")
        self.assertEqual(self.connections(), before + 2)  # the relay's and this question's


class WithoutALogin(Case):
    """A daemon whose server wants a login before it lets anyone subscribe."""

    def setUp(self):
        super().setUp()
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(self.path("wants"))
        listener.listen()
        self.addCleanup(listener.close)
        threading.Thread(target=self.serve, args=(listener,), daemon=True).start()

    def serve(self, listener):
        self.connection, _ = listener.accept()
        with self.connection.makefile("rb") as lines:
            for message in map(json.loads, lines):
                if "id" not in message:
                    continue
                wants = {"code": -32001, "message": "the server wants a login",
                         "data": {"source": "bridge", "kind": "auth", "delivered": "no", "login": "mcp-nc login"}}
                ends = {"error": wants} if message["method"] == "resources/subscribe" else {"result": {}}
                self.send({"jsonrpc": "2.0", "id": message["id"], **ends})
        self.connection.close()

    def send(self, message):
        self.connection.sendall(json.dumps(message).encode() + b"\n")

    def test_what_comes_at_the_question_whether_to_log_in_is_shown(self):
        terminal = Terminal([binary("MCP_NC"), "-s", self.path("wants"), "listen", "file:///x"], self.marker)
        self.clients.append(terminal)
        terminal.expect("the server wants a login.*Log in now\\?")
        for number in range(3):
            self.send(json.loads(notification("notifications/message", {"level": "info", "data": f"hello {number}"})))
        terminal.expect("mcp-nc: server log, info: [^\r]*hello 0\r\n.*hello 1\r\n.*hello 2\r\n")
        terminal.type("n\n")
        self.assertEqual(terminal.wait(), 4)


if __name__ == "__main__":
    main()
