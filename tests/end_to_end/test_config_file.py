"""The upstream named by a config file: where the values of its variables come from, and what is asked."""

import json
import signal
import termios

from harness import Client, main
from harness.binaries import binary
from harness.local_server import LocalServer
from harness.terminal import Terminal

INPUTS = """{
  // as an editor writes it
  "inputs": [
    {"id": "ado_org", "type": "promptString", "description": "Azure DevOps organization"},
    {"id": "pat", "type": "promptString", "description": "Token", "password": true},
    {"id": "mode", "type": "pickString", "options": ["fast", "safe"], "default": "safe"},
  ],
  "tools": [{"id": "ado", "type": "stdio", "command": COMMAND, "args": [ARGUMENTS, "${input:ado_org}", "${input:mode}",],
             "env": {"WAYWARD_PAT": "${input:pat}", "WAYWARD_HOME": "${env:THE_HOME}", "WAYWARD_X": "${NOT_SET:-x}"}}],
}"""


class Config(LocalServer):
    def config(self, text=INPUTS):
        command, *arguments = self.wayward()
        text = text.replace("COMMAND", json.dumps(command)).replace("ARGUMENTS", json.dumps(arguments)[1:-1])
        return self.write("mcp.json", text)

    def start_config(self, *options, environment=None, **how):
        return self.start_daemon(None, "--config", self.config(), *options, environment={"THE_HOME": "/h", **(environment or {})}, **how)

    def refused(self, *options, code=78, **how):
        return self.start_config(*options, ready=False, **how).fails(code)

    def assert_child(self, organization, mode, token):
        self.assertEqual(json.loads(self.tool("arguments")), [organization, mode])
        self.assertEqual(json.loads(self.tool("environment", {"names": ["WAYWARD_"]})),
                         {"WAYWARD_PAT": token, "WAYWARD_HOME": "/h", "WAYWARD_X": "x"})


class ConfigFile(Config):
    def test_values_from_options_a_file_and_the_environment(self):
        values = self.write("values.json", '{"pat": "from file", "ado_org": "not used"}')
        daemon = self.start_config("--input", "ado_org=contoso", "--input-file", values, environment={"MCP_INPUT_MODE": "fast"})
        self.assert_child("contoso", "fast", "from file")
        self.assertNotIn("from file", daemon.stderr())

    def test_check_validates_all_of_it(self):
        self.assertIn("ado_org", self.refused("--check"))
        self.assertIn("no server 'x'", self.refused("--check", "--server", "x"))
        well = self.start_config("--check", "--input", "ado_org=a", "--input", "pat=b", ready=False)
        self.assertEqual(well.wait(), 0)

    def test_sighup_reads_it_again_and_names_what_needs_a_restart(self):
        daemon = self.start_config("--input", "ado_org=contoso", "--input", "pat=p")
        child = self.child_pid()
        daemon.signal(signal.SIGHUP)
        daemon.logged("were read again")
        self.assertNotIn("only with a restart", daemon.stderr())
        self.config(INPUTS.replace('"${input:mode}"', '"other"'))
        daemon.signal(signal.SIGHUP)
        daemon.logged("the server in --config changes only with a restart")
        self.config("{")
        daemon.signal(signal.SIGHUP)
        daemon.logged("nothing was changed")
        self.assertEqual(self.child_pid(), child)


class OnATerminal(Config):
    def setUp(self):
        super().setUp()
        self.terminal = None

    def tearDown(self):
        if self.terminal:
            self.terminal.close()
        super().tearDown()

    def on_terminal(self, *options):
        socket = self.path("t")
        terminal = Terminal(["env", "THE_HOME=/h", binary("MCP_BRIDGED"), "--socket", socket, "--config", self.config(), *options], self.marker)
        self.terminal = terminal
        return terminal

    def serving(self, terminal):
        terminal.expect("serves")
        # The rest of the test speaks to it as to any daemon.
        self.client = lambda *_: Client(self.path("t"))

    def test_what_is_missing_is_asked_and_a_password_is_not_shown(self):
        terminal = self.on_terminal()
        terminal.expect("Azure DevOps organization: ").type("contoso\n")
        terminal.expect("Token: ").type("s3cret\n")
        terminal.expect(r"mode \(one of: fast safe\) \[safe\]: ").type("slow\n")
        terminal.expect(r"\]: .*\]: ").type("\n")
        self.serving(terminal)
        self.assertNotIn(b"s3cret", terminal.shown)
        self.assert_child("contoso", "safe", "s3cret")

    def test_a_question_hides_nothing(self):
        config = self.write("evil.json", json.dumps({
            "inputs": [{"id": "who", "description": "Name\u202e\u2028\U000e0041 of ada\u00e9", "type": "promptString"}],
            "mcpServers": {"x": {"command": "true", "args": ["${input:who}"]}}}))
        self.terminal = Terminal([binary("MCP_BRIDGED"), "--socket", self.path("t"), "--config", config], self.marker)
        self.terminal.expect(r"Name\\u202e\\u2028\\udb40\\udc41 of ada\u00e9: ").type("\x03")
        self.terminal.wait()

    def test_an_answer_is_kept_over_sighup_and_nothing_is_asked_again(self):
        terminal = self.on_terminal("--input", "pat=p", "--input", "mode=fast")
        terminal.expect("organization: ").type("contoso\n")
        self.serving(terminal)
        terminal.popen.send_signal(signal.SIGHUP)
        terminal.expect("were read again")
        self.assertNotIn(b"only with a restart", terminal.shown)
        self.assertEqual(terminal.shown.count(b"organization"), 1)
        self.assert_child("contoso", "fast", "p")

    def test_a_question_that_is_interrupted_ends_it_with_the_terminal_as_it_was(self):
        terminal = self.on_terminal("--input", "ado_org=a", "--input", "mode=fast")
        terminal.expect("Token: ")
        self.assertFalse(self.shows_typing(terminal))
        terminal.type("\x03")
        self.assertEqual(terminal.wait(), -signal.SIGINT)
        self.assertTrue(self.shows_typing(terminal))

    @staticmethod
    def shows_typing(terminal):
        return bool(termios.tcgetattr(terminal.master)[3] & termios.ECHO)

    def test_the_end_of_the_terminals_input_is_an_error_that_names_what_is_missing(self):
        terminal = self.on_terminal("--input", "ado_org=a")
        terminal.expect("Token: ").type("\x04")
        self.assertEqual(terminal.wait(), 78)
        terminal.expect("input 'pat'")


if __name__ == "__main__":
    main()
