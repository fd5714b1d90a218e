"""The plainest clients: printf and socat, nc -U, a few lines of Python, and mcp-nc as a pipe."""

import json
import subprocess

from harness import Case, call, main, notification
from harness.binaries import binary


class PlainTools(Case):
    def setUp(self):
        super().setUp()
        self.server, self.daemon = self.bridge()
        self.slow = call("slow", {"steps": 1, "delayMs": 700}, "slow")

    def shell(self, script):
        out, _ = self.run_tool(["bash", "-c", script, "bash", self.daemon.socket_path, binary("MCP_NC")])
        return [json.loads(line) for line in out.splitlines()]

    def test_printf_and_socat(self):
        # Without -t socat leaves half a second after its input has ended.
        lines = self.shell(f"printf '%s\\n' '{call('echo', {'message': 'x'}, 1)}' '{self.slow}' | socat -t 300 - UNIX:$1")
        self.assertEqual([line["id"] for line in lines], [1, "slow"])

    def test_without_a_line_end(self):
        lines = self.shell(f"printf '%s' '{self.slow}' | nc -U -N $1")
        self.assertEqual([line["id"] for line in lines], ["slow"])

    def test_a_heredoc_into_mcp_nc(self):
        lines = self.shell(f"$2 -s $1 <<'END'\n{call('echo', {'message': 'x'}, 1)}\n\n{self.slow}\nEND")
        self.assertEqual([line["id"] for line in lines], [1, "slow"])


class Relay(Case):
    def setUp(self):
        super().setUp()
        self.server, self.daemon = self.bridge()

    def pipe(self, *options):
        return self.nc(*options, stdin=subprocess.PIPE)

    def test_notifications_come_as_they_arrive(self):
        nc = self.pipe()
        self.others(1)
        nc.stdin.write((call("echo", {"message": "x"}, 1) + "\n").encode())
        nc.stdin.flush()
        self.assertIn('"id":1', nc.stdout_line(0))
        self.server.emit(notification("notifications/message", {"level": "info", "data": "now"}))
        self.assertIn("now", nc.stdout_line(1))
        nc.stdin.close()
        self.assertEqual(nc.wait(), 0)

    def test_a_closed_stdout_ends_it_quietly(self):
        out, err = self.run_tool(["bash", "-c", "{ for n in $(seq 2000); do printf '%s\\n' \"$3\"; done; } | \"$2\" -s \"$1\" | head -n 1; echo \"${PIPESTATUS[1]}\"",
                                  "bash", self.daemon.socket_path, binary("MCP_NC"), call("echo", {"message": "x" * 100}, 1)])
        self.assertEqual(err, "")
        self.assertEqual(out.splitlines()[1], "0")

    def test_when_the_daemon_ends_it_ends(self):
        nc = self.pipe()
        self.others(1)
        self.daemon.terminate()
        self.assertIn(nc.wait(), (0, 3))

    def test_it_waits_for_a_socket_that_is_not_there_yet(self):
        nc = self.run_process("nc", [binary("MCP_NC"), "-s", self.path("later"), "--wait", "30", "call", "echo", "message=hi"])
        self.start_daemon(self.server, socket="later")
        self.assertEqual(nc.wait(), 0, nc.stderr())
        self.assertEqual(nc.stdout(), b"hi\n")


if __name__ == "__main__":
    main()
