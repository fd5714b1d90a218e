"""Who is fed a notification, who takes it, and what happens to what was not read (BEHAVIOUR, "Ring: feeding", "Ring: what
counts as taken", "Ring: what takes nothing", "Ring: bounds")."""

import socket

from harness import Client, initialize, main, notification, request
from harness.gathering import Gathering, data_of, log_message


class Taken(Gathering):
    def test_all_are_flushed_on_connect_in_order_before_anything_else(self):
        server, _ = self.opened()
        self.gather_many(server, 50)
        client = self.client()
        client.send(request("ping"))
        self.assertEqual(data_of(client.lines(50)), list(range(1, 51)))
        self.assertEqual(client.line()["id"], 1)

    def test_a_client_that_reads_all_and_closes_takes(self):
        server, _ = self.opened()
        self.gather(server, "a", "b")
        client = self.client()
        client.lines(2)
        client.close()
        self.untaken(0)
        self.assertEqual(self.client().fence(), [])

    def test_what_was_not_read_goes_to_the_next_client(self):
        server, _ = self.opened()
        self.gather(server, "a", "b", "c")
        client = self.client()
        # The first line is there: all three are, in the kernel's queue.
        client.socket.recv(1, socket.MSG_PEEK)
        client.close()
        self.others(0)
        self.untaken(3)
        self.assertEqual(data_of(self.client().lines(3)), ["a", "b", "c"])

    def test_what_a_client_was_seen_to_have_read_stays_taken_when_it_dies_later(self):
        server, _ = self.opened()
        client = self.client()
        self.gather(server, "read")
        client.line()
        self.untaken(0)
        self.gather(server, "unread")
        client.socket.recv(1, socket.MSG_PEEK)
        client.close()
        self.untaken(1)
        self.assertEqual(data_of(self.client().lines(1)), ["unread"])

    def test_what_is_too_old_is_counted_and_logged(self):
        server, daemon = self.opened("--ring-ttl", "300ms")
        server.emit(log_message("old"))
        daemon.status_when(lambda status: status["ring"]["dropped"] == 1, "a dropped notification")
        self.assertIn("before any client had read it (1 so far)", daemon.stderr())

    def test_untaken_at_the_end_is_logged(self):
        server, daemon = self.opened()
        self.gather(server, "a", "b", "c")
        self.assertEqual(daemon.terminate(), 0)
        self.assertRegex(daemon.stderr(), r"(?i)\b3\b.*(untaken|not taken|nobody|notifications)")


class TakesNothing(Gathering):
    def test_health_checks_take_nothing(self):
        server, _ = self.opened()
        self.gather(server, "kept")
        for lines in ([request("bridge/status")], [request("server/discover")], [notification("bridge/peek")],
                      [request("bridge/notifications", {})], [request("server/discover"), request("bridge/status", None, 2)],
                      [notification("bridge/peek"), request("tools/list", None, 2)],
                      [notification("bridge/peek"), request("bridge/status", None, 2)]):
            with self.subTest(lines):
                client = self.client()
                client.send(*lines).half_close()
                client.rest()
                client.close()
                self.others(0)
                self.assertEqual(self.ring()["untaken"], 1)
        self.assertEqual(data_of([self.client().line()]), ["kept"])

    def test_health_checks_take_nothing_while_notifications_pour_in(self):
        # Their request may still stand in the daemon's queue when they have read what was flushed.
        server, _ = self.opened()
        for round in range(1, 11):
            for _ in range(20):
                server.emit(log_message("x" * 50_000))
            self.newest(round * 20)
            self.assertEqual(self.ring()["untaken"], 20)
            client = self.client()
            client.lines(20)
            self.untaken(0)
            client.close()

    def test_from_peek_on_a_connection_is_fed_none(self):
        server, _ = self.opened()
        client, other = self.client(), self.client()
        client.send(notification("bridge/peek"))
        client.fence()
        self.gather(server, "a")
        self.assertEqual(data_of([other.line()]), ["a"])
        self.assertEqual(client.fence(), [])
        self.assertEqual(server.log("bridge/peek"), [])

    def test_a_probe_that_then_speaks_takes(self):
        server, _ = self.opened()
        self.gather(server, "a")
        client = self.client()
        client.send(request("server/discover", None, "probe"), initialize("init"))
        client.answer("init")
        self.assertIn("a", data_of([m for m in client.others if m.get("method") == "notifications/message"]))
        self.untaken(0)


