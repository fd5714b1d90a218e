"""Verbs of mcp-nc: what they send, leave and take. (Their output is that of client/README.md: test_pages.)"""

import base64
import json
import os
import signal
import subprocess

from harness import Case, main
from harness.binaries import binary
from harness.gathering import Gathering, data_of, log_message
from harness.terminal import Terminal
from harness.waiting import patient, within


class Verbs(Case):
    def setUp(self):
        super().setUp()
        self.server, self.daemon = self.bridge()

    def test_tools_of_several_pages(self):
        self.daemon.stop()
        self.start_daemon(self.upstream("--page-size", "2"))
        out, _ = self.run_nc("tools")
        for name in ("echo", "add", "slow", "fail"):
            self.assertIn(name, out)

    def test_a_file_or_pipe_gets_the_bytes_of_a_resource_and_no_placeholder(self):
        blob = base64.b64encode(b"\x89PNG\x00\xff").decode()
        one = '{"uri":"demo://a","mimeType":"image/png","blob":"%s"}' % blob
        text = '{"uri":"demo://b","text":"t"}'
        for contents, code, printed, told in ((one, 0, b"\x89PNG\x00\xff", ""), (text, 0, b"t\n", ""),
                                              (one + "," + one, 1, b"", "not printed: blob image/png, 6 B; --save DIR writes it to a file, --json prints all"),
                                              (text + "," + one, 1, b"t\n", "not printed: blob")):
            with self.subTest(contents):
                self.server.fault('{"status":200,"body":{"jsonrpc":"2.0","id":$ID,"result":{"contents":[%s]}}}' % contents, method="resources/read")
                done = subprocess.run([binary("MCP_NC"), "-s", self.daemon.socket_path, "read", "demo://a"], capture_output=True, timeout=60,
                                      check=False)
                self.assertEqual((done.returncode, done.stdout), (code, printed))
                self.assertIn(told, done.stderr.decode())
        self.server.fault('{"status":200,"body":{"jsonrpc":"2.0","id":$ID,"result":{"contents":[%s]}}}' % one, method="resources/read")
        self.assertEqual(self.run_nc("read", "demo://a", "-o", self.path("a.png"))[0], "")
        with open(self.path("a.png"), "rb") as file:
            self.assertEqual(file.read(), b"\x89PNG\x00\xff")
        self.run_nc("call", "echo", "message=hi", "-o", self.path("text"))
        with open(self.path("text"), "rb") as file:
            self.assertEqual(file.read(), b"hi")

    def test_a_prompt_without_what_it_requires_is_not_asked_for(self):
        for words, told in ((["greet"], "the prompt needs also: name=TEXT"), (["greet", "other=x"], "the prompt needs also: name=TEXT")):
            self.assertIn(told, self.run_nc("prompt", *words, code=2)[1])
        self.assertEqual(self.server.bodies("prompts/get"), [])
        self.assertIn("x", self.run_nc("prompt", "greet", "name=x")[0])

    def tool_names(self, *names):
        tools = ",".join('{"name":%s,"inputSchema":{"type":"object"}}' % json.dumps(name) for name in names)
        self.server.fault('{"status":200,"body":{"jsonrpc":"2.0","id":$ID,"result":{"tools":[%s]}}}' % tools, method="tools/list")

    def test_tools_are_commands_and_only_its_own_files_are_touched(self):
        folder = self.path("bin")
        os.mkdir(folder)
        for name, text in (("ok-mine", "#!/bin/sh\necho mine\n"), ("ok-gone.new", "x")):
            with open(os.path.join(folder, name), "w", encoding="ascii") as file:
                file.write(text)
        os.symlink("/etc/passwd", os.path.join(folder, "ok-link"))
        others = ["ok-gone.new", "ok-link", "ok-mine"]
        self.tool_names("echo", "gone", "link", "mine", "../up", "-x", "..", "cd", "two words; touch $(pwned)", "a'b", "a_b", "line\nbreak", "")
        out, told = self.run_nc("link", folder, "--prefix", "ok-", "--json", code=1)
        linked = json.loads(out)["linked"]
        self.assertEqual(linked, sorted(["ok-echo", "ok-gone", "ok-.._up", "ok--x", "ok-..", "ok-cd", "ok-two_words__touch___pwned_", "ok-a_b"]))
        self.assertEqual(sorted(os.listdir(folder)), sorted(linked + others))
        for why in ("another's file", "control characters", "its file would be that of 'a'b'"):
            self.assertIn(why, told)
        environment = {"PATH": os.path.dirname(binary("MCP_NC")) + ":" + os.environ["PATH"]}
        run = lambda name, *words, **how: self.run_tool([os.path.join(folder, name), *words], environment=environment, **how)
        self.assertEqual(run("ok-echo", "message=hi there")[0], "hi there\n")
        self.assertIn("Usage\n", run("ok-echo", "--help")[0])
        self.assertEqual(run("ok-two_words__touch___pwned_", code=None)[1].count("two words; touch $(pwned)") > 0, True)
        self.tool_names("echo")
        self.assertEqual(len(json.loads(self.run_nc("link", folder, "--prefix", "ok-", "--json")[0])["removed"]), len(linked) - 1)
        self.assertEqual(sorted(os.listdir(folder)), sorted(["ok-echo", *others]))
        with open(os.path.join(folder, "ok-mine"), encoding="ascii") as file:
            self.assertEqual(file.read(), "#!/bin/sh\necho mine\n")
        self.tool_names("cd", "ls", "echo-of-mine")
        self.assertEqual(self.run_nc("link", folder, code=1)[0], "echo-of-mine\n")

    def test_save_writes_blobs_to_files_and_a_name_from_the_server_cannot_leave_the_folder(self):
        os.mkdir(self.path("saved"))
        blob = base64.b64encode(b"evil").decode()
        self.server.fault('{"status":200,"body":{"jsonrpc":"2.0","id":$ID,"result":{"contents":[{"uri":"demo://../../../evil","name":"../../evil","mimeType":"image/png","blob":"%s"}]}}}' % blob, method="resources/read")
        self.run_nc("read", "demo://x", "--save", self.path("saved"))
        self.assertEqual([name for name in os.listdir(self.folder) if "evil" in name], [])
        saved, = os.listdir(self.path("saved"))
        with open(os.path.join(self.path("saved"), saved), "rb") as file:
            self.assertEqual(file.read(), b"evil")

    def test_request_prints_the_result_as_it_came(self):
        self.assertEqual(self.run_nc("request", "ping")[0], "{}\n")
        self.server.fault('{"status":200,"body":{"jsonrpc":"2.0","id":$ID,"result":{"a":1e400,"b":0.10}}}', method="x/y")
        self.assertEqual(self.run_nc("request", "x/y", '{"p":0.10}')[0], '{"a":1e400,"b":0.10}\n')
        self.assertIn('"params":{"p":0.10}', self.server.log("x/y")[0]["body"].replace(" ", ""))

    def test_notify(self):
        self.run_nc("request", "ping")
        self.assertEqual(self.run_nc("notify", "notifications/roots/list_changed", '{"x":0.10}'), ("", ""))
        self.assertIn("0.10", self.server.log("notifications/roots/list_changed", wait=1)[0]["body"])

    def test_a_timeout_is_124_and_the_request_is_cancelled(self):
        self.run_nc("request", "ping")
        self.run_nc("-w", patient(1000), "call", "slow", "steps:=100", "delayMs:=100", code=124)
        self.server.log("notifications/cancelled", wait=1)
        self.server.state(activeCalls=0)

    def test_an_interrupt_cancels_the_request_of_any_verb(self):
        for count, (method, verb) in enumerate((("tools/call", ["call", "slow", "steps:=1000", "delayMs:=50"]),
                                                ("x/y", ["request", "x/y"]), ("resources/read", ["read", "demo://readme"]),
                                                ("prompts/get", ["prompt", "greet", "name=x"]),
                                                ("tools/list", ["tools"])), start=1):
            with self.subTest(verb):
                if verb[0] != "call":
                    self.server.fault({"hang": True}, method=method)
                nc = self.nc(*verb)
                # The call has had the tools listed before.
                self.server.log(method, wait=2 if method == "tools/list" else 1)
                nc.signal(signal.SIGTERM if count % 2 == 0 else signal.SIGINT)
                self.assertEqual(nc.wait(), 143 if count % 2 == 0 else 130)
                self.server.log("notifications/cancelled", wait=count)


    def test_the_exit_code_says_whose_the_failure_is(self):
        self.daemon.stop()
        self.start_daemon(self.server, "--max-frame", "2K")
        self.server.fault({"status": 404}, method="initialize")
        out, err = self.run_nc("call", "echo", "message=x", code=4)
        self.assertEqual((out, err.count("\n")), ("", 1), err)
        self.assertIn("HTTP 404", err)
        self.run_nc("request", "ping")
        self.server.fault({"status": 500}, method="tools/call")
        self.assertIn("HTTP 500", self.run_nc("call", "echo", "message=x", code=1)[1])
        err = self.run_nc("call", "echo", "message=" + "x" * 5000, code=1)[1]
        self.assertIn("the daemon refused the request", err)
        self.assertIn("--max-frame", err)


