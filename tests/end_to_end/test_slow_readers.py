"""Clients that do not read: nobody waits for them, and nothing grows without bound (BEHAVIOUR, "Socket: slow
readers")."""

import concurrent.futures
import json
import socket

from harness import Case, Client, call, eventually, main, notification, request, text_of
from harness.gathering import Gathering, data_of, log_message


class NotReading(Case):
    def small(self, daemon):
        client = Client(daemon.socket_path, receive_buffer=4096)
        self.clients.append(client)
        return client

    def test_it_does_not_delay_another(self):
        _, daemon = self.bridge()
        stuck, other = self.small(daemon), self.client()
        stuck.send(*[call("big", {"bytes": 1_000_000}, n) for n in range(10)])
        for _ in range(5):
            self.assertEqual(other.fence(), [])

    def test_what_was_queued_for_it_comes_when_it_reads(self):
        _, daemon = self.bridge()
        stuck, other = self.small(daemon), self.client()
        stuck.send(*[call("big", {"bytes": 500_000}, n) for n in range(8)])
        other.fence()
        self.assertEqual(sorted(message["id"] for message in stuck.lines(8)), list(range(8)))

    def test_over_its_buffer_it_is_disconnected_after_the_stall_and_it_is_logged(self):
        server, daemon = self.bridge("--client-buffer", "100K", "--client-stall", "500ms")
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
        server, daemon = self.bridge("--max-buffered", "4M")
        server.fault({"sse": [{"raw": "data: " + "x" * 2_000_000}], "end": "keep"}, method="tools/call", times=3)
        client, other = self.client(), self.client()
        client.send(*[call("echo", {"message": "x"}, n) for n in range(3)])
        failed = client.line()
        self.assert_error(failed, -32000, failed["id"], "overloaded", "unknown")
        self.assertEqual(text_of(other.call("echo", {"message": "goes on"})), "goes on")

    def test_one_that_reads_a_little_is_not_disconnected(self):
        _, daemon = self.bridge("--client-buffer", "100K", "--client-stall", "5s")
        slow = self.small(daemon)
        slow.send(*[call("big", {"bytes": 300_000}, n) for n in range(4)])
        got = sorted(slow.line()["id"] for _ in range(4))
        self.assertEqual(got, [0, 1, 2, 3])

    def test_a_frame_larger_than_the_buffer_is_admitted_to_an_empty_queue(self):
        self.bridge("--client-buffer", "10K")
        client = self.client()
        self.assertEqual(len(text_of(client.call("big", {"bytes": 3_000_000}))), 3_000_000)

    def test_each_request_of_a_batch_is_answered_even_if_its_answers_are_over_the_buffer(self):
        _, daemon = self.bridge("--client-buffer", "100K", "--client-stall", "60s")
        slow = self.small(daemon)
        calls = [json.loads(call("echo", {"message": "x" * 2000}, n)) for n in range(200)]
        slow.send(json.dumps(calls))
        self.client(daemon).fence()
        answered = slow.lines(200)
        self.assertEqual(sorted(one["id"] for one in answered), list(range(200)))
        self.assertTrue(any("result" in one for one in answered))

    def before_large_pages(self):
        """A client that has a buffer of 500K, and can ask for pages of 800K."""
        server, daemon = self.bridge("--handshake", "eager", "--client-buffer", "500K", "--client-stall", "60s")
        taking = self.client()
        server.emit(notification("notifications/message", {"data": "x" * 200_000}), 4)
        taking.lines(4)
        self.untaken(0)
        return server, daemon, self.small(daemon)

    def test_control_requests_of_one_that_reads_later_are_all_answered_and_its_queue_stays_bounded(self):
        server, daemon, later = self.before_large_pages()
        later.send("\n".join(request("bridge/notifications", {"limit": 4}, n) for n in range(60)))
        later.send(request("bridge/status", None, "status")).half_close()
        self.assertLess(max(client["queuedBytes"] for client in daemon.status()["clients"]), 3_000_000)
        answered = later.lines(61)
        pages = [one for one in answered if one["id"] != "status"]
        self.assertEqual([one["id"] for one in pages], list(range(60)))
        self.assertEqual([len(one["result"]["notifications"]) for one in pages], [4] * 60)
        later.expect_closed()

    def fill(self, daemon, server, count):
        clients = [self.small(daemon) for _ in range(count)]
        clients[0].call("echo", {"message": "open"})
        for client in clients:
            client.send(*[call("big", {"bytes": 1_000_000}, n) for n in range(6)])
        server.log("tools/call", wait=9)
        return clients

    def test_over_all_queues_no_other_client_waits_for_those_that_do_not_read(self):
        # None of them is over its own --client-buffer.
        server, daemon = self.bridge("--max-buffered", "8M", "--client-stall", "1s")
        self.fill(daemon, server, 8)
        served = self.client().call("echo", {"message": "served"})
        self.assertIn("result", served)
        self.assertIn("pid", daemon.status())

    def test_over_all_queues_everyone_is_answered_once_they_read(self):
        server, daemon = self.bridge("--max-buffered", "8M", "--client-stall", "60s")
        clients = self.fill(daemon, server, 8)
        # Everyone is answered, one way or the other, once they all read.
        with concurrent.futures.ThreadPoolExecutor(len(clients)) as readers:
            for messages in readers.map(lambda client: client.lines(6), clients):
                for message in messages:
                    if "error" in message:
                        self.assert_error(message, -32000, message["id"], "overloaded")


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
