"""Whose answer, progress and notification is this (BEHAVIOUR, "Ids and tokens")."""

from harness import Case, call, main, notification, request


class Progress(Case):
    def test_it_reaches_its_owner_from_the_server_stream_too_and_nobody_else(self):
        server, _ = self.bridge(upstream=("--answers", "json"))
        owner, other = self.client(), self.client()
        owner.send(call("slow", {"steps": 3, "delayMs": 20}, 1, token="mine"))
        owner.answer(1)
        owner.fence()
        self.assertEqual(other.fence(), [])


class Notifications(Case):
    def stream_of(self, *messages):
        events = ",".join('{"data":%s}' % message for message in messages)
        return '{"sse":[%s],"thenAnswer":true}' % events

    def test_on_a_requests_stream_they_are_that_clients(self):
        server, _ = self.bridge()
        mine, other = self.client(), self.client()
        mine.fence()
        message = notification("notifications/message", {"level": "info", "data": "for you"})
        unknown = notification("notifications/unheard/of", {"x": 1})
        server.fault(self.stream_of(message, unknown), method="tools/call")
        mine.send(call("echo", {"message": "x"}, 1))
        self.assertEqual([m.get("method") for m in mine.lines(3)],
                         ["notifications/message", "notifications/unheard/of", None])
        self.assertEqual(other.fence(), [])
        self.assertEqual(self.client().fence(), [])

    def test_what_belongs_to_the_session_goes_to_everyone_wherever_it_comes_from(self):
        server, _ = self.bridge()
        mine, other = self.client(), self.client()
        mine.fence()
        methods = ["notifications/tools/list_changed", "notifications/resources/list_changed",
                   "notifications/prompts/list_changed", "notifications/resources/updated",
                   "notifications/elicitation/complete", "notifications/tasks/status"]
        server.fault(self.stream_of(*[notification(method, {"uri": "demo://x"}) for method in methods]), method="tools/call")
        mine.send(call("echo", {"message": "x"}, 1))
        self.assertEqual([m.get("method") for m in mine.lines(7)], methods + [None])
        self.assertEqual([m["method"] for m in other.lines(6)], methods)

    def test_on_the_server_stream_they_go_to_everyone(self):
        server, _ = self.bridge()
        clients = [self.client() for _ in range(3)]
        clients[0].fence()
        server.emit(notification("notifications/message", {"level": "info", "data": 1}))
        for client in clients:
            self.assertEqual(client.line()["params"]["data"], 1)

    def test_the_clients_own_requests_and_notifications_reach_the_server(self):
        server, _ = self.bridge()
        client = self.client()
        self.assertEqual(client.request("ping")["result"], {})
        client.send(notification("notifications/roots/list_changed"))
        server.log("notifications/roots/list_changed", wait=1)
        server.log("ping", wait=1)
        self.assert_error(client.request("no/such/method"), -32601, 1)
        client.send(request("tools/list", None, 2))
        self.assertIn("tools", client.answer(2)["result"])


if __name__ == "__main__":
    main()