class Waiting(Gathering):
    def test_flushed_ones_are_printed_on_stderr_and_taken(self):
        server, _ = self.opened()
        self.gather(server, "one", "two")
        out, err = self.run_nc("call", "echo", "message=hi")
        self.assertEqual(out, "hi\n")
        self.assertEqual([json.loads(line)["params"]["data"] for line in err.splitlines()], ["one", "two"])
        self.untaken(0)

    def test_listen_for_a_number_shows_the_others_too(self):
        server, _ = self.opened()
        all_of_them = list(range(300))
        self.gather(server, *all_of_them)
        out, err = self.run_nc("listen", "--count", "2", "--for", "20s")
        shown = data_of([json.loads(line) for line in (out + err).splitlines()])
        self.assertEqual((shown, len(out.splitlines())), (all_of_them[:len(shown)], 2))
        self.untaken(len(all_of_them) - len(shown))

    def test_keep_leaves_them(self):
        server, _ = self.opened()
        self.gather(server, "one", "two")
        for verb in (["--keep", "call", "echo", "message=hi"], ["call", "--keep", "echo", "message=hi"], ["status"], ["resources"]):
            with self.subTest(verb):
                self.assertEqual(self.run_nc(*verb)[1], "")
                self.assertEqual(self.ring()["untaken"], 2)

    def test_listen_joins_what_comes_without_a_gap(self):
        server, _ = self.opened()
        self.gather_many(server, 150)
        nc = self.nc("listen", "--since", "0", "--seq", "--count", "160")
        nc.stdout_line(0)
        self.gather(server, *["later"] * 10)
        self.assertEqual(nc.wait(), 0, nc.stderr())
        lines = [json.loads(line) for line in nc.stdout().splitlines()]
        self.assertEqual([line["seq"] for line in lines], list(range(1, 161)))

    def test_listen_prints_each_as_it_comes(self):
        server, _ = self.opened()
        nc = self.nc("listen")
        for n in range(3):
            server.emit(log_message(n))
            self.assertEqual(json.loads(nc.stdout_line(n))["params"]["data"], n)
        nc.signal(signal.SIGTERM)
        nc.wait()
        self.untaken(0)

    def test_listen_with_a_closed_stdout_ends_and_takes_nothing_it_did_not_print(self):
        server, _ = self.opened()
        self.gather_many(server, 500)
        out, err = self.run_tool(["bash", "-c", '"$2" -s "$1" listen | head -n 1', "bash", self.default_daemon.socket_path, binary("MCP_NC")])
        self.assertEqual(json.loads(out)["params"]["data"], 1)
        self.others(0)
        self.assertEqual(err, "")


