"""Starting: exit codes with one clear line each, what the environment sets, and what waiting clients are told under socket
activation (BEHAVIOUR, "Start")."""

import os
import socket

from harness import Case, Client, call, main, request


class Refused(Case):
    def test_each_failing_start_has_its_code_and_one_line(self):
        url = "http://127.0.0.1:9/mcp"
        for code, url, options, environment, said in (
                (64, None, (), {"MCP_SERVER_URL": ""}, "MCP_SERVER_URL"),
                (64, url, ("--ring", "\x1b[31m"), {}, "--ring"),
                (78, url, ("--ring", "many", "--check"), {}, "--ring"),
                (78, url, ("--options-file", self.path("nowhere")), {}, "nowhere"),
                (78, url, (), {"MCP_SERVER_TOKEN": "se cret"}, "MCP_SERVER_TOKEN")):
            with self.subTest(options):
                daemon = self.start_daemon(url, *options, ready=False, environment=environment)
                text = daemon.fails(code)
                self.assertEqual(daemon.stdout(), b"")
                self.assertIn(said, text)
                self.assertNotIn("\x1b", text)
                self.assertNotIn("se cret", text)

    def test_a_check_of_what_is_right_is_0(self):
        daemon = self.start_daemon("http://127.0.0.1:9/mcp", "--check", ready=False)
        self.assertEqual(daemon.wait(), 0, daemon.stderr())

    def test_a_check_beside_a_running_daemon_of_the_same_options_is_0(self):
        running = self.start_daemon("http://127.0.0.1:9/mcp", "--pipes")
        check = self.start_daemon("http://127.0.0.1:9/mcp", "--pipes", "--check", ready=False)
        self.assertEqual(check.wait(), 0, check.stderr())
        self.assertTrue(os.path.isdir(self.path("s.pipes")))
        running.status()

    def test_a_check_has_a_line_for_each_problem(self):
        check = self.start_daemon("http://127.0.0.1:9/mcp", "--token-file", self.path("a"), "--policy", self.path("b"), "--check",
                                  ready=False)
        check.exit_codes = (78,)
        self.assertEqual(check.wait(), 78)
        lines = check.stderr().splitlines()
        self.assertEqual(len(lines), 2, lines)
        self.assertTrue(all(line.startswith("mcp-bridged: ") for line in lines), lines)


class Started(Case):
    def test_with_standard_descriptors_closed_nothing_else_gets_their_numbers(self):
        daemon = self.start_daemon("http://127.0.0.1:9/mcp", "--log-level", "debug", before_exec=lambda: os.closerange(0, 3))
        daemon.status()
        self.assertEqual([os.readlink(f"/proc/{daemon.pid}/fd/{number}") for number in range(3)], ["/dev/null"] * 3)


class Environment(Case):
    def test_the_three_of_the_ecosystem(self):
        server = self.upstream("--token", "secret-4711")
        daemon = self.start_daemon(None, socket=None, ready=False, environment={
            "MCP_SERVER_URL": server.url, "MCP_SERVER_TOKEN": "secret-4711", "MCP_SOCKET_PATH": self.path("env")})
        daemon.socket_path = self.path("env")
        daemon.ready()
        self.assertEqual(self.client(daemon).call("echo", {"message": "x"})["id"], 1)
        self.assertEqual({entry["headers"].get("authorization") for entry in server.log()}, {"Bearer secret-4711"})
        daemon.stop()
        self.assertNotIn("secret-4711", daemon.stderr())
        # The DELETE as well.
        self.assertEqual(server.log(http_method="DELETE")[0]["headers"].get("authorization"), "Bearer secret-4711")


class Activated(Case):
    """A daemon that cannot start tells the clients that wait for it; nothing is left in the socket's queue for which it would
    be started again."""

    def setUp(self):
        super().setUp()
        self.listener = socket.socket(socket.AF_UNIX)
        self.addCleanup(self.listener.close)
        self.listener.bind(self.path("s"))
        self.listener.listen(16)

    def connect(self):
        client = Client(self.path("s"))
        self.addCleanup(client.close)
        return client

    def start(self, *options, code):
        process = self.start_activated(self.listener, *options)
        self.assertEqual(process.wait(), code, process.stderr())
        return process

    def assert_refused(self, answer, id, code):
        self.assert_error(answer, -32000, id, kind="shutdown", delivered="no")
        self.assertIn(f"exit status {code}", answer["error"]["message"])
        self.assertIn("journalctl -u ", answer["error"]["message"])

    def assert_nobody_waits(self):
        self.listener.setblocking(False)
        with self.assertRaises(BlockingIOError):
            self.listener.accept()
        self.assertTrue(os.path.exists(self.path("s")), "the service manager's socket was removed")

    def test_each_request_of_who_waits_is_answered_and_the_queue_is_empty(self):
        asks = self.connect().send(call("echo", {"message": "x"}, "a"), request("tools/list", id=7),
                                   {"jsonrpc": "2.0", "method": "notifications/initialized"}, "no JSON")
        silent = self.connect()
        gone = self.connect()
        gone.close()
        process = self.start("--url", "https://user:s3cret@example.com:port/mcp", code=64)
        for id in ("a", 7):
            self.assert_refused(asks.line(), id, 64)
        refusal = silent.line()
        self.assert_refused(refusal, None, 64)
        self.assertNotIn("s3cret", str(refusal))  # what is wrong is for the log alone
        self.assertIn("--url", process.stderr())
        for client in (asks, silent):
            self.assertEqual(client.rest(), b"")
        self.assert_nobody_waits()
        self.assertEqual(process.stderr().count("\n"), 1)

    def test_every_kind_of_failing_start_is_told(self):
        taken = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(taken.close)
        for options, code in ((("--config", self.path("missing.json")), 78), (("--", "/nonexistent/program"), 69),
                              (("--url", "http://127.0.0.1:9/mcp", "--http", f":{taken.getsockname()[1]}"), 73)):
            with self.subTest(code):
                client = self.connect().send(request("tools/list", id=code))
                self.start(*options, code=code)
                self.assert_refused(client.line(), code, code)
                self.listener.setblocking(True)
                self.assert_nobody_waits()

    def test_a_flood_of_bytes_is_answered_once_and_bounded(self):
        client = self.connect()
        client.socket.setblocking(False)
        try:
            while True:
                client.socket.send(b"x" * 65536)
        except BlockingIOError:
            pass
        self.start(code=64)
        self.assert_refused(client.line(), None, 64)


if __name__ == "__main__":
    main()
