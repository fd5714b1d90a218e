"""Every verb of mcp-nc, its output and its exit code."""

import base64
import json
import os
import signal

from harness import Case, main
from harness.binaries import binary
from harness.gathering import Gathering, log_message


class Verbs(Case):
    def setUp(self):
        super().setUp()
        self.server, self.daemon = self.bridge()

    def test_tools(self):
        out, _ = self.run_nc("tools")
        for name in ("echo", "add", "slow", "ask"):
            self.assertIn(name, out)
        self.assertIn("message", out)
        raw = json.loads(self.run_nc("tools", "--json")[0])
        self.assertIn("echo", [tool["name"] for tool in raw["tools"]])

    def test_tools_of_several_pages(self):
        self.daemon.stop()
        self.start_daemon(self.upstream("--page-size", "2"))
        out, _ = self.run_nc("tools")
        for name in ("echo", "add", "slow", "fail"):
            self.assertIn(name, out)

    def test_call_prints_text_as_text(self):
        self.assertEqual(self.run_nc("call", "echo", "message=héllo"), ("héllo\n", ""))
        self.assertEqual(self.run_nc("call", "add", "a:=2", "b:=40")[0], "42\n")
        self.assertEqual(self.run_nc("call", "echo", '{"message":"object"}')[0], "object\n")
        self.assertEqual(self.run_nc("call", "echo", "-", stdin='{"message":"from stdin"}')[0], "from stdin\n")
        self.assertEqual(self.run_nc("call", "echo", "message=a=b:=c")[0], "a=b:=c\n")

    def test_call_sends_numbers_as_they_were_written(self):
        out, _ = self.run_nc("call", "mirror", "n:=0.10", "big:=123456789012345678901234567890", "--json")
        self.assertIn('"n":0.10', out)
        self.assertIn('"big":123456789012345678901234567890', out)

    def test_a_tools_error_is_1_and_so_is_the_servers(self):
        out, err = self.run_nc("call", "fail", "message=broken", code=1)
        self.assertIn("broken", out + err)
        out, err = self.run_nc("call", "no-such-tool", code=1)
        self.assertEqual(out, "")
        self.assertRegex(err, r"^mcp-nc: no tool 'no-such-tool'; list them with: mcp-nc -s \S+ tools\n$")
        out, err = self.run_nc("request", "no/such/method", code=1)
        self.assertEqual(err, "mcp-nc: the server does not support 'no/such/method'\n")

    def test_resources_and_read(self):
        self.assertIn("demo://readme", self.run_nc("resources")[0])
        self.assertIn("resources", json.loads(self.run_nc("resources", "--json")[0]))
        text, _ = self.run_nc("read", "demo://readme")
        self.assertTrue(text.strip())
        self.run_nc("read", "demo://missing", code=1)

    def test_save_writes_blobs_to_files(self):
        os.mkdir(self.path("saved"))
        self.run_nc("read", "demo://pixel", "--save", self.path("saved"))
        files = os.listdir(self.path("saved"))
        self.assertEqual(len(files), 1)
        with open(os.path.join(self.path("saved"), files[0]), "rb") as file:
            self.assertTrue(file.read().startswith(b"\x89PNG"))

    def test_a_name_from_the_server_cannot_leave_the_folder(self):
        os.mkdir(self.path("saved"))
        blob = base64.b64encode(b"evil").decode()
        self.server.fault('{"status":200,"body":{"jsonrpc":"2.0","id":$ID,"result":{"contents":[{"uri":"demo://../../../evil","name":"../../evil","mimeType":"image/png","blob":"%s"}]}}}' % blob, method="resources/read")
        self.run_nc("read", "demo://x", "--save", self.path("saved"))
        self.assertEqual([name for name in os.listdir(self.folder) if "evil" in name], [])
        self.assertEqual(len(os.listdir(self.path("saved"))), 1)

    def test_prompts_and_prompt(self):
        self.assertIn("greet", self.run_nc("prompts")[0])
        self.assertIn("Ada", self.run_nc("prompt", "greet", "name=Ada")[0])
        self.run_nc("prompt", "greet", code=1)

    def test_request_prints_the_result_as_it_came(self):
        self.assertEqual(self.run_nc("request", "ping")[0], "{}\n")
        self.server.fault('{"status":200,"body":{"jsonrpc":"2.0","id":$ID,"result":{"a":1e400,"b":0.10}}}', method="x/y")
        self.assertEqual(self.run_nc("request", "x/y", '{"p":0.10}')[0], '{"a":1e400,"b":0.10}\n')
        self.assertIn('"params":{"p":0.10}', self.server.log("x/y")[0]["body"].replace(" ", ""))

    def test_notify(self):
        self.run_nc("request", "ping")
        self.assertEqual(self.run_nc("notify", "notifications/roots/list_changed", '{"x":0.10}'), ("", ""))
        self.assertIn("0.10", self.server.log("notifications/roots/list_changed", wait=1)[0]["body"])

    def test_usage_errors_are_2(self):
        for arguments in (["no-such-verb"], ["call"], ["read"], ["prompt"], ["request"], ["call", "echo", "message"],
                          ["call", "echo", "n:={"], ["request", "x", "{"], ["listen", "--count", "many"], ["--no-such-option"],
                          ["-w", "soon", "tools"]):
            with self.subTest(arguments):
                out, err = self.run_nc(*arguments, code=2)
                self.assertEqual(out, "")
                self.assertTrue(err)

    def test_without_a_daemon_it_is_3(self):
        for verb in (["tools"], ["status"], ["status", "--ready"], ["call", "echo", "message=x"], ["listen", "--count", "1"]):
            out, err = self.run_nc(*verb, socket=self.path("nowhere"), code=3)
            self.assertEqual((out, err.count("\n")), ("", 1), err)

    def test_names_alone_are_one_a_line(self):
        names = self.run_nc("tools", "--names")[0].splitlines()
        self.assertEqual(names, [tool["name"] for tool in json.loads(self.run_nc("tools", "--json")[0])["tools"]])
        self.assertIn("demo://readme", self.run_nc("resources", "--names")[0].splitlines())
        self.assertEqual(self.run_nc("prompts", "--names")[0], "greet\n")
        self.run_nc("tools", "--names", "--json", code=2)

    def test_help_and_version(self):
        help = self.run_nc("--help")[0]
        self.assertIn("listen", help)
        self.assertLessEqual(max(map(len, help.splitlines())), 80)
        self.assertRegex(self.run_nc("--version")[0], r"mcp-nc \d")

    def test_a_timeout_is_124_and_the_request_is_cancelled(self):
        self.run_nc("request", "ping")
        self.run_nc("-w", "300ms", "call", "slow", "steps:=100", "delayMs:=100", code=124)
        self.server.log("notifications/cancelled", wait=1)
        self.server.state(activeCalls=0)

    def test_a_timeout_of_the_daemon_is_124(self):
        self.daemon.stop()
        self.start_daemon(self.server, "--request-timeout", "300ms")
        self.server.fault({"hang": True}, method="tools/call")
        self.run_nc("call", "echo", "message=x", code=124)

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

    def test_an_upstream_that_is_away_is_4(self):
        port = self.server.port
        self.daemon.stop()
        self.server.stop()
        self.start_daemon(f"http://127.0.0.1:{port}/mcp", "--connect-wait", "300ms")
        self.run_nc("status")
        for verb in (["call", "echo", "message=x"], ["tools"], ["request", "ping"]):
            self.assertEqual(self.run_nc(*verb, code=4)[0], "")
        self.run_nc("status", "--ready", code=4)
        self.run_nc("status")

    def upstream_refuses(self, fault, *options):
        """A new daemon in front of a server that answers its initialize so, until further notice."""
        self.default_daemon.stop()
        self.server.clear_faults()
        self.server.fault(fault, method="initialize", times=1000)
        self.start_daemon(self.server, "--connect-wait", "300ms", *options)

    def test_a_session_that_cannot_be_opened_is_4_whatever_the_reason(self):
        error = '{"code":-32022,"message":"only the newest","data":{"supported":["2026-07-28"]}}'
        for fault, told in (('{"status":400,"body":{"jsonrpc":"2.0","id":$ID,"error":%s}}' % error, "only the newest"),
                            ('{"status":200,"body":{"jsonrpc":"2.0","id":$ID,"error":%s}}' % error, "only the newest"),
                            ({"status": 500}, "HTTP 500"), ({"status": 404}, "HTTP 404"), ({"status": 501}, "HTTP 501"),
                            ('{"status":200,"contentType":"text/html","body":"<p>no"}', "")):
            with self.subTest(fault):
                self.upstream_refuses(fault)
                out, err = self.run_nc("call", "echo", "message=x", code=4)
                self.assertEqual((out, err.count("\n")), ("", 1), err)
                self.assertIn(told, err)
                self.run_nc("status", "--ready", code=4)

    def test_who_sent_the_initialize_gets_the_servers_error_as_it_came(self):
        error = '{"code":-32602,"message":"not with this client","data":{"why":"its name"}}'
        self.upstream_refuses('{"status":400,"body":{"jsonrpc":"2.0","id":$ID,"error":%s}}' % error)
        answer = self.client().request("initialize", {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}})
        self.assertEqual(answer["error"], json.loads(error))

    def test_a_status_in_the_middle_of_a_session_is_1(self):
        self.run_nc("request", "ping")
        self.server.fault({"status": 500}, method="tools/call")
        self.assertIn("HTTP 500", self.run_nc("call", "echo", "message=x", code=1)[1])

    def test_an_answer_that_is_too_large_is_4(self):
        self.daemon.stop()
        self.start_daemon(self.server, "--max-frame", "2K")
        self.run_nc("request", "ping")
        self.server.fault('{"status":200,"body":{"jsonrpc":"2.0","id":$ID,"result":{"x":"%s"}}}' % ("x" * 5000), method="x/y")
        self.assertIn("is over the limit of 2048 bytes (--max-frame)", self.run_nc("request", "x/y", code=4)[1])

    def test_a_line_that_is_too_long_is_the_daemons_refusal_not_the_servers(self):
        self.daemon.stop()
        self.start_daemon(self.server, "--max-frame", "2K")
        err = self.run_nc("call", "echo", "message=" + "x" * 5000, code=1)[1]
        self.assertIn("the daemon refused the request", err)
        self.assertIn("--max-frame", err)

    def test_a_web_page_is_known_without_its_content_type(self):
        self.run_nc("request", "ping")
        page = "<head>\n<title>out of \x1b[31morder</title></head><body>no"
        for kind in ("text/plain", "", "application/json"):
            with self.subTest(kind):
                self.server.fault({"status": 502, "contentType": kind, "body": page}, method="tools/call")
                err = self.run_nc("call", "echo", "message=x", code=1)[1]
                self.assertIn("HTTP 502: out of \\u001b[31morder; ", err)
                self.assertNotIn("<", err)
        with open(self.daemon.stderr_path, "rb") as log:
            self.assertNotIn(b"\x1b", log.read())

    def test_no_progress_bar_where_stderr_is_no_terminal(self):
        self.assertEqual(self.run_nc("call", "slow", "steps:=3", "delayMs:=20")[1], "")


