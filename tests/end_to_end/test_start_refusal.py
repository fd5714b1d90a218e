"""Under socket activation a daemon that cannot start tells the clients that wait for it; nothing is left in the
socket's queue for which it would be started again."""

import os
import socket

from harness import Case, Client, call, main
from harness.binaries import binary
from harness.frames import request


class StartRefusal(Case):
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
        script = 'export LISTEN_PID=$$ LISTEN_FDS=1; exec "$@" 3<&%d' % self.listener.fileno()
        process = self.run_process("daemon", ["sh", "-c", script, "sh", binary("MCP_BRIDGED"), *options],
                                   pass_fds=(self.listener.fileno(),))
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
        process = self.start("--url", "nonsense", code=64)
        for id in ("a", 7):
            self.assert_refused(asks.line(), id, 64)
        self.assert_refused(silent.line(), None, 64)
        for client in (asks, silent):
            self.assertEqual(client.rest(), b"")
        self.assert_nobody_waits()
        self.assertEqual(process.stderr().count("\n"), 1)

    def test_what_is_wrong_is_for_the_log_alone(self):
        client = self.connect().send(request("tools/list", id=1))
        process = self.start("--url", "https://user:s3cret@example.com:port/mcp", code=64)
        self.assertNotIn("s3cret", client.raw_line().decode())
        self.assertIn("--url", process.stderr())

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