class SlowReaders(Gathering):
    def test_a_slow_reader_that_is_pushed_out_loses_the_oldest_and_it_is_counted_and_logged(self):
        server, daemon = self.opened("--ring", "10")
        fast, slow = self.client(), Client(daemon.socket_path, receive_buffer=4096)
        self.clients.append(slow)
        self.others(2)
        # More than the kernel's buffers hold, so the slow one's cursor stays behind.
        for n in range(60):
            self.gather(server, f"{n:03d}" + "x" * 20_000)
            self.assertEqual(fast.line()["params"]["data"][:3], f"{n:03d}")
        slow.send(request("bridge/status", None, "end"))
        slow.answer("end")
        got = [int(m["params"]["data"][:3]) for m in slow.others]
        self.assertEqual(got, sorted(set(got)))
        while got[-1] < 59:
            got.append(int(slow.line()["params"]["data"][:3]))
        self.assertEqual(got, sorted(set(got)))
        self.assertLess(len(got), 60)
        self.assertEqual(got[-10:], list(range(50, 60)))
        self.assertRegex(daemon.stderr(), r"(?i)lost|missed|pushed out")


class Paging(Gathering):
    """BEHAVIOUR, "Control methods: bridge/notifications"."""

    def page(self, **params):
        return self.default_daemon.control("bridge/notifications", params)

    def test_it_reads_again_without_taking(self):
        server, _ = self.opened()
        self.gather(server, "a", "b")
        for _ in range(2):
            page = self.page()
            self.assertEqual(data_of([n["message"] for n in page["notifications"]]), ["a", "b"])
            self.assertEqual([n["seq"] for n in page["notifications"]], [1, 2])
            self.assertEqual([n["taken"] for n in page["notifications"]], [False, False])
            self.assertEqual((page["oldest"], page["newest"], page["dropped"], page["gap"], page["more"]), (1, 2, 0, False, False))
        self.assertEqual(([n["seq"] for n in self.page(limit=1)["notifications"]], self.page(limit=1)["more"]), ([1], True))
        self.client().lines(2)
        self.untaken(0)
        self.assertEqual([n["taken"] for n in self.page()["notifications"]], [True, True])

    def test_it_waits_for_the_next_one_without_taking_it(self):
        server, _ = self.opened()
        client, other = self.client(), self.client()
        client.send(request("bridge/notifications", {"waitMs": 60_000, "untaken": True}, "wait"))
        client.request("bridge/status")
        other.send(request("bridge/notifications", {"waitMs": 60_000}, "gone"))
        other.request("bridge/status")
        other.close()
        self.others(1)
        self.gather(server, "a")
        page = client.answer("wait")["result"]
        self.assertEqual(([n["seq"] for n in page["notifications"]], page["more"]), ([1], False))
        taken = client.request("bridge/take", {"instance": page["instance"], "seqs": [1, 2]})["result"]
        self.assertEqual(taken, {"taken": [1], "unknown": [2]})
        self.assertEqual(self.ring()["untaken"], 0)
        client.send(request("bridge/notifications", {"since": 1, "waitMs": 60_000}, "end"))
        client.request("bridge/status")
        self.assertEqual(self.default_daemon.terminate(), 0)
        self.assertEqual(client.answer("end")["result"]["notifications"], [])

    def test_an_answer_is_at_most_one_mebibyte(self):
        server, _ = self.opened()
        self.gather(server, *["x" * 300_000 for _ in range(5)])
        client = self.client()
        client.send(notification("bridge/peek"), request("bridge/notifications", {}, "page"))
        line = client.raw_line()
        while b'"page"' not in line[:100] and b'"id":"page"' not in line:
            line = client.raw_line()
        self.assertLessEqual(len(line), (1 << 20) + 1)
        self.assertIn(b'"more":true', line.replace(b" ", b""))

    def test_a_gap_is_said(self):
        server, _ = self.opened("--ring", "10")
        self.gather_many(server, 30)
        self.assertTrue(self.page(since=5)["gap"])
        self.assertFalse(self.page(since=20)["gap"])
        self.assertFalse(self.page(since=25)["gap"])
        self.assertTrue(self.page(since=31)["gap"])
        instance = self.page()["instance"]
        self.assertFalse(self.page(since=25, instance=instance)["gap"])
        self.assertTrue(self.page(since=25, instance=instance + "x")["gap"])

    def test_wrong_params_are_an_error(self):
        self.opened()
        for params in ({"since": "x"}, {"since": -1}, {"limit": "all"}, {"limit": -5}):
            with self.subTest(params):
                self.assert_error(self.client().request("bridge/notifications", params), -32602, 1)


if __name__ == "__main__":
    main()
