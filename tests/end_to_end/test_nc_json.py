"""--json with every verb there is: each line of stdout is one JSON value, of what went well and of what failed."""

import json
import signal

from harness import main
from harness.binaries import binary
from harness.by_name import ByName

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
    "stop": ["stop", "@remote"], "logs": ["logs", "@remote"], "shell": ["shell"], "help": ["help"], "version": ["version"],
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

    def test_what_is_no_record_is_not_replayed(self):
        file = self.path("garbage")
        with open(file, "w", encoding="utf-8") as garbage:
            garbage.write("no\nrecord\n")
        error = self.values("-s", self.daemon.socket_path, "replay", file, code=2)[0]["error"]
        self.assertEqual((error["kind"], error["delivered"]), ("usage", "no"))
        self.assertIn("line 1", error["message"])

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


if __name__ == "__main__":
    main()
