"""What programs and language models rely on: --json with every verb prints one JSON value a line, of what went well and of
what failed, an error has one shape, and what is long goes to a file."""

import json
import os
import signal

from harness import Case, main
from harness.binaries import binary
from harness.by_name import ByName
from harness.waiting import patient

# What each verb is tried with. A verb that is not here fails the test: what does it print with --json?
WORDS = {
    "tools": ["tools"], "call": ["call", "echo", "message=x"], "resources": ["resources"], "read": ["read", "demo://readme"],
    "prompts": ["prompts"], "prompt": ["prompt", "greet", "name=x"], "request": ["request", "ping"],
    "notify": ["notify", "notifications/roots/list_changed"], "listen": ["listen", "--for", "0"], "status": ["status"],
    "whoami": ["whoami"], "jobs": ["jobs"], "wait": ["wait", "nosuch"], "answer": ["answer", "nosuch", "a=b"], "cancel": ["cancel", "nosuch"],
    "forget": ["forget", "nosuch"], "tasks": ["tasks"], "skills": ["skills"], "grep": ["grep", "echo"],
    "templates": ["templates"], "server": ["server"], "ping": ["ping"], "subscribe": ["subscribe", "demo://readme"],
    "unsubscribe": ["unsubscribe", "demo://readme"], "log-level": ["log-level", "info"],
    "complete": ["complete", "prompt", "greet", "name", "A"], "monitor": ["monitor", "--for", "0"],
    "record": ["record", "record.jsonl", "--for", "0"], "replay": ["replay", "record.jsonl"], "agent-help": ["agent-help"],
    "login": ["login", "-w", "1s"], "logout": ["logout"], "servers": ["servers"], "approve": ["approve", "@remote"],
    "stop": ["stop", "@remote"], "logs": ["logs", "@remote"], "shell": ["shell"], "help": ["help"],
    "version": ["version"], "link": ["link", "linked"], "grant": ["grant"], "grants": ["grants"], "revoke": ["revoke", "nosuch"],
}
ABOUT_SERVERS = ("servers", "approve", "stop", "logs")
MAY_BE_SILENT = ("listen", "monitor")  # as long as nothing happens


class EveryVerb(ByName):
    def setUp(self):
        super().setUp()
        self.server, self.daemon = self.bridge()
        self.own({"remote": {"url": self.server.url}})
        self.verbs = [verb["verb"] for verb in self.values("help")]

    def values(self, *words, code=0, stdin=None):
        """What it prints with --json."""
        out, _ = self.named(*words, "--json", code=code, stdin=stdin)
        values = [json.loads(line) for line in out.splitlines()]
        return values[0]["verbs"] if words == ("help",) else values

    def test_each_prints_json_and_nothing_else(self):
        self.assertEqual(set(WORDS), set(self.verbs))
        self.echoes("@remote")
        for verb in self.verbs:
            with self.subTest(verb):
                where = () if verb in ABOUT_SERVERS else ("-s", self.daemon.socket_path)
                out, err = self.named(*where, *WORDS[verb], "--json", code=None, stdin="ping\nfrobnicate\n")
                self.assertNotIn("does not go with", err)
                self.assertNotIn("unknown option", err)
                for line in out.splitlines():
                    self.assertIsInstance(json.loads(line), dict)
                if verb not in MAY_BE_SILENT:
                    self.assertTrue(out.endswith("}\n"), out)

    def test_each_that_fails_says_so_in_one_shape(self):
        for verb in self.verbs:
            with self.subTest(verb):
                where = () if verb in ABOUT_SERVERS else ("-s", self.path("nowhere"))
                words = ["@nosuch" if word == "@remote" else word for word in WORDS[verb]]
                command = ["env", "-C", self.path("home"), binary("MCP_NC"), *where, *words, "--json"]
                out, _ = self.run_tool(["bash", "-c", '"$@"; echo "exit $?"', "bash", *command], code=0,
                                       stdin="ping\n", environment=self.environment)
                *lines, code = out.splitlines()
                if code == "exit 0":
                    self.assertIn(verb, ("servers", "help", "version"))
                    continue
                self.assertEqual(len(lines), 1, out)
                error = json.loads(lines[0])["error"]
                self.assertEqual(list(error), ["kind", "code", "delivered", "message", "hint"])

    def test_options_that_print_something_else_are_json_too(self):
        where = ("-s", self.daemon.socket_path)
        types = self.values(*where, "tools", "--types")[0]["types"]
        self.assertTrue(types.startswith("export interface Tools {"))
        self.assertIn('"echo"', types)
        self.assertIn('"echo"', self.values(*where, "tools", "echo", "--types")[0]["types"])
        self.assertIn("mcp_bridge_", self.values(*where, "status", "--metrics")[0]["text"])
        call = self.values("help", "call")[0]
        self.assertEqual((call["verb"], call["usage"]), ("call", "call NAME [ARGUMENT...]"))
        self.assertIn("--raw", [option["option"] for option in call["options"]])
        self.assertEqual(self.values("call", "--help"), [call])
        watch = self.nc("status", "--watch", "--json")
        self.assertIn("upstream", json.loads(watch.stdout_line()))
        watch.signal(signal.SIGINT)
        watch.wait()

    def test_a_record_says_how_many_and_where(self):
        where, file = ("-s", self.daemon.socket_path), self.path("record.jsonl")
        self.assertEqual(self.values(*where, "record", file, "--for", "0"), [{"recorded": 0, "file": file}])
        self.assertEqual(self.values(*where, "replay", file), [{"replayed": 0, "leftOut": 0, "different": []}])
        error = self.values(*where, "record", self.path("no/folder"), code=1)[0]["error"]
        self.assertEqual(error["kind"], "file")
        self.assertEqual(self.values(*where, "replay", self.path("no/folder"), code=2)[0]["error"]["kind"], "file")

    def test_a_file_that_cannot_take_what_is_cut_is_an_error(self):
        out, _ = self.named("-s", self.daemon.socket_path, "call", "big", "bytes=5000", "--max-bytes", "100", "--json",
                            code=1, TMPDIR=self.path("no/folder"))
        self.assertEqual(json.loads(out)["error"]["kind"], "file")

    def test_a_log_is_a_line_of_json_each(self):
        self.echoes("@remote")
        plain = self.named("logs", "@remote")[0].splitlines()
        self.assertEqual([value["line"] for value in self.values("logs", "@remote")], plain)
        self.assertIn("serves", "\n".join(plain))

    def test_each_command_of_a_shell_prints_its_value(self):
        values = self.values("-s", self.daemon.socket_path, "shell", code=2,
                             stdin="ping\ncall echo message=x\ntools --types\nhelp call\nfrobnicate\n")
        self.assertEqual([list(value)[0] for value in values], ["ms", "content", "types", "verb", "error"])


