"""Many clients, half-closes, the sequential mode, and descriptors running out (BEHAVIOUR, "Socket")."""

import os
import resource
import time

from harness import Case, Client, call, eventually, main, request, text_of
from harness.binaries import release_binary


class Shutdown(Case):
    def test_what_the_bridge_answers_itself_is_answered_before_the_end(self):
        """`bridge/tool` waits for a list of the tools from a server that nobody can reach."""
        daemon = self.start_daemon("http://127.0.0.1:1/mcp", "--grace", "10ms")
        client = self.client()
        client.send(request("bridge/tool", {"name": "echo"}, 1))
        client.request("bridge/status", id=2)
        daemon.stop()
        self.assert_error(client.answer(1), -32000, id=1, kind="shutdown")
        client.expect_closed()


class HalfClose(Case):
    """BEHAVIOUR, "Socket: half-close and close"."""

    def test_all_outstanding_answers_come_and_then_the_end(self):
        self.bridge()
        client = self.client()
        client.send(*[call("slow", {"steps": 2, "delayMs": 50 * (n + 1)}, n) for n in range(4)]).half_close()
        self.assertEqual([message["id"] for message in client.lines(4)], [0, 1, 2, 3])
        client.expect_closed()

    def test_a_full_close_after_it_is_leaving(self):
        server, _ = self.bridge("--orphans", "cancel")
        client = self.client()
        client.send(call("slow", {"steps": 1000, "delayMs": 50}, 1)).half_close()
        server.log("tools/call", wait=1)
        client.close()
        server.log("notifications/cancelled", wait=1)


class Many(Case):
    """BEHAVIOUR, "Socket: connections at a time"."""

    def test_beyond_the_limit_they_wait_and_are_served_in_turn(self):
        self.bridge("--max-clients", "3")
        clients = [self.client() for _ in range(3)]
        for client in clients:
            client.fence()
        waiting = [self.client() for _ in range(5)]
        for n, client in enumerate(waiting):
            client.send(call("echo", {"message": f"waited {n}"}, 1))
        clients[0].fence()
        self.assertFalse(any(client.readable() for client in waiting))
        for n, client in enumerate(waiting):
            (clients + waiting)[n].close()
            self.assertEqual(text_of(client.line()), f"waited {n}")


class Sequential(Case):
    def test_their_bridge_requests_are_answered_at_once(self):
        self.bridge("--max-clients", "1")
        first, second = self.client(), self.client()
        first.fence()
        second.send(call("echo", {"message": "waits"}, 1), request("bridge/status", None, "s"))
        self.assertIn("uptimeMs", second.line()["result"])
        self.assertFalse(second.readable())
        first.close()
        self.assertEqual(text_of(second.line()), "waits")

    def test_of_those_that_wait_256_are_answered_at_most(self):
        self.bridge("--max-clients", "1")
        first = self.client()
        first.fence()
        waiting = [self.client() for _ in range(270)]
        for client in waiting:
            client.send(request("bridge/status", None, "s"))
        eventually(lambda: sum(client.readable() for client in waiting) >= 255, "answers to those that wait")
        first.fence()
        self.assertLessEqual(sum(client.readable() for client in waiting), 256)


class DescriptorsRunOut(Case):
    LIMIT = 40

    def test_accepting_pauses_and_resumes_and_does_not_spin(self):
        def few():
            resource.setrlimit(resource.RLIMIT_NOFILE, (self.LIMIT, self.LIMIT))

        server = self.upstream()
        # The sanitizer's own check of a pointer opens a pipe, and takes its failing for a bad pointer.
        daemon = self.start_daemon(server, before_exec=few, program=release_binary("MCP_BRIDGED"))
        first = self.client()
        first.fence()
        crowd = [Client(daemon.socket_path) for _ in range(self.LIMIT + 20)]
        for client in crowd:
            client.send(call("echo", {"message": "x"}, 1))
        # Whoever got in is served, on the connections that are there.
        first.fence()
        before, began = daemon.cpu_seconds(), time.monotonic()
        # Time has to pass here, since it is the absence of work that is measured.
        time.sleep(2)
        self.assertLess(daemon.cpu_seconds() - before, 0.2 * (time.monotonic() - began))
        for client in crowd[:self.LIMIT // 2]:
            client.close()
        # Room again: the others are accepted and answered as they come.
        for client in crowd[self.LIMIT // 2:]:
            self.assertEqual(client.line()["id"], 1)
            client.close()
        first.fence()
        self.others(1)
        self.assertLess(daemon.stderr().count("\n"), 60, daemon.stderr())
        self.assertTrue(daemon.running())

    def test_idle_clients_leave_the_session_what_it_needs(self):
        few = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
        daemon = self.start_daemon(self.upstream(), before_exec=few, program=release_binary("MCP_BRIDGED"))
        daemon.logged("the limit of file descriptors is 64")
        crowd = [Client(daemon.socket_path) for _ in range(60)]
        daemon.logged("further ones wait until one has left")
        # No session was opened before.
        crowd[0].send(call("echo", {"message": "x"}, 1))
        self.assertEqual(text_of(crowd[0].line()), "x")
        for client in crowd:
            client.close()
        self.assertEqual(text_of(self.client().call("echo", {"message": "y"})), "y")
        self.assertNotIn("cannot accept", daemon.stderr())


class Environment(Case):
    def test_a_pid_and_a_command_are_in_the_status(self):
        _, daemon = self.bridge()
        self.client()
        status = self.others(1)
        for client in status["clients"]:
            self.assertEqual((client["pid"], client["uid"], client["kind"]), (os.getpid(), os.getuid(), "unix"))
            self.assertIn("python", client["command"])


if __name__ == "__main__":
    main()
