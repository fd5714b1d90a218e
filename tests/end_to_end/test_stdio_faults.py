"""A local server that crashes, hangs or is killed, and a daemon that is: nothing stays, and it goes on (BEHAVIOUR,
"Local server: its process")."""

import os
import signal
import subprocess
import sys
import unittest

from harness import Client, call, eventually, main
from harness.binaries import binary, is_sanitized, release_binary
from harness.local_server import LocalServer, children, runs

PROGRAM = release_binary("MCP_BRIDGED")

# A server that starts in a millisecond. `crash` in a request ends it.
TINY = """
while read -r line; do
  id=${line#*'"id":'}
  id=${id%%[!0-9]*}
  case $line in
    *'"initialize"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"tiny","version":"1"}}}' ;;
    *crash*) sleep 100000 & exit 3 ;;
    *last-words*) printf %s '{"jsonrpc":"2.0","id":'$id',"result":{"content":[]}}'; exit 5 ;;
    *half-a-word*) printf %s '{"jsonrpc":"2.0","id":'$id',"result":{"conte'; exit 6 ;;
    *'"id":'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"content":[]}}' ;;
  esac
done
"""


class Crashes(LocalServer):
    def test_requests_in_flight_end_as_unknown_and_the_next_ones_are_served(self):
        daemon = self.start_local()
        first = self.child_pid()
        client = self.client()
        client.send(call("silent", {}, 1), call("crash", {}, 2))
        for _ in range(2):
            answer = client.line()
            error = self.assert_error(answer, -32000, answer["id"], "closed", "unknown")
            self.assertIn("exit code 3", error["message"])
        self.another_child(first)
        daemon.logged("session with")
        self.assertEqual(daemon.status()["upstream"]["reopened"], 1)

    def test_that_the_session_is_another_one_is_told_to_everybody_and_kept_for_who_comes_later(self):
        daemon = self.start_local()
        first = self.child_pid()
        client, listener = self.client(), self.client()
        client.call("crash", {}, 2)
        self.another_child(first)
        # The next caller's call simply succeeds.
        self.assertIn("result", self.client().call("echo", {"message": "x"}, 3))
        told = listener.line()
        self.assertEqual(told["method"], "notifications/bridge/session_reopened")
        self.assertEqual(told["params"]["reason"], "child_ended")
        self.assertRegex(told["params"]["at"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
        self.assertEqual(daemon.status()["upstream"]["lastReopening"]["reason"], "child_ended")
        page = self.client().request("bridge/notifications", {"since": 0})["result"]
        self.assertIn(told["method"], [entry["message"]["method"] for entry in page["notifications"]])

    def test_a_request_that_only_reads_is_sent_again(self):
        self.start_local(environment={"WAYWARD_CRASHED": self.path("crashed")})
        client = self.client()
        answer = client.request("resources/read", {"uri": "crash:once"})
        self.assertEqual(answer["result"], {"contents": []})

    def test_a_request_that_it_has_not_read_before_it_dies_is_sent_again(self):
        self.start_local()
        first = self.child_pid()
        client = self.client()
        client.send(call("stop-reading", {}, 1))
        self.assertEqual(client.line()["params"]["data"], "deaf")
        client.send(call("echo", {"message": "unread"}, 2), call("echo", {"message": "x" * 300_000}, 3), call("echo", {"message": "unwritten"}, 4))
        self.in_flight(4)
        os.kill(first, signal.SIGKILL)
        self.assert_error(client.answer(1), -32000, 1, "closed", "unknown")
        self.assertEqual(client.answer(2)["result"]["content"][0]["text"], "unread")
        self.assertEqual(len(client.answer(3)["result"]["content"][0]["text"]), 300_000)
        self.assertEqual(client.answer(4)["result"]["content"][0]["text"], "unwritten")

    def test_clients_of_one_that_ends_at_its_start_are_told_its_last_words_and_not_only_after_connect_wait(self):
        daemon = self.start_local("--crash", options=["--connect-wait", "300s"])
        clients = [self.client() for _ in range(3)]
        for client in clients:
            client.send(call("echo"))
        for client in clients:
            error = self.assert_error(client.line(), -32000, 1, "closed", "no")
            self.assertEqual(error["message"], f"{sys.executable} ended with exit code 7 before it answered anything; "
                             "its stderr ends with: starting | no account for None")
        daemon.logged("ended with exit code 7 (pid")  # where its stderr has lines of its own

    def test_one_that_does_not_answer_its_initialize_is_not_ready_once_a_request_has_failed(self):
        daemon = self.start_daemon(None, "--connect-wait", "300ms", "--era", "legacy", "--", "sh", "-c",
                                   f"while [ ! -e {self.path('go')} ]; do sleep 0.1; done; {TINY}")
        self.assertTrue(daemon.status()["upstream"]["ready"])
        self.assert_error(self.client().call("echo"), -32000, 1, "timeout", "no")
        self.assertFalse(daemon.status()["upstream"]["ready"])
        self.write("go", "")
        daemon.status_when(lambda status: status["upstream"]["ready"], "a session")

    def test_its_last_words_count_though_their_line_is_not_ended(self):
        daemon = self.start_daemon(None, "--", "sh", "-c", TINY)
        self.assertIn("result", self.client().call("last-words"))
        daemon.logged("ended with exit code 5")
        # Half a line is no answer.
        self.assert_error(self.client().call("half-a-word"), -32000, 1, "closed", "unknown")
        daemon.logged("sh wrote to its stdout what is no message")

    def test_one_that_closes_its_stdout_and_goes_on_is_replaced(self):
        daemon = self.start_local()
        first = self.child_pid()
        self.assert_error(self.client().call("close-stdout"), -32000, 1, "closed", "unknown")
        self.assert_gone(first)
        self.another_child(first)
        daemon.logged("it is killed")

    def test_thirty_crashes_leave_nothing(self):
        daemon = self.start_daemon(None, "--keepalive", "0", "--", "sh", "-c", TINY, program=PROGRAM)
        client = self.client()
        numbers = iter(range(10_000))

        def crash(times):
            for _ in range(times):
                client.call("echo", {}, next(numbers))  # served: the next crash is the first one again
                self.assert_error(client.call("crash", {}, number := next(numbers)), -32000, number, "closed")

        def rest(watcher):
            """One run, and the watcher has done with those before."""
            client.call("echo", {}, next(numbers))
            eventually(lambda: children(daemon.pid) == {watcher: "S"},
                       lambda: f"the watcher alone, at rest: {children(daemon.pid)}")
            eventually(lambda: len(children(watcher)) == 1, lambda: f"one child of the watcher: {children(watcher)}")

        crash(6)
        watcher, = children(daemon.pid)
        rest(watcher)
        before = (daemon.fds(), daemon.status_field("RssAnon"), len(os.listdir(f"/proc/{watcher}/fd")))
        crash(24)
        rest(watcher)
        self.assertEqual(daemon.fds(), before[0])
        self.assertEqual(len(os.listdir(f"/proc/{watcher}/fd")), before[2])
        if not is_sanitized(PROGRAM):
            self.assertLess(daemon.status_field("RssAnon") - before[1], 512)


class Kills(LocalServer):
    def test_killing_the_child_kills_its_group_and_a_new_one_runs(self):
        daemon = self.start_local()
        first = self.child_pid()
        others = [int(self.tool("grandchild")), int(self.tool("orphan")), int(self.tool("orphan", {"session": False}))]
        os.kill(first, signal.SIGKILL)
        self.assert_gone(first, *others)
        self.another_child(first)
        daemon.logged("was ended by signal 9")

    def test_killing_the_daemon_leaves_neither_child_nor_grandchild(self):
        daemon = self.start_local("--linger", "--ignore-term")
        pids = [self.child_pid(), int(self.tool("grandchild")), int(self.tool("orphan")), int(self.tool("orphan", {"session": False}))]
        pids += children(daemon.pid)
        self.assertTrue(all(runs(pid) for pid in pids))
        daemon.crash()
        self.assert_gone(*pids)

    def test_killing_the_watcher_ends_the_child_and_both_are_replaced(self):
        daemon = self.start_local()
        first = self.child_pid()
        watcher, = children(daemon.pid)
        os.kill(watcher, signal.SIGKILL)
        self.assert_gone(watcher, first)
        self.another_child(first)
        daemon.logged("the watcher process")
        eventually(lambda: len(children(daemon.pid)) == 1 and watcher not in children(daemon.pid), "another watcher")

    def test_an_interrupt_of_the_whole_foreground_group_ends_in_order(self):
        daemon = self.start_local(before_exec=lambda: os.setpgid(0, 0))
        pid = self.child_pid()
        os.killpg(daemon.pid, signal.SIGINT)
        self.assertEqual(daemon.wait(), 0)
        self.assertFalse(runs(pid))

    def test_told_to_end_while_the_child_is_being_started_it_ends_in_order(self):
        for _ in range(20):
            # The socket is there just before the child is.
            self.assertEqual(self.start_local().terminate(), 0)


def may_unshare():
    return subprocess.run(["unshare", "--pid", "--fork", "true"], check=False, stderr=subprocess.DEVNULL).returncode == 0


@unittest.skipUnless(may_unshare(), "no PID namespace of one's own here")
class FirstProcess(LocalServer):
    """The daemon is process 1, as in a container without an init. With a /proc of its own: a sanitizer looks into it."""

    def start_first(self, *options, **how):
        # The daemon's own idea of its pid is of no use here: it is found by its parent.
        launcher = self.run_process("unshare", ["unshare", "--pid", "--mount-proc", "--fork", "--kill-child", binary("MCP_BRIDGED"), "--socket", self.path("s"),
                                                "--grace", "200ms", *options], **how)
        eventually(lambda: os.path.exists(self.path("s")) or not launcher.running(), "the socket")
        self.assertTrue(launcher.running(), launcher.stderr())
        self.client = lambda *_: Client(self.path("s"))
        first, = children(launcher.pid)
        daemon, = children(first)
        return launcher, first, daemon

    def test_whatever_ends_under_it_is_reaped(self):
        _, first, daemon = self.start_first("--", *self.wayward())
        self.tool("orphan")
        # One of somebody else's: a process that was entered from outside and left its child behind.
        entered = self.run_process("nsenter", ["nsenter", "--target", first, "--pid", "sh", "-c", "sleep 0 & exec true"])
        self.assertEqual(entered.wait(), 0)
        eventually(lambda: children(first) == {daemon: "S"}, lambda: f"no zombies: {children(first)}")
        watcher, = children(daemon)
        eventually(lambda: "Z" not in children(watcher).values(), lambda: f"no zombies: {children(watcher)}")

    def test_signals_reach_the_daemon_and_its_exit_code_is_the_first_processs(self):
        launcher, first, daemon = self.start_first("--", *self.wayward())
        os.kill(first, signal.SIGHUP)
        launcher.logged("were read again")
        os.kill(first, signal.SIGTERM)
        self.assertEqual(launcher.wait(), 0)
        self.assertFalse(runs(daemon))

    def test_a_failing_start_has_its_exit_code(self):
        failing = self.run_process("unshare", ["unshare", "--pid", "--mount-proc", "--fork", binary("MCP_BRIDGED"), "--", "there-is-no-such-program"])
        self.assertEqual(failing.wait(), 69)


if __name__ == "__main__":
    main()