class ForPrograms(Case):
    def setUp(self):
        super().setUp()
        self.server, self.daemon = self.bridge()

    def error(self, *words, code, **options):
        """The error of a verb that fails: {kind, code, delivered, message, hint}."""
        out, err = self.run_nc(*words, "--json", code=code, **options)
        self.assertEqual(out.count("\n"), 1, out)
        self.assertTrue(err.startswith("mcp-nc: "))
        return json.loads(out)["error"]

    def test_an_error_says_whose_it_is_and_whether_it_was_delivered(self):
        for words, code, kind, delivered in ((["call", "fail", "message=no such user"], 1, "tool", "yes"),
                                             (["request", "no/such/method"], 1, "server", "yes"),
                                             (["call", "add", "a=x", "b=1"], 2, "usage", "no"),
                                             (["-w", patient(1000), "call", "slow", "steps=100", "delayMs=100"], 124, "timeout", "unknown")):
            with self.subTest(words):
                error = self.error(*words, code=code)
                self.assertEqual((error["kind"], error["delivered"]), (kind, delivered))

    def test_the_hint_of_a_usage_error_is_what_stderr_says(self):
        for words, help_of in ((["wait", "x", "--brief"], "help wait"), (["listen", "demo://x", "--for", "0"], "help listen"), (["@"], "--help")):
            self.assertEqual(self.error(*words, code=2)["hint"], f"see: mcp-nc {help_of}")

    def test_an_upstream_that_is_away_is_said_with_its_kind(self):
        self.daemon.stop()
        self.start_daemon("http://127.0.0.1:9/mcp", "--connect-wait", "100ms")
        error = self.error("tools", code=4)
        self.assertEqual((error["kind"], error["delivered"]), ("connect", "no"))
        self.assertIn("The server cannot be used now: cannot reach ", self.run_nc("agent-help")[0])

    def test_what_is_too_long_goes_to_a_file_whole(self):
        whole = self.run_nc("call", "big", "bytes=50000")[0]
        out, _ = self.run_nc("call", "big", "bytes=50000", "--max-bytes", "100", environment={"TMPDIR": self.folder})
        head, note = out.rstrip("\n").split("\n")[0], out.rstrip("\n").split("\n")[-1]
        self.assertEqual(head, whole[:100])
        self.assertIn(f"cut off after 100 of {len(whole)} bytes", note)
        file = note.split(" in ")[-1].rstrip("]")
        with open(file, encoding="utf-8") as saved:
            self.assertEqual(saved.read(), whole)
        self.assertEqual(os.stat(os.path.dirname(file)).st_mode & 0o077, 0)
        cut = json.loads(self.run_nc("call", "big", "bytes=50000", "--max-bytes", "100", "--json",
                                     environment={"TMPDIR": self.folder})[0])["cut"]
        with open(cut["file"], encoding="utf-8") as saved:
            self.assertEqual(len(json.load(saved)["content"][0]["text"]), 50000)
        self.assertEqual(self.run_nc("call", "echo", "message=x", "--max-bytes", "100"), ("x\n", ""))

    def test_one_value_of_a_result(self):
        self.assertEqual(self.run_nc("call", "mirror", 'items:=[{"n":0.10}]', "--field", "items[0].n")[0], "0.10\n")
        out, err = self.run_nc("call", "echo", "message=x", "--field", "no.such", code=1)
        self.assertEqual(out, "")
        self.assertIn("no.such", err)


if __name__ == "__main__":
    main()
