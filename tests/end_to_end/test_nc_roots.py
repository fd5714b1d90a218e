"""Roots that mcp-nc tells the server, and the server's own tasks."""

import json
import os
import pathlib

from harness import eventually, main
from harness.binaries import binary
from harness.by_name import ByName

class OfServer(ByName):
    def setUp(self):
        super().setUp()
        command, *arguments = self.wayward("--asks")
        self.own({"its": {"command": command, "args": arguments}})

    def its(self, *words, **how):
        return self.named("@its", *words, **how)


class Roots(OfServer):
    def folder_uri(self, name):
        folder = os.path.realpath(self.path(name))
        os.makedirs(folder, exist_ok=True)
        return pathlib.Path(folder).as_uri()

    def test_the_server_knows_those_of_the_last_call_that_named_some(self):
        one, other = self.folder_uri("one ü%"), self.folder_uri("two")
        self.assertEqual(self.its("call", "roots", "--root", self.path("one ü%")), (one + "\n", ""))
        self.assertEqual(self.its("call", "roots", "--root", self.path("two"), "--root", self.path("one ü%"))[0], f"{other} {one}\n")
        self.assertEqual(self.its("call", "roots")[0], f"{other} {one}\n")
        self.assertEqual(self.its("call", "declared")[0], "elicitation roots\n")

    def test_a_session_without_roots_is_told_of(self):
        hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {"sampling": {}}, "clientInfo": {"name": "t", "version": "1"}}}
        self.run_tool([binary("MCP_NC"), "@its"], environment=self.environment, stdin=json.dumps(hello) + "\n")
        out, err = self.its("call", "roots", "--root", self.path("home"))
        self.assertEqual(out, "none\n")
        self.assertIn("opened without roots, so the server may ask for none", err)
        self.assertIn("mcp-nc @its stop", err)
        # A client of the relay opens it with what it declares itself.
        self.assertEqual(self.its("call", "declared")[0], "sampling\n")

    def test_what_is_no_folder_is_refused(self):
        for wrong in (self.path("nothing"), __file__):
            self.assertIn("option --root", self.its("call", "roots", "--root", wrong, code=2)[1])

    def test_a_daemon_that_runs_already_opens_its_session_with_them(self):
        daemon = self.start_local("--asks")
        self.assertIsNone(daemon.status()["upstream"]["declared"])
        shown, _ = self.run_nc("call", "roots", "--root", self.path("home"))
        self.assertEqual(shown, self.folder_uri("home") + "\n")
        self.assertEqual(daemon.status()["upstream"]["declared"], ["roots", "elicitation"])


class Questions(OfServer):
    def test_one_that_is_interrupted_is_dismissed_though_the_server_does_not_withdraw_it(self):
        terminal = self.terminal("@its", "call", "ask")
        terminal.expect("Go on\\?").type("\x03")
        self.assertEqual(terminal.wait(), 130)
        eventually(lambda: self.its("call", "answers")[0] == "cancel\n", "the answer of who was interrupted")


    def test_what_one_was_asked_that_is_gone_is_said_to_be_about_anothers_call(self):
        first = self.terminal("@its", "call", "ask")
        first.expect("The server asks: Go on\\?")
        first.popen.kill()
        second = self.terminal("@its", "call", "ask")
        second.expect("Not about your call: .*The server asks: Go on\\?")
        second.type("!cancel\n").expect("Perhaps not about your call: .*Go on\\?").type("\x03")
        self.assertEqual(second.wait(), 130)


class Shell(OfServer):
    def test_each_line_is_a_command_for_the_same_server(self):
        lines = "# a comment\n\ncall declared\ntasks --names\n'call' \"roots\" --json\nexit\ncall ask\n"
        out, err = self.its("shell", stdin=lines)
        self.assertEqual((out.splitlines()[0], json.loads(out.splitlines()[1])["content"][0]["text"], err), ("elicitation roots", "none", ""))
        out, err = self.its("shell", stdin="call 'x\nshell\nno-such-verb", code=2)
        self.assertEqual(out, "")
        for fault in ("a quote is not closed", "each line is a command", "unknown command"):
            self.assertIn(fault, err)

    def test_at_a_terminal_it_prompts_and_an_interrupt_ends_the_line_or_the_command(self):
        terminal = self.terminal("@its", "shell").expect("mcp-nc @its> ")
        terminal.type("call declared\n").expect("elicitation roots.*mcp-nc @its> ")
        terminal.type("help\n").expect("call NAME key=value, .*leaves\r\nmcp-nc @its> ")
        terminal.type("\x1b[A\n").expect("keys do not edit lines here: .* type: rlwrap mcp-nc @its shell\r\nmcp-nc @its> ")
        terminal.type("call ask\n").expect("Go on\\?").type("\x03").expect(r"\^C\r\nmcp-nc: interrupted; .* stop\r\nmcp-nc @its> ")
        terminal.type("call ro\x03").expect(r"stop\r\nmcp-nc @its> .*\^C\r\nmcp-nc @its> ").type("\x04")
        self.assertEqual(terminal.wait(), 0, terminal.shown)


class Idle(OfServer):
    def test_a_daemon_by_name_ends_itself_after_the_time_that_the_environment_names(self):
        self.its("call", "roots", MCP_BRIDGE_IDLE_EXIT="1s")
        self.assert_gone(self.running()["its"])
        self.assertIn("idle-exit", self.its("call", "roots", MCP_BRIDGE_IDLE_EXIT="soon", code=3)[1])


class Tasks(OfServer):
    def test_the_servers_tasks_are_begun_listed_asked_about_and_ended(self):
        self.assertIn("has no tasks", self.its("tasks")[1])
        self.assertEqual(list(json.loads(self.its("server", "--json")[0])["capabilities"]), ["tools", "tasks"])
        first = self.its("call", "--task", "work")[0].strip()
        second = json.loads(self.its("call", "--task", "--json", "work")[0])["task"]["taskId"]
        self.assertEqual(self.its("tasks", "--names")[0], f"{first}\n{second}\n")
        self.assertIn(f"{first}    working", self.its("tasks")[0])
        self.assertEqual(self.its("tasks", "get", first)[0], "working: under way\n")
        self.assertEqual(self.its("tasks", "result", first)[0], "the work is done\n")
        self.assertEqual(json.loads(self.its("tasks", "cancel", second, "--json")[0])["status"], "cancelled")
        self.assertEqual([task["status"] for task in json.loads(self.its("tasks", "--json")[0])["tasks"]], ["completed", "cancelled"])
        self.assertIn("no such task", self.its("tasks", "get", "t9", code=1)[1])
        for wrong in (["tasks", "gett", "x"], ["tasks", "get"], ["call", "--task", "--detach", "x"]):
            self.its(*wrong, code=2)


if __name__ == "__main__":
    main()
