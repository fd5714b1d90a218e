"""Cancellation, and clients that leave with requests in flight (BEHAVIOUR, "Cancellation and leaving")."""

from harness import Case, call, main, notification, request, text_of


def cancel(id, reason=None):
    params = {"requestId": id}
    if reason:
        params["reason"] = reason
    return notification("notifications/cancelled", params)


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
        client.send(cancel(1))
        self.server.log("notifications/cancelled", wait=1)
        self.in_flight(0)
        self.assertLessEqual(self.server.state()["openConnections"], open_before + 1)
        self.assertEqual(client.call("echo", {"message": "again"}, 1)["id"], 1)

    def test_an_answer_that_comes_all_the_same_is_dropped(self):
        self.server.fault({"swallow202": True}, method="tools/call")
        self.server.fault({"status": 202}, method="notifications/cancelled")
        client = self.client()
        client.send(call("slow", {"steps": 1, "delayMs": 200}, 1))
        self.server.log("tools/call", wait=1)
        client.send(cancel(1))
        self.server.log("notifications/cancelled", wait=1)
        self.server.state(activeCalls=0)
        self.assertEqual(client.fence(), [])

    def test_of_an_unknown_id_it_is_dropped(self):
        client, other = self.client(), self.client()
        other.send(call("slow", {"steps": 5, "delayMs": 50}, 7))
        self.server.log("tools/call", wait=1)
        client.call("echo", {"message": "x"}, 1)
        for id in (7, 1, "never", "7", None, 0):
            client.send(cancel(id))
        client.send('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{}}')
        client.send('{"jsonrpc":"2.0","method":"notifications/cancelled"}')
        client.fence()
        self.assertEqual(text_of(other.line()), "done after 5 steps")
        self.assertEqual(self.server.log("notifications/cancelled"), [])

    def test_a_string_id_is_not_the_number(self):
        client = self.client()
        client.send(call("slow", {"steps": 3, "delayMs": 50}, 7), cancel("7"))
        self.assertEqual(text_of(client.answer(7)), "done after 3 steps")
        self.assertEqual(self.server.log("notifications/cancelled"), [])

    def test_an_id_written_differently_is_the_same_id(self):
        client = self.client()
        client.send(call("slow", {"steps": 1000, "delayMs": 50}, "A"))
        self.server.log("tools/call", wait=1)
        client.send('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"\\u0041"}}')
        self.server.log("notifications/cancelled", wait=1)

    def test_initialize_is_never_cancelled(self):
        self.server.fault({"delayMs": 500}, method="initialize")
        client = self.client()
        client.send(request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {},
                                           "clientInfo": {"name": "x", "version": "1"}}, 0), cancel(0))
        self.server.log("initialize", wait=1)
        self.assertIn("serverInfo", client.answer(0)["result"])
        client.fence()
        self.assertEqual(self.server.log("notifications/cancelled"), [])


class Waiting(Case):
    def test_a_waiting_request_is_simply_removed(self):
        server, _ = self.bridge("--client-inflight", "1")
        client = self.client()
        client.send(call("slow", {"steps": 3, "delayMs": 100}, 1), call("echo", {"message": "second"}, 2),
                    call("echo", {"message": "third"}, 3), cancel(2))
        self.assertEqual([message["id"] for message in client.lines(2)], [1, 3])
        self.assertEqual(client.fence(), [])
        self.assertEqual(server.log("notifications/cancelled"), [])
        self.assertFalse(any("second" in entry["body"] for entry in server.log("tools/call")))

    def test_while_the_session_is_being_opened(self):
        server, _ = self.bridge()
        server.fault({"delayMs": 400}, method="initialize")
        client = self.client()
        client.send(call("echo", {"message": "first"}, 1), call("echo", {"message": "second"}, 2), cancel(1))
        self.assertEqual(client.line()["id"], 2)
        self.assertFalse(any("first" in entry["body"] for entry in server.log("tools/call")))


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

    def test_requests_not_yet_sent_are_dropped_but_received_notifications_count(self):
        server, _ = self.bridge("--client-inflight", "1", "--orphans", "cancel")
        client = self.client()
        client.send(call("slow", {"steps": 1000, "delayMs": 50}, 1), call("echo", {"message": "never"}, 2))
        server.log("tools/call", wait=1)
        client.close()
        server.log("notifications/cancelled", wait=1)
        self.client().fence()
        self.assertFalse(any("never" in entry["body"] for entry in server.log("tools/call")))

    def test_complete_lines_received_before_a_full_close_still_count(self):
        server, _ = self.bridge()
        self.client().fence()
        client = self.client()
        client.send(*[notification("notifications/roots/list_changed", {"n": n}) for n in range(20)])
        client.send_raw(b'{"jsonrpc":"2.0","method":"notifications/half')
        client.close()
        server.log("notifications/roots/list_changed", wait=20)
        self.assertFalse(any("half" in (entry["body"] or "") for entry in server.log()))

    def test_a_client_killed_in_the_middle_of_a_line_disturbs_nobody(self):
        _, daemon = self.bridge()
        other = self.client()
        for _ in range(20):
            client = self.client()
            client.send_raw(b'{"jsonrpc":"2.0","id":1,"method":"to')
            client.close()
        self.assertEqual(other.fence(), [])
        self.others(1)

    def test_the_sender_of_initialize_may_leave(self):
        server, _ = self.bridge()
        server.fault({"delayMs": 500}, method="initialize")
        client = self.client()
        client.send(request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {},
                                           "clientInfo": {"name": "x", "version": "1"}}, 0))
        server.log("initialize", wait=1)
        client.close()
        self.client().fence()
        self.assertEqual(len(server.log("initialize")), 1)
        self.assertEqual(server.log("notifications/cancelled"), [])


if __name__ == "__main__":
    main()
