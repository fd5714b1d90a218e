"""How long what waits for the upstream, and no longer (BEHAVIOUR, "Deadlines")."""

import os
import signal
import sys
import time

from faults import FaultCase, call, eventually, main_parallel, request, text_of
from harness.old_sse_server import OldSseServer

WAYWARD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support", "wayward_server", "wayward_server.py")


class Away(FaultCase):
    def setUp(self):
        super().setUp()
        self.server = self.upstream()
        self.proxy_ = self.proxy(self.server.port)

    def open_session(self, *options):
        daemon = self.start_daemon(self.proxy_, "--keepalive", "0", *options)
        client = self.client()
        client.fence()
        self.server.streams(1)
        return daemon, client

    def go_away(self):
        self.proxy_.command("refuse on")
        self.proxy_.command("reset-all")

    def test_a_request_held_for_another_try_is_answered_at_once_when_the_daemon_ends(self):
        daemon, client = self.open_session("--grace", "20s")
        self.go_away()
        client.send(call("echo", {"message": "held"}, 1))
        daemon.status_when(lambda status: status["upstream"]["state"] == "waiting", "away")
        began = time.monotonic()
        daemon.signal(signal.SIGTERM)
        self.assert_error(client.line(), -32000, 1, "shutdown", "no")
        self.assertEqual(daemon.wait(), 0)
        self.assertLess(time.monotonic() - began, 10)

    def test_an_initialize_on_a_connection_that_is_dead_does_not_hold_up_everybody_for_ever(self):
        self.proxy_.command("accept-hang on")
        self.start_daemon(self.proxy_, "--connect-wait", "1s")
        client = self.client()
        self.assert_error(client.call("echo", {}, 1), -32000, 1, "timeout", "no")
        # New connections are well; the one with the initialize stays as it is, and nobody says so.
        self.proxy_.command("hang-all")
        self.proxy_.command("accept-hang off")
        eventually(lambda: "result" in client.call("echo", {"message": "x"}, 2), "an answer")
        self.assertEqual(len(self.server.log("initialize")), 1)

    def test_the_server_stream_comes_back_with_the_first_request(self):
        daemon, client = self.open_session("--log-level", "debug", "--connect-wait", "500ms")
        self.go_away()
        # By the fifth failure its next try is seconds away.
        daemon.logged("the server stream ended (not opened)", 5)
        self.proxy_.command("refuse off")
        eventually(lambda: "result" in client.call("echo", {"message": "x"}, 1), "an answer")
        called = self.server.log("tools/call")[-1]["atMs"]
        self.server.streams(1)
        self.assertLess(self.server.log(http_method="GET")[-1]["atMs"] - called, 1200)


class BackAgain(FaultCase):
    """The server is up again while a request waits, however often it was tried in vain before."""

    def back_while_waiting(self, proxy, in_vain):
        client = self.client()
        client.fence() if in_vain == 0 else client.call("echo", {"message": "x"}, "first")
        proxy.command("refuse on")
        proxy.command("reset-all")
        for id in range(in_vain):
            self.assertIn("error", client.call("echo", {}, id))
        client.send(call("echo", {"message": "waited"}, 99))
        accepted = proxy.stats()["accepted"]
        # Past the one try that a new request brings near.
        self.assertFalse(client.wait_readable(1.2))
        proxy.command("refuse off")
        began = time.monotonic()
        self.assertEqual(text_of(client.answer(99)), "waited")
        self.assertLess(time.monotonic() - began, 1.2)
        self.assertGreater(proxy.stats()["accepted"], accepted)

    def test_over_streamable_http(self):
        proxy = self.proxy(self.upstream().port)
        self.start_daemon(proxy, "--keepalive", "0", "--connect-wait", "3s")
        self.back_while_waiting(proxy, 2)

    def test_over_http_and_sse(self):
        server = OldSseServer()
        self.addCleanup(server.stop)
        proxy = self.proxy(int(server.origin.rpartition(":")[2]))
        self.start_daemon(proxy.url.replace("/mcp", "/sse"), "--keepalive", "0", "--connect-wait", "3s")
        self.back_while_waiting(proxy, 2)

    def test_a_child_that_needs_several_starts(self):
        # Ends four times before it stays.
        script = ("import os,sys\nn=len(os.listdir('.'))\nopen(f'start-{n}','w').close()\n"
                  "if len([x for x in os.listdir('.') if x.startswith('start-')]) < 5: sys.exit(7)\n"
                  f"os.execv(sys.executable, [sys.executable, {WAYWARD!r}])\n")
        path = self.write("late.py", script)
        self.start_daemon(None, "--connect-wait", "20s", "--", sys.executable, path)
        client = self.client()
        began = time.monotonic()
        self.assertIn("result", client.request("tools/list", None, 1))
        # Half a second from each end to the next start, and the time it takes to start.
        self.assertLess(time.monotonic() - began, 5)


class Slowly(FaultCase):
    def test_an_unanswered_ping_makes_the_connections_anew(self):
        server = self.upstream("--keep-alive-timeout", "60")
        proxy = self.proxy(server.port)
        daemon = self.start_daemon(proxy, "--keepalive", "500ms")
        client = self.client()
        client.fence()
        server.streams(1)
        # Several idle connections, and on none of those that are there anything passes any more.
        client.send(*[call("slow", {"steps": 1, "delayMs": 100}, id) for id in range(5)])
        self.collect(client, 5)
        proxy.command("hang-all")
        began = time.monotonic()
        daemon.logged("has not answered a ping for 15 s: reconnecting")
        self.assertGreater(time.monotonic() - began, 14)
        client.send(*[request("tools/list", None, id) for id in range(5)])
        for answer in self.collect(client, 5).values():
            self.assertIn("result", answer)
        server.log(http_method="GET", wait=2)
        self.assertEqual(daemon.status()["upstream"]["reopened"], 0)


if __name__ == "__main__":
    main_parallel(8)
