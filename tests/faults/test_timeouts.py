"""How long what waits for the upstream, and no longer (BEHAVIOUR, "Deadlines")."""

import time

from faults import FaultCase, call, eventually, main_parallel, request, text_of, within


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
        self.assertLess(time.monotonic() - began, within(1.2))
        self.assertGreater(proxy.stats()["accepted"], accepted)

    def test_over_streamable_http(self):
        proxy = self.proxy(self.upstream().port)
        self.start_daemon(proxy, "--keepalive", "0", "--connect-wait", "3s")
        self.back_while_waiting(proxy, 2)


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
