"""A session that the upstream has forgotten is opened again, once for all, and nobody notices (BEHAVIOUR, "Session: a
lost session")."""

from faults import FaultCase, call, eventually, main, text_of
from matrix.footprint import Footprint

DROP_IDS_ONLY = '{"keepStreams":true}'


class Lost(FaultCase):
    def lose(self, server, body=DROP_IDS_ONLY):
        server.control("POST", "sessions/drop", body)

    def test_level_and_subscriptions_are_restored_and_changes_announced(self):
        server, _ = self.bridge()
        client = self.client()
        client.request("logging/setLevel", {"level": "warning"}, 1)
        client.request("resources/subscribe", {"uri": "demo://ticker"}, 2)
        client.request("resources/subscribe", {"uri": "demo://readme"}, 3)
        client.request("resources/unsubscribe", {"uri": "demo://readme"}, 4)
        client.close()
        server.streams(1)
        server.forget_log()
        self.lose(server)
        other = self.client()
        other.send(call("echo", {"message": "after"}, 9))
        self.assertEqual(text_of(other.answer(9)), "after")
        self.reopened(1)
        methods = [entry["method"] for entry in server.log() if entry["method"]]
        self.assertEqual(methods, ["tools/call", "initialize", "notifications/initialized", "logging/setLevel",
                                   "resources/subscribe", "tools/call"])
        self.assertNotIn("mcp-session-id", server.log("initialize")[0]["headers"])
        listed = other.request("bridge/notifications", {}, 10)["result"]["notifications"]
        reopened, *changed = [entry["message"] for entry in listed]
        self.assertEqual((reopened["method"], reopened["params"]["reason"]),
                         ("notifications/bridge/session_reopened", "lost"))
        self.assertEqual(changed, [
            {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"},
            {"jsonrpc": "2.0", "method": "notifications/resources/list_changed"},
            {"jsonrpc": "2.0", "method": "notifications/prompts/list_changed"},
            {"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": "demo://ticker"}}])

    def test_what_a_reopening_that_failed_has_sent_is_given_up(self):
        server, daemon = self.bridge("--keepalive", "0", "--request-timeout", "2s")
        client = self.client()
        for id, uri in enumerate(("demo://ticker", "demo://readme")):
            client.request("resources/subscribe", {"uri": uri}, id)
        server.streams(1)
        # Of the first reopening's subscriptions one hangs, the other finds the session lost again.
        server.fault({"hang": True}, method="resources/subscribe")
        server.fault({"status": 404, "body": "gone", "delayMs": 100}, method="resources/subscribe")
        self.lose(server)
        self.assertEqual(text_of(client.call("echo", {"message": "after"}, 9)), "after")
        self.reopened(1)
        self.assertEqual(len(server.log("resources/subscribe")), 6)
        # Nothing is due any more, so nothing is awaited any more.
        eventually(lambda: Footprint(daemon).next_timer() > 30, "a daemon at rest")
        self.assertNotIn("did not reach the upstream", daemon.stderr())

    def test_who_waits_for_an_answer_on_another_stream_waits_no_longer(self):
        server, _ = self.bridge()
        client = self.client()
        client.fence()
        server.streams(1)
        server.fault({"status": 202}, method="tools/call")
        client.send(call("echo", {"message": "later"}, 1))
        server.log("tools/call", wait=2)
        self.lose(server, "{}")
        self.reopened(1)
        self.assert_error(client.answer(1), -32000, 1, "closed", "unknown")

    def test_a_400_about_the_session_that_a_ping_does_not_confirm_is_the_clients(self):
        server, _ = self.bridge()
        client = self.client()
        client.fence()
        body = '{"jsonrpc":"2.0","id":$ID,"error":{"code":-32602,"message":"no training session of that name"}}'
        server.fault({"status": 400, "contentType": "application/json", "body": body}, method="tools/call")
        answer = client.call("echo", {"message": "x"}, 1)
        self.assertEqual(answer["error"], {"code": -32602, "message": "no training session of that name"})
        self.assertEqual(self.initializes(server), 1)

    def test_a_404_that_says_method_not_found_is_no_loss(self):
        server, _ = self.bridge()
        client = self.client()
        client.fence()
        body = '{"jsonrpc":"2.0","id":$ID,"error":{"code":-32601,"message":"Method not found"}}'
        server.fault({"status": 404, "contentType": "application/json", "body": body}, method="tools/call")
        self.assertEqual(client.call("echo", {}, 1)["error"]["code"], -32601)
        self.assertEqual(self.initializes(server), 1)


if __name__ == "__main__":
    main()
