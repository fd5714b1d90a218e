"""Answers whose stream breaks are continued by their event ids, and never asked for twice (BEHAVIOUR, "Streamable
HTTP: streams that break"); a session that the upstream has forgotten is restored (BEHAVIOUR, "Session: a lost session")."""

import time

from faults import FaultCase, call, main, text_of, within


class Resumed(FaultCase):
    def test_the_server_stream_is_continued_where_it_broke(self):
        server, _ = self.bridge(upstream=("--event-ids", "--answers", "sse"))
        client = self.client()
        client.fence()
        server.streams(1)
        server.emit({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
        self.assertEqual(client.line()["method"], "notifications/tools/list_changed")
        server.control("POST", "streams/close", "{}")
        server.control("POST", "emit", '{"message":{"jsonrpc":"2.0","method":"notifications/prompts/list_changed"}}')
        self.assertEqual(client.line()["method"], "notifications/prompts/list_changed")
        self.assertEqual(client.fence(), [])


class NotResumed(FaultCase):
    def test_one_that_waits_to_be_continued_ends_when_the_session_is_replaced(self):
        # A new session knows nothing of the old one's events, and may stay silent for ever.
        server, daemon = self.bridge("--keepalive", "0", upstream=("--event-ids", "--answers", "sse", "--retry", "8000"))
        client = self.client()
        client.fence()
        server.streams(1)
        server.fault({"closeAfterEvents": 1}, method="tools/call")
        client.send(call("slow", {"steps": 1000, "delayMs": 10}, 1, token="t"))
        self.assertEqual(client.line()["method"], "notifications/progress")
        began = time.monotonic()
        server.control("POST", "sessions/drop", '{"keepStreams":true}')
        self.assertEqual(text_of(self.client().call("echo", {"message": "other"}, 2)), "other")
        self.assert_error(client.answer(1), -32000, 1, "closed", "unknown")
        self.assertLess(time.monotonic() - began, within(6))
        self.reopened(1)


class Lost(FaultCase):
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
        server.control("POST", "sessions/drop", '{"keepStreams":true}')
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


if __name__ == "__main__":
    main()
