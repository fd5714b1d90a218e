"""Whose is a message, in which order messages go, and what becomes of requests whose client cancels or leaves (BEHAVIOUR,
"Ids and tokens", "Routing", "Cancellation and leaving")."""

from harness import Case, call, eventually, main, notification, request


class Notifications(Case):
    """BEHAVIOUR, "Routing: notifications"."""

    def test_on_a_requests_stream_they_are_that_clients_unless_they_belong_to_the_session(self):
        server, _ = self.bridge()
        mine, other = self.client(), self.client()
        mine.fence()
        methods = ["notifications/message", "notifications/unheard/of", "notifications/tools/list_changed",
                   "notifications/resources/updated", "notifications/tasks/status"]
        events = ",".join('{"data":%s}' % notification(method, {"uri": "demo://x"}) for method in methods)
        server.fault('{"sse":[%s],"thenAnswer":true}' % events, method="tools/call")
        mine.send(call("echo", {"message": "x"}, 1))
        self.assertEqual([m.get("method") for m in mine.lines(6)], methods + [None])
        self.assertEqual([m["method"] for m in other.lines(3)], methods[2:])
        self.assertEqual(other.fence(), [])

    def test_on_the_server_stream_they_go_to_everyone_but_progress_to_its_owner(self):
        server, _ = self.bridge(upstream=("--answers", "json"))
        clients = [self.client() for _ in range(3)]
        clients[0].send(call("slow", {"steps": 3, "delayMs": 20}, 1, token="mine"))
        clients[0].answer(1)
        server.emit(notification("notifications/message", {"level": "info", "data": 1}))
        for client in clients:
            while (message := client.line())["method"] != "notifications/message":
                self.assertEqual((client, message["params"]["progressToken"]), (clients[0], "mine"))
            self.assertEqual(message["params"]["data"], 1)


class Order(Case):
    """BEHAVIOUR, "Routing: order of a client's messages", "Routing: requests in flight"."""

    def test_a_notification_is_handed_over_before_the_next_frame_starts(self):
        server, _ = self.bridge()
        client = self.client()
        client.fence()
        server.forget_log()
        server.fault({"delayMs": 400}, method="notifications/roots/list_changed")
        client.send(notification("notifications/roots/list_changed"), call("echo", {"message": "after"}, 1))
        client.answer(1)
        first, second = [entry for entry in server.log() if entry["httpMethod"] == "POST"]
        self.assertEqual((first["method"], second["method"]), ("notifications/roots/list_changed", "tools/call"))
        self.assertGreater(second["atMs"] - first["atMs"], 390)

    def test_notifications_and_the_bridges_own_requests_take_no_slot_and_a_cancellation_frees_one(self):
        server, _ = self.bridge("--max-inflight", "1", "--keepalive", "300ms")
        client = self.client()
        client.send(call("slow", {"steps": 1000, "delayMs": 50}, 1))
        server.log("tools/call", wait=1)
        client.send(notification("notifications/roots/list_changed"))
        server.log("notifications/roots/list_changed", wait=1)
        server.log("ping", wait=1)
        client.send(request("tools/list", None, 2), notification("notifications/cancelled", {"requestId": 1}))
        self.assertEqual(client.line()["id"], 2)


class Cancelling(Case):
    def setUp(self):
        super().setUp()
        self.server, self.daemon = self.bridge()

    def test_it_is_rewritten_to_the_bridges_id_and_the_stream_given_up(self):
        client = self.client()
        client.send(call("slow", {"steps": 1000, "delayMs": 50}, "mine"))
        upstream_id = self.server.log("tools/call", wait=1)[0]["id"]
        line = '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"reason":"0.10 \\u0041","requestId":%s,"x":1e400}}'
        client.send(line % '"mine"')
        self.assertEqual(self.server.log("notifications/cancelled", wait=1)[0]["body"], line % upstream_id)
        self.in_flight(0)
        self.server.state(activeCalls=0)
        self.assertEqual(client.fence(), [])

    def test_a_server_that_does_not_end_the_stream_holds_nothing(self):
        self.server.fault({"sse": [{"raw": ": open\n\n"}], "end": "keep"}, method="tools/call")
        client = self.client()
        client.send(call("echo", {}, 1))
        self.server.log("tools/call", wait=1)
        open_before = self.server.state()["openConnections"]
        client.send(notification("notifications/cancelled", {"requestId": 1}))
        self.server.log("notifications/cancelled", wait=1)
        self.in_flight(0)
        # Those by which the test looks count too, until the server has seen their ends.
        eventually(lambda: self.server.state()["openConnections"] <= open_before, "the stream is given up")
        self.assertEqual(client.call("echo", {"message": "again"}, 1)["id"], 1)


class Leaving(Case):
    def test_with_cancel_the_upstream_is_told(self):
        server, _ = self.bridge("--orphans", "cancel")
        client = self.client()
        client.send(call("slow", {"steps": 1000, "delayMs": 50}, 1), call("slow", {"steps": 1000, "delayMs": 50}, 2))
        ids = {entry["id"] for entry in server.log("tools/call", wait=2)}
        client.close()
        cancelled = {str(body["params"]["requestId"])
                     for body in server.bodies("notifications/cancelled", wait=2)}
        self.assertEqual(cancelled, ids)
        self.in_flight(0)
        server.state(activeCalls=0)

    def test_by_default_it_is_not_told_and_carries_out_what_was_sent(self):
        server, _ = self.bridge()
        client = self.client()
        client.send(call("slow", {"steps": 3, "delayMs": 100}, 1))
        server.log("tools/call", wait=1)
        client.close()
        server.state(activeCalls=0)
        self.in_flight(0)
        self.client().fence()
        self.assertEqual(server.log("notifications/cancelled"), [])

    def test_complete_lines_received_before_a_full_close_still_count(self):
        server, _ = self.bridge()
        self.client().fence()
        client = self.client()
        client.send(*[notification("notifications/roots/list_changed", {"n": n}) for n in range(20)])
        client.send_raw(b'{"jsonrpc":"2.0","method":"notifications/half')
        client.close()
        server.log("notifications/roots/list_changed", wait=20)
        self.assertFalse(any("half" in (entry["body"] or "") for entry in server.log()))


if __name__ == "__main__":
    main()