class WaitingForAGrant(Gathering):
    """The daemon sends them before it has read the grant."""

    PING = '{"jsonrpc":"2.0","id":9,"method":"ping"}\n'

    def granted(self):
        server, _ = self.opened()
        return server, {"MCP_NC_GRANT": self.run_nc("grant")[0].strip()}

    def data(self, lines):
        return data_of([json.loads(line) for line in lines.splitlines()])

    def test_the_relay_writes_each_whole_before_all_else(self):
        server, used = self.granted()
        long = [str(n) * 9000 for n in range(3)]
        self.gather(server, *long)
        command = [binary("MCP_NC"), "-s", self.default_daemon.socket_path]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, **used}) as nc:
            nc.stdin.write(self.PING.encode())
            nc.stdin.close()
            self.assertEqual(nc.wait(within(20)), 0)  # the pipe holds it all, and is read last
            lines = nc.stdout.read().decode().splitlines(keepends=True)
        self.assertEqual(self.data("".join(lines[:3])), long)
        self.assertEqual([json.loads(line)["id"] for line in lines[3:]], [9])
        self.untaken(0)

    def test_at_a_terminal_the_relay_makes_them_visible(self):
        server, used = self.granted()
        server.emit(log_message("\u009b31mred").encode().decode("latin-1"))  # in which it is posted
        self.untaken(1)
        terminal = Terminal(["env", *(f"{name}={value}" for name, value in used.items()), binary("MCP_NC"), "-s",
                             self.default_daemon.socket_path], self.marker)
        self.clients.append(terminal)
        terminal.expect(r"\\u009b31mred")
        terminal.type("\x04")
        self.assertEqual(terminal.wait(), 0)
        self.assertNotIn("\u009b".encode(), terminal.shown)

    def test_listen_prints_and_counts_them(self):
        server, used = self.granted()
        self.gather(server, "one", "two")
        out, err = self.run_nc("listen", "--for", "0", environment=used)
        self.assertEqual((self.data(out), err), (["one", "two"], ""))
        self.gather(server, "three", "four")
        out, _ = self.run_nc("listen", "--count", "1", "--for", "20s", environment=used)
        self.assertEqual(self.data(out), ["three"])
        self.gather(server, "five")
        out, err = self.run_nc("call", "echo", "message=x", environment=used)
        self.assertEqual((out, self.data(err)), ("x\n", ["five"]))
        self.gather(server, "six")
        self.assertEqual(self.run_nc("call", "--keep", "echo", "message=x", environment=used), ("x\n", ""))
        self.untaken(1)


if __name__ == "__main__":
    main()
