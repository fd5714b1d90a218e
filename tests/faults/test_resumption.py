"""Answers whose stream breaks are continued by their event ids, and never asked for twice (BEHAVIOUR, "Streamable
HTTP: streams that break")."""

import time

from faults import FaultCase, call, main, text_of


class Resumed(FaultCase):
    def setUp(self):
        super().setUp()
        self.server, self.daemon = self.bridge(upstream=("--event-ids", "--answers", "sse"))
        self.asker = self.client()
        self.asker.fence()

    def resumptions(self, wait=None):
        return [entry for entry in self.server.log(http_method="GET", wait=wait)
                if "last-event-id" in entry["headers"]]

    def test_a_broken_stream_is_continued_after_retry(self):
        self.server.fault({"closeAfterEvents": 1}, method="tools/call")
        before = self.server.log()[-1]["n"]
        self.asker.send(call("slow", {"steps": 2, "delayMs": 300}, 1, token="t"))
        messages = [self.asker.line() for _ in range(3)]
        self.assertEqual([m.get("method", "answer") for m in messages],
                         ["notifications/progress", "notifications/progress", "answer"])
        self.assertEqual(text_of(messages[2]), "done after 2 steps")
        self.assertEqual(len(self.server.log("tools/call", since=before)), 1)
        self.assertEqual(len(self.resumptions()), 1)

    def test_two_calls_at_once_are_each_continued_on_their_own(self):
        self.server.fault({"closeAfterEvents": 1}, method="tools/call", times=2)
        self.asker.send(call("slow", {"steps": 2, "delayMs": 50}, 1, token="a"),
                        call("slow", {"steps": 3, "delayMs": 50}, 2, token="b"))
        answers = self.collect(self.asker, 2)
        self.assertEqual({id: text_of(answer) for id, answer in answers.items()},
                         {1: "done after 2 steps", 2: "done after 3 steps"})
        self.assertEqual(len(self.resumptions()), 2)
        self.assertEqual(self.asker.fence(), [])

    def test_the_server_stream_is_continued_where_it_broke(self):
        self.server.streams(1)
        self.server.emit({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
        self.assertEqual(self.asker.line()["method"], "notifications/tools/list_changed")
        self.server.control("POST", "streams/close", "{}")
        self.server.control("POST", "emit", '{"message":{"jsonrpc":"2.0","method":"notifications/prompts/list_changed"}}')
        self.assertEqual(self.asker.line()["method"], "notifications/prompts/list_changed")
        self.assertEqual(self.asker.fence(), [])


class NotResumed(FaultCase):
    def test_one_whose_session_is_gone_meanwhile_is_unknown_and_the_session_is_opened_again(self):
        for option in ("404", "400", "400-sse"):
            with self.subTest(option):
                server, daemon = self.bridge("--no-server-stream", "--keepalive", "0", upstream=(
                    "--event-ids", "--answers", "sse", "--retry", "100", "--unknown-session", option))
                client = self.client()
                client.fence()
                server.fault({"closeAfterEvents": 0}, method="tools/call")
                client.send(call("slow", {"steps": 1000, "delayMs": 10}, 1))
                server.log("tools/call", wait=2)
                server.control("POST", "sessions/drop", "{}")
                self.assert_error(client.line(), -32000, 1, "closed", "unknown")
                # By the refusal alone: nobody asks for anything.
                self.reopened(1)
                self.assertEqual(len(server.log("tools/call")), 2)
                daemon.stop()

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
        self.assertLess(time.monotonic() - began, 6)
        self.reopened(1)

    def test_without_event_ids_it_is_unknown_whether_it_was_carried_out(self):
        server, _ = self.bridge(upstream=("--answers", "sse"))
        client = self.client()
        client.fence()
        server.fault({"closeAfterEvents": 1}, method="tools/call")
        client.send(call("slow", {"steps": 3, "delayMs": 50}, 1, token="t"))
        self.assertEqual(client.line()["method"], "notifications/progress")
        self.assert_error(client.line(), -32000, 1, None, "unknown")
        self.assertEqual(len([body for body in server.bodies("tools/call") if body["params"]["name"] == "slow"]), 1)


if __name__ == "__main__":
    main()
