"""Connections that break, hang or trickle: nothing is called twice, nobody waits for ever (BEHAVIOUR, "Session:
retried requests")."""

import time

from harness import Case, call, eventually, main, request, text_of, within
from harness.scripted_server import ScriptedServer, answer_to, good, json_response


class Broken(Case):
    def setUp(self):
        super().setUp()
        self.server = self.upstream()
        self.proxy_ = self.proxy(self.server.port)
        self.start_daemon(self.proxy_)
        self.asker = self.client()
        self.asker.fence()
        self.server.forget_log()

    def calls(self):
        return len(self.server.log("tools/call"))

    def test_what_only_reads_is_sent_again(self):
        self.server.fault({"closeBeforeAnswer": True}, method="tools/list")
        self.asker.send(request("tools/list", None, 1))
        self.assertIn("tools", self.asker.line()["result"])
        self.assertEqual(len(self.server.log("tools/list")), 2)

    def test_a_connection_closed_while_idle_is_replaced_unnoticed(self):
        # Closed by the server; the FIN is there before the next request.
        self.proxy_.command("close-all")
        eventually(lambda: self.proxy_.stats()["open"] <= 1, "the end of the idle connections")
        self.assertEqual(text_of(self.asker.call("echo", {"message": "again"})), "again")

    def test_who_stops_sending_while_nobody_listens_does_not_keep_it_busy(self):
        # A client that has sent all it has to say, and connections to the server that end while they are idle: the kernel
        # goes on saying that there is something to read.
        waiting = self.client()
        waiting.send(call("slow", {"steps": 1, "delayMs": 600}, 1))
        waiting.half_close()
        self.server.log("tools/call", wait=1)
        self.asker.fence()
        spent = self.processor_time()
        waiting.answer(1)
        self.proxy_.command("close-all")
        eventually(lambda: self.proxy_.stats()["open"] <= 1, "the end of the idle connections")
        time.sleep(0.3)
        # Of a second, with the client's answer and a server stream that comes back; who spins has all of it.
        self.assertLess(self.processor_time() - spent, 0.3)

    def processor_time(self):
        with open(f"/proc/{self.default_daemon.pid}/schedstat", encoding="ascii") as file:
            return int(file.read().split()[0]) / 1e9

    def test_a_connection_reset_while_idle_is_replaced_unnoticed(self):
        # No byte of the request leaves on it, so it can go on another.
        for id in range(5):
            self.proxy_.command("reset-all")
            self.assertEqual(text_of(self.asker.call("echo", {"message": "again"}, id)), "again")
        self.assertEqual(self.calls(), 5)


class Slow(Case):
    def test_byte_by_byte(self):
        server, _ = self.bridge()
        client = self.client()
        client.fence()
        server.fault({"trickleMs": 2}, method="tools/call")
        self.assertEqual(text_of(client.call("echo", {"message": "t" * 100})), "t" * 100)
        server.fault({"trickleMs": 2}, method="tools/call")
        client.send(call("slow", {"steps": 2, "delayMs": 1}, 2, token="t"))
        self.assertEqual(len(client.lines(3)), 3)

    def test_hanging_ends_by_the_timeout_and_the_upstream_is_told(self):
        server, _ = self.bridge("--request-timeout", "500ms")
        client = self.client()
        client.fence()
        for action in ({"hang": True}, {"sse": [{"raw": ": x\n\n"}], "end": "keep"}):
            with self.subTest(action):
                server.forget_log()
                server.fault(action, method="tools/call")
                client.send(call("echo", {}, 1))
                self.assert_error(client.line(), -32000, 1, "timeout", "unknown")
                cancelled, = server.bodies("notifications/cancelled", wait=1)
                self.assertEqual(str(cancelled["params"]["requestId"]), server.log("tools/call")[0]["id"])
                self.in_flight(0)

    def test_after_the_answer_the_stream_holds_nothing_for_ever(self):
        server, _ = self.bridge("--max-inflight", "1")
        client = self.client()
        client.fence()
        server.fault('{"sse":[{"data":{"jsonrpc":"2.0","id":$ID,"result":{"n":1}}}],"end":"keep"}', method="tools/call")
        client.send(call("echo", {}, 1))
        self.assertEqual(client.line()["result"], {"n": 1})
        self.assertEqual(client.fence(), [])
        eventually(lambda: server.state()["openConnections"] <= 4, "the end of the answered stream")


class Aged(Case):
    """What must not be sent twice goes on no connection that the server may be about to close."""

    def connections_of_calls(self, *headers):
        server = ScriptedServer(lambda asked: json_response(answer_to(asked), headers) if asked.id is not None else good(asked))
        self.addCleanup(server.close)
        client = self.client(self.start_daemon(server, socket=f"s{len(headers)}"))
        client.call("echo", {}, 1)
        time.sleep(2.2)  # more than a second less than what the server says; curl counts whole seconds
        client.call("echo", {}, 2)
        return sum(b"tools/call" in connection for connection in server.raw)

    def test_a_second_less_than_the_server_says_is_the_most(self):
        self.assertEqual(self.connections_of_calls(), 1)
        self.assertEqual(self.connections_of_calls(("Keep-Alive", "timeout=2")), 2)


class KeepAlive(Case):
    """TCP keep-alive (BEHAVIOUR, "Streamable HTTP: connections")."""

    def test_it_is_on_for_each_connection_with_the_server(self):
        server, _ = self.bridge()
        self.client().fence()
        server.streams(1)
        with open("/proc/net/tcp", encoding="ascii") as file:
            rows = [line.split() for line in file]
        # Remote address, state (established) and timer (keep-alive) of proc_net_tcp(5).
        timers = [row[5][:2] for row in rows if row[2].endswith(f":{server.port:04X}") and row[3] == "01"]
        self.assertGreaterEqual(len(timers), 2)
        self.assertEqual(set(timers), {"02"})


class Surplus(Case):
    """Of the connections of a burst 16 stay, without a request that would make curl look at them."""

    def test_what_a_burst_leaves_is_closed_by_itself(self):
        server, daemon = self.bridge("--client-inflight", "200", "--keepalive", "0",
                                     upstream=("--keep-alive-timeout", "600"))
        client = self.client()
        client.fence()
        server.streams(1)
        before = daemon.fds()
        for _ in range(2):
            client.send(*[call("slow", {"steps": 1, "delayMs": 300}, n) for n in range(150)])
            for _ in range(150):
                client.line()
            server.forget_log()
            quiet = time.monotonic()
            # One of 16 may have been there before.
            eventually(lambda: daemon.fds() <= before + 16, lambda: f"{daemon.fds()} descriptors, {before} before")
            # A second, and what a busy machine takes.
            self.assertLess(time.monotonic() - quiet, within(2.5))
            self.assertEqual(server.log(), [])
        self.assertEqual(client.fence(), [])


if __name__ == "__main__":
    main()
