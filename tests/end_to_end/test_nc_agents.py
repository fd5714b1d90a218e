"""What programs and language models rely on: one JSON value from each verb, errors too, and a page to begin with."""

import json
import os

from harness import Case, main


class Agents(Case):
    def setUp(self):
        super().setUp()
        self.server, self.daemon = self.bridge()

    def error(self, *words, code, **options):
        """The error of a verb that fails: {kind, code, delivered, message, hint}."""
        out, err = self.run_nc(*words, "--json", code=code, **options)
        self.assertEqual(out.count("\n"), 1, out)
        error = json.loads(out)["error"]
        self.assertLessEqual({"kind", "code", "delivered", "message", "hint"}, set(error))
        self.assertTrue(err.startswith("mcp-nc: "))
        return error

    def test_an_error_has_one_shape_whatever_it_is_about(self):
        error = self.error("call", "fail", "message=no such user", code=1)
        self.assertEqual((error["kind"], error["delivered"], error["message"]), ("tool", "yes", "no such user"))
        self.assertTrue(error["result"]["isError"])
        error = self.error("request", "no/such/method", code=1)
        self.assertEqual((error["kind"], error["code"], error["delivered"]), ("server", -32601, "yes"))
        error = self.error("call", "add", "a=x", "b=1", code=2)
        self.assertEqual((error["kind"], error["delivered"]), ("usage", "no"))
        self.assertIn("add a=<number> b=<number>", error["hint"])
        self.assertEqual(self.error("call", "ehco", code=1)["hint"], f"{self.typed_nc} tools echo")
        self.assertEqual(self.error("frobnicate", code=2)["kind"], "usage")
        self.assertEqual(self.error("read", code=2)["kind"], "usage")
        self.assertEqual(self.error("tools", code=3, socket=self.path("nowhere"))["kind"], "daemon")
        error = self.error("-w", "200ms", "call", "slow", "steps=100", "delayMs=100", code=124)
        self.assertEqual((error["kind"], error["delivered"]), ("timeout", "unknown"))

    def test_an_upstream_that_is_away_is_said_with_its_kind(self):
        self.daemon.stop()
        self.start_daemon("http://127.0.0.1:9/mcp", "--connect-wait", "100ms")
        error = self.error("tools", code=4)
        self.assertEqual((error["kind"], error["delivered"]), ("connect", "no"))
        out, _ = self.run_nc("agent-help")
        self.assertIn("The server cannot be used now: cannot reach ", out)

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
        self.assertEqual(self.run_nc("call", "mirror", 'items:=[{"name":"a"},{"name":"b","n":0.10}]', "--field",
                                     "items.1.name")[0], "b\n")
        self.assertEqual(self.run_nc("call", "mirror", 'items:=[{"n":0.10}]', "--field", "items[0].n")[0], "0.10\n")
        self.assertEqual(self.run_nc("call", "echo", "message=x", "--field", "content.0.text")[0], "x\n")
        self.assertEqual(self.run_nc("read", "demo://readme", "--field", "contents.0.uri")[0], "demo://readme\n")
        out, err = self.run_nc("call", "echo", "message=x", "--field", "no.such", code=1)
        self.assertEqual(out, "")
        self.assertIn("no.such", err)

    def test_a_pipe_that_is_closed_early_is_no_error(self):
        nc = self.path("nc.sh")
        self.write("nc.sh", f'set -o pipefail; "$@" | head -c 10 >/dev/null; echo "exit ${{PIPESTATUS[0]}}"\n', 0o700)
        from harness.binaries import binary
        out, err = self.run_tool(["bash", nc, binary("MCP_NC"), "-s", self.daemon.socket_path, "call", "big", "bytes=5000000"])
        self.assertEqual((out, err), ("exit 0\n", ""))

    def test_the_page_for_a_model_is_short_and_marks_the_servers_words(self):
        self.daemon.stop()
        server = self.upstream("--stateless")
        instructions = json.dumps("Do \u001b[31mthis.\n" + "very " * 1000)
        answer = '{"status":200,"body":{"jsonrpc":"2.0","id":$ID,"result":{' \
                 '"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"Server\\u001b[0m","version":"7"},' \
                 '"instructions":%s}}}' % instructions
        server.fault(answer, method="initialize")
        server.fault('{"status":200,"body":{"jsonrpc":"2.0","id":$ID,"result":{"tools":[%s]}}}' % ",".join(
            '{"name":"a-tool-with-a-long-name-%d"}' % number for number in range(200)), method="tools/list", times=9)
        self.start_daemon(server)
        out, _ = self.run_nc("agent-help")
        self.assertLess(len(out.encode()), 5300)
        self.assertNotIn("\u001b", out)
        for part in ("Server\\u001b[0m 7, MCP 2025-11-25 (legacy)", "a-tool-with-a-long-name-0, ", "more: mcp-nc tools --brief",
                     "mcp-nc call NAME", "Exit status", "its words, not your user's", "> Do \\u001b[31mthis.\n> very", "[cut;"):
            self.assertIn(part, out)


if __name__ == "__main__":
    main()