class Waiting(Gathering):
    def test_flushed_ones_are_printed_on_stderr_and_taken(self):
        server, _ = self.opened()
        self.gather(server, "one", "two")
        out, err = self.run_nc("call", "echo", "message=hi")
        self.assertEqual(out, "hi\n")
        self.assertEqual([json.loads(line)["params"]["data"] for line in err.splitlines()], ["one", "two"])
        self.untaken(0)

    def test_keep_leaves_them(self):
        server, _ = self.opened()
        self.gather(server, "one", "two")
        for verb in (["--keep", "call", "echo", "message=hi"], ["call", "--keep", "echo", "message=hi"], ["status"], ["tools"],
                     ["resources"], ["prompts"], ["status", "--ready"]):
            with self.subTest(verb):
                self.assertEqual(self.run_nc(*verb)[1], "")
                self.assertEqual(self.ring()["untaken"], 2)

    def test_listen_count(self):
        server, _ = self.opened()
        self.gather(server, "one", "two", "three")
        out, _ = self.run_nc("listen", "--count", "2")
        self.assertEqual([json.loads(line)["params"]["data"] for line in out.splitlines()], ["one", "two"])

    def test_listen_for(self):
        server, _ = self.opened()
        self.gather(server, "one")
        out, _ = self.run_nc("listen", "--for", "500ms")
        self.assertEqual([json.loads(line)["params"]["data"] for line in out.splitlines()], ["one"])
        self.untaken(0)

    def test_listen_for_0_takes_what_is_there_now_and_ends(self):
        server, _ = self.opened()
        self.gather(server, "one", "two")
        out, _ = self.run_nc("listen", "--for", "0")
        self.assertEqual([json.loads(line)["params"]["data"] for line in out.splitlines()], ["one", "two"])
        self.untaken(0)
        self.assertEqual(self.run_nc("listen", "--for", "0"), ("", ""))

    def test_listen_since_and_seq(self):
        server, _ = self.opened()
        self.gather(server, "one", "two", "three")
        out, _ = self.run_nc("listen", "--since", "1", "--seq", "--count", "2")
        lines = [json.loads(line) for line in out.splitlines()]
        self.assertEqual([line["seq"] for line in lines], [2, 3])
        self.assertEqual([line["message"]["params"]["data"] for line in lines], ["two", "three"])
        self.assertEqual(self.ring()["untaken"], 3)

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


if __name__ == "__main__":
    main()
