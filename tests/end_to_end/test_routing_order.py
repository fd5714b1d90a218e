"""In which order a client's frames are started upstream, and how many at a time (BEHAVIOUR, "Routing")."""

from harness import Case, answer, call, initialize, main, notification, text_of


def methods(log):
    return [entry["method"] for entry in log if entry["method"]]


class Order(Case):
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


class AtATime(Case):
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
