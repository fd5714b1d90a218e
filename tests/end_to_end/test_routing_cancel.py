"""Cancellation, and clients that leave with requests in flight (BEHAVIOUR, "Cancellation and leaving")."""

from harness import Case, call, eventually, main, notification


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

    def test_a_client_killed_in_the_middle_of_a_line_disturbs_nobody(self):
        _, daemon = self.bridge()
        other = self.client()
        for _ in range(20):
            client = self.client()
            client.send_raw(b'{"jsonrpc":"2.0","id":1,"method":"to')
            client.close()
        self.assertEqual(other.fence(), [])
        self.others(1)


if __name__ == "__main__":
    main()
