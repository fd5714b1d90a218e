"""In which order a client's frames are started upstream, and how many at a time (BEHAVIOUR, "Routing")."""

import json

from harness import Case, answer, call, initialize, main, notification, text_of


def methods(log):
    return [entry["method"] for entry in log if entry["method"]]


class Order(Case):
    def test_frames_are_started_in_the_order_they_came(self):
        server, _ = self.bridge("--max-inflight", "1")
        client = self.client()
        client.send(*[call("echo", {"message": f"m{n}"}, n) for n in range(30)])
        self.assertEqual([message["id"] for message in client.lines(30)], list(range(30)))
        said = [json.loads(entry["body"])["params"]["arguments"]["message"] for entry in server.log("tools/call")]
        self.assertEqual(said, [f"m{n}" for n in range(30)])

    def test_a_notification_is_handed_over_before_the_next_frame_starts(self):
        server, _ = self.bridge()
        client = self.client()
        client.fence()
        server.forget_log()
        server.fault({"delayMs": 400}, method="notifications/roots/list_changed")
        client.send(notification("notifications/roots/list_changed"), call("echo", {"message": "after"}, 1))
        client.answer(1)
        first, second = [entry for entry in server.log() if entry["httpMethod"] == "POST"]
        self.assertEqual(methods([first, second]), ["notifications/roots/list_changed", "tools/call"])
        self.assertGreater(second["atMs"] - first["atMs"], 390)

    def test_another_client_does_not_wait_for_it(self):
        server, _ = self.bridge()
        client, other = self.client(), self.client()
        client.fence()
        server.fault({"hang": True}, method="notifications/roots/list_changed")
        client.send(notification("notifications/roots/list_changed"), call("echo", {"message": "after"}, 1))
        server.log("notifications/roots/list_changed", wait=1)
        self.assertEqual(other.fence(), [])
        self.assertFalse(client.readable())

    def test_answers_to_the_servers_requests_wait_for_nothing(self):
        server, _ = self.bridge()
        client = self.client()
        client.send(initialize("init", {"elicitation": {}}), notification("notifications/initialized"))
        client.answer("init")
        client.send(call("ask", {"question": "?"}, 1))
        asked = client.line()
        server.fault({"hang": True}, method="notifications/roots/list_changed")
        client.send(notification("notifications/roots/list_changed"), answer(asked["id"], {"action": "decline"}))
        self.assertIn("decline", text_of(client.answer(1)))

    def test_requests_do_not_wait_for_one_anothers_answers(self):
        self.bridge()
        client = self.client()
        client.send(call("slow", {"steps": 1, "delayMs": 500}, 1), call("echo", {"message": "x"}, 2))
        self.assertEqual([message["id"] for message in client.lines(2)], [2, 1])


class AtATime(Case):
    def most_at_once(self, server, client, count, frames):
        """Sends them all, lets the server answer one after the other; the most that were active at once."""
        most = 0
        answered = 0
        client.send(*frames)
        while answered < count:
            most = max(most, server.state()["activeCalls"])
            while client.readable() and answered < count:
                client.line()
                answered += 1
        return most

    def test_max_inflight_1_is_strictly_one_at_a_time_over_all_clients(self):
        server, _ = self.bridge("--max-inflight", "1")
        clients = [self.client() for _ in range(3)]
        clients[0].fence()
        server.forget_log()
        for client in clients:
            client.send(*[call("slow", {"steps": 1, "delayMs": 30}, n) for n in range(3)])
        for client in clients:
            self.assertEqual([message["id"] for message in client.lines(3)], [0, 1, 2])
        times = [entry["atMs"] for entry in server.log("tools/call")]
        self.assertTrue(all(later - earlier > 29 for earlier, later in zip(times, times[1:])), times)

    def test_slots_are_served_in_turn_over_the_clients(self):
        server, _ = self.bridge("--max-inflight", "1")
        first, second = self.client(), self.client()
        first.fence()
        server.forget_log()
        first.send(*[call("slow", {"steps": 1, "delayMs": 100}, f"a{n}") for n in range(6)])
        server.log("tools/call", wait=1)
        second.send(call("echo", {"message": "x"}, "b"))
        second.line()
        # Not behind all six of the other one.
        self.assertLess(len(server.log("tools/call")), 5)

    def test_client_inflight_bounds_one_client_and_not_the_other(self):
        server, _ = self.bridge("--client-inflight", "2")
        client, other = self.client(), self.client()
        client.fence()
        most = self.most_at_once(server, client, 6, [call("slow", {"steps": 1, "delayMs": 50}, n) for n in range(6)])
        self.assertEqual(most, 2)
        client.send(*[call("slow", {"steps": 1, "delayMs": 1000}, n) for n in range(3)])
        self.assertEqual(other.fence(), [])

    def test_a_notification_keeps_its_place_behind_waiting_requests(self):
        for option in ("--client-inflight", "--max-inflight"):
            with self.subTest(option):
                server, daemon = self.bridge(option, "1")
                client = self.client()
                client.fence()
                client.send(call("slow", {"steps": 1000, "delayMs": 50}, 1))
                self.in_flight(1)
                client.send(call("echo", {"message": "waits"}, 2), notification("notifications/roots/list_changed"))
                daemon.status_when(lambda status: status["requests"]["queued"] == 2, "two frames that wait")
                client.send(notification("notifications/cancelled", {"requestId": 1}))
                self.assertEqual(client.line()["id"], 2)
                server.log("notifications/roots/list_changed", wait=1)
                daemon.stop()

    def test_while_requests_wait_answers_and_cancellations_pass(self):
        server, _ = self.bridge("--client-inflight", "1")
        client = self.client()
        client.send(initialize("init", {"elicitation": {}}), notification("notifications/initialized"))
        client.answer("init")
        client.send(call("ask", {"question": "?"}, 1), call("echo", {"message": "waits"}, 2))
        asked = client.line()
        client.send(answer(asked["id"], {"action": "decline"}))
        self.assertIn("decline", text_of(client.answer(1)))
        self.assertEqual(text_of(client.answer(2)), "waits")
        client.send(call("slow", {"steps": 1000, "delayMs": 50}, 3), call("echo", {"message": "next"}, 4))
        server.log("tools/call", wait=3)
        client.send(notification("notifications/cancelled", {"requestId": 3}))
        self.assertEqual(client.line()["id"], 4)

    def test_beyond_the_buffer_a_waiting_request_is_answered_overloaded(self):
        self.bridge("--client-inflight", "1", "--client-buffer", "64K")
        client = self.client()
        client.fence()
        client.send(call("slow", {"steps": 1000, "delayMs": 50}, "slow"))
        self.in_flight(1)
        client.send(*[call("echo", {"message": "x" * 10_000}, n) for n in range(12)])
        refused = client.line()
        self.assert_error(refused, -32000, refused["id"], "overloaded", "no")
        client.send(notification("notifications/cancelled", {"requestId": "slow"}))
        served = [client.line() for _ in range(11)]
        self.assertTrue(any("result" in message for message in served))
        self.assertEqual(client.fence(), [])

    def test_notifications_and_the_bridges_own_requests_take_no_slot(self):
        server, _ = self.bridge("--max-inflight", "1", "--keepalive", "300ms")
        client = self.client()
        client.send(call("slow", {"steps": 1000, "delayMs": 50}, 1))
        server.log("tools/call", wait=1)
        client.send(notification("notifications/roots/list_changed"))
        server.log("notifications/roots/list_changed", wait=1)
        server.log("ping", wait=1)


if __name__ == "__main__":
    main()
