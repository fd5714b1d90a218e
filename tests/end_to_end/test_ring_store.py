"""The ring: what it keeps, what falls out, and what is counted (BEHAVIOUR, "Ring: bounds")."""

from harness import main, notification
from harness.gathering import Gathering, data_of, log_message


class Bounds(Gathering):
    def test_all_are_flushed_on_connect_in_order_before_anything_else(self):
        server, _ = self.opened()
        self.gather_many(server, 50)
        client = self.client()
        client.send('{"jsonrpc":"2.0","id":1,"method":"ping"}')
        self.assertEqual(data_of(client.lines(50)), list(range(1, 51)))
        self.assertEqual(client.line()["id"], 1)

    def test_they_are_flushed_to_one_that_sends_nothing(self):
        server, _ = self.opened()
        self.gather(server, "a", "b")
        self.assertEqual(data_of(self.client().lines(2)), ["a", "b"])

    def test_of_1001_the_oldest_is_dropped_and_counted(self):
        server, _ = self.opened()
        self.gather_many(server, 1001)
        ring = self.ring()
        self.assertEqual((ring["entries"], ring["dropped"], ring["oldest"], ring["newest"]), (1000, 1, 2, 1001))
        client = self.client()
        self.assertEqual(data_of(client.lines(1000)), list(range(2, 1002)))
        self.assertEqual(client.fence(), [])

    def test_excluded_kinds_stay_out_but_reach_who_is_connected_or_not_at_all(self):
        server, _ = self.opened("--ring-exclude", "notifications/message", "--ring-exclude", "notifications/tasks/status")
        server.emit(log_message("noise"))
        server.emit(notification("notifications/tasks/status", {}))
        server.emit(notification("notifications/tools/list_changed"))
        self.newest(1)
        client = self.client()
        self.assertEqual(client.line()["method"], "notifications/tools/list_changed")
        self.assertEqual([m for m in client.fence() if m["method"] != "notifications/message"], [])
        self.assertEqual(self.ring()["newest"], 1)


class Coalescing(Gathering):
    def updated(self, uri, n):
        return notification("notifications/resources/updated", {"uri": uri, "n": n})

    def test_a_newer_one_replaces_an_older_untaken_one(self):
        server, daemon = self.opened("--ring-coalesce")
        for n in range(3):
            server.emit(notification("notifications/tools/list_changed", {"n": n}))
            server.emit(self.updated("demo://a", n))
            server.emit(self.updated("demo://b", n))
            server.emit(notification("notifications/prompts/list_changed", {"n": n}))
            server.emit(log_message(n))
        counted = ("entries", "coalesced", "dropped")
        daemon.status_when(lambda status: [status["ring"][name] for name in counted] == [7, 8, 0],
                           "eight of fifteen replaced")
        client = self.client()
        messages = client.lines(7)
        self.assertEqual(data_of([m for m in messages if m["method"] == "notifications/message"]), [0, 1, 2])
        self.assertEqual([m["params"]["n"] for m in messages if m["method"] != "notifications/message"], [2] * 4)
        self.assertEqual(client.fence(), [])


if __name__ == "__main__":
    main()
