"""Clients that do not read: nobody waits for them, and nothing grows without bound (BEHAVIOUR, "Socket: slow
readers")."""

import json
import socket

from harness import Case, Client, call, eventually, main, text_of
from harness.gathering import Gathering, data_of, log_message


class NotReading(Case):
    def small(self, daemon):
        client = Client(daemon.socket_path, receive_buffer=4096)
        self.clients.append(client)
        return client

    def test_what_was_queued_for_it_comes_when_it_reads(self):
        _, daemon = self.bridge("--client-buffer", "10K")  # a single frame is admitted whatever its size
        stuck, other = self.small(daemon), self.client()
        stuck.send(*[call("big", {"bytes": 500_000}, n) for n in range(8)])
        other.fence()
        self.assertEqual(sorted(message["id"] for message in stuck.lines(8)), list(range(8)))

    def test_over_its_buffer_it_is_disconnected_after_the_stall_and_it_is_logged(self):
        _, daemon = self.bridge("--client-buffer", "100K", "--client-stall", "500ms")
        stuck, other = self.small(daemon), self.client()
        stuck.send(*[call("big", {"bytes": 400_000}, n) for n in range(5)])
        other.fence()
        daemon.status_when(lambda status: len(status["clients"]) == 2, "the stalled client's end")
        self.assertRegex(daemon.stderr(), r"(?i)warning.*(stall|reads nothing|read nothing|client-buffer)|disconnect")
        self.assertEqual(other.fence(), [])
        self.in_flight(0)

    def test_an_answer_stream_is_paused_for_it_however_fast_it_comes(self):
        server, daemon = self.bridge("--client-buffer", "256K", "--client-stall", "60s")
        text = json.loads(log_message("x" * 20_000))
        server.fault({"sse": [{"data": text}] * 500, "thenAnswer": True}, method="tools/call")
        stuck, other = self.small(daemon), self.client()
        stuck.send(call("echo", {"message": "at last"}, 1))

        def queued(status):
            return sum(client["queuedBytes"] for client in status["clients"])

        # It pauses over the limit; then its socket takes what it holds of that, but never so much that the
        # rest is below the half, where it would go on.
        daemon.status_when(lambda status: queued(status) > 128 << 10, "a full queue")
        for _ in range(20):
            other.fence()
        status = daemon.status()
        self.assertLess(queued(status), 1 << 20)
        self.assertEqual(status["requests"]["inFlight"], 1)
        self.assertEqual(len(stuck.lines(501)), 501)

    def test_with_all_buffers_full_an_answer_that_only_grows_ends_as_overloaded(self):
        server, _ = self.bridge("--max-buffered", "4M")
        server.fault({"sse": [{"raw": "data: " + "x" * 2_000_000}], "end": "keep"}, method="tools/call", times=3)
        client, other = self.client(), self.client()
        client.send(*[call("echo", {"message": "x"}, n) for n in range(3)])
        failed = client.line()
        self.assert_error(failed, -32000, failed["id"], "overloaded", "unknown")
        self.assertEqual(text_of(other.call("echo", {"message": "goes on"})), "goes on")

    def test_over_all_queues_no_other_client_waits_for_those_that_do_not_read(self):
        # None of them is over its own --client-buffer.
        server, daemon = self.bridge("--max-buffered", "8M", "--client-stall", "1s")
        clients = [self.small(daemon) for _ in range(8)]
        clients[0].call("echo", {"message": "open"})
        for client in clients:
            client.send(*[call("big", {"bytes": 1_000_000}, n) for n in range(6)])
        server.log("tools/call", wait=9)
        self.assertIn("result", self.client().call("echo", {"message": "served"}))
        self.assertIn("pid", daemon.status())


    def test_many_that_do_not_read_leave_room_for_the_others_calls_and_control_requests(self):
        # None is over its --client-buffer, and the stall would end them only after the test.
        server, daemon = self.bridge("--max-buffered", "16M", "--client-stall", "60s", "--client-inflight", "4")
        clients = [self.small(daemon) for _ in range(48)]
        clients[0].call("echo", {"message": "open"})
        for client in clients:
            client.send(*[call("big", {"bytes": 300_000}, n) for n in range(8)])
        server.log("tools/call", wait=49)
        other = self.client()
        for _ in range(5):
            self.assertEqual(len(text_of(other.call("big", {"bytes": 1_000_000}))), 1_000_000)
            self.assertIn("pid", daemon.status())
        status = daemon.status()
        self.assertEqual(len(status["clients"]), 50)
        # They get everything when they read.
        self.assertEqual(sorted(message["id"] for message in clients[7].lines(8)), list(range(8)))


class KilledWithAFullQueue(Gathering):
    def test_a_client_killed_with_a_full_queue_is_cleaned_up(self):
        server, daemon = self.opened("--orphans", "cancel")
        other = self.client()
        other.fence()
        fds = daemon.fds()
        for _ in range(5):
            stuck = Client(daemon.socket_path, receive_buffer=4096)
            stuck.send(*[call("big", {"bytes": 1_000_000}, n) for n in range(3)], call("slow", {"steps": 1000, "delayMs": 50}, 9))
            stuck.socket.recv(1, socket.MSG_PEEK)
            stuck.close()
        self.others(1)
        self.in_flight(0)
        server.state(activeCalls=0)
        self.assertEqual(other.fence(), [])
        eventually(lambda: daemon.fds() <= fds + 6, "the end of the descriptors")

    def test_notifications_are_not_copied_for_each_client(self):
        server, daemon = self.opened("--ring-bytes", "2M")
        stuck = [Client(daemon.socket_path, receive_buffer=4096) for _ in range(50)]
        self.clients += stuck
        self.others(50)
        server.emit('{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"%s"}}' % ("x" * 50_000), 300)
        self.newest(300)
        for client in daemon.status()["clients"]:
            self.assertLess(client["queuedBytes"], 200_000)
        # Each gets what is still there.
        for client in stuck[:3]:
            self.assertEqual(len(data_of([client.line()])[0]), 50_000)


if __name__ == "__main__":
    main()
