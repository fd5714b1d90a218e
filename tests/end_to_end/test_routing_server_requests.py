"""Requests of the server: how they come to a client, and its answer back; test_routing_who_is_asked is about whom."""

import json

from harness import answer, call, initialize, main, notification, request, text_of
from harness.questions import ALL, Questions


class OnARequestsStream(Questions):
    def test_each_kind_goes_to_the_requests_client_and_its_answer_back(self):
        self.bridge()
        other, client = self.capable(), self.capable()
        for tool, arguments, method, result in (
                ("ask", {"question": "Well?"}, "elicitation/create", {"action": "accept", "content": {"x": 1}}),
                ("sample", {"prompt": "Say"}, "sampling/createMessage", {"role": "assistant", "model": "m"}),
                ("roots", {}, "roots/list", {"roots": [{"uri": "file:///a"}]})):
            with self.subTest(tool):
                client.send(call(tool, arguments, 5))
                asked = self.asked(client, method)
                client.send(answer(asked["id"], result))
                self.assertEqual(json.loads(text_of(client.answer(5))), result)
        self.assertEqual(other.fence(), [])

    def test_an_error_of_the_client_goes_back_too(self):
        self.bridge()
        client = self.capable()
        client.send(call("ask", {"question": "Well?"}, 5))
        asked = self.asked(client, "elicitation/create")
        client.send(answer(asked["id"], error={"code": -1, "message": "no"}))
        response = client.answer(5)
        self.assertTrue(response["result"]["isError"])
        self.assertIn('"message":"no"', text_of(response).replace(" ", ""))

    def test_an_answer_sent_just_before_the_half_close_counts(self):
        self.bridge()
        client = self.capable()
        client.send(call("ask", {"question": "?"}, 5))
        asked = self.asked(client, "elicitation/create")
        client.send(answer(asked["id"], {"action": "decline"})).half_close()
        self.assertIn("decline", text_of(client.line()))
        client.expect_closed()

    def test_only_the_asked_client_may_answer(self):
        server, _ = self.bridge()
        other, client = self.capable(), self.capable()
        client.send(call("ask", {"question": "?"}, 5))
        asked = self.asked(client, "elicitation/create")
        other.send(answer(asked["id"], {"action": "accept", "content": {"said": "thief"}}),
                   answer(1, {}), answer("nothing", {}), answer(asked["id"], error={"code": 1, "message": "x"}))
        other.fence()
        client.send(answer(asked["id"], {"action": "accept", "content": {"said": "owner"}}))
        self.assertIn("owner", text_of(client.answer(5)))
        self.assertEqual(len(server.answers()), 1)

    def test_the_upstreams_cancellation_goes_to_that_client_with_its_id(self):
        server, _ = self.bridge()
        other, client = self.capable(), self.capable()
        server.fault('{"sse":[{"data":{"jsonrpc":"2.0","id":"s-9","method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}}}}},'
                     '{"data":{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"s-9","reason":"0.10"}},"delayMs":100}],"thenAnswer":true}', method="tools/call")
        client.send(call("echo", {"message": "after"}, 5))
        asked = self.asked(client, "elicitation/create")
        cancelled = client.line()
        self.assertEqual(cancelled["method"], "notifications/cancelled")
        self.assertEqual(cancelled["params"], {"requestId": asked["id"], "reason": "0.10"})
        self.assertEqual(text_of(client.line()), "after")
        client.send(answer(asked["id"], {"action": "accept"}))
        client.fence()
        self.assertEqual(server.answers(), [])
        self.assertEqual(other.fence(), [])


class OnTheServerStream(Questions):
    def test_a_ping_is_answered_by_the_bridge(self):
        server, daemon = self.bridge("--handshake", "eager")
        server.ask(request("ping", None, "p-1"))
        self.assertEqual(json.loads(server.answers(wait=1)[0]["body"]), {"jsonrpc": "2.0", "id": "p-1", "result": {}})
        client = self.client()
        server.ask(request("ping", None, 0))
        self.assertEqual(server.answers(wait=2)[1]["id"], "0")
        self.assertEqual(client.fence(), [])

    def test_when_its_client_leaves_it_goes_to_another_or_is_parked(self):
        server, _ = self.bridge()
        first = self.capable()
        self.asks(server, "srv-1")
        self.asked(first)
        first.close()
        self.others(0)
        second = self.client()
        second.send(initialize("init", ALL), notification("notifications/initialized"))
        second.answer("init")
        asked = self.asked(second)
        second.send(answer(asked["id"], {"said": "second"}))
        self.assertEqual(server.answers(wait=1)[0]["id"], '"srv-1"')


class Floods(Questions):
    def test_a_flood_of_pings_is_answered_over_a_few_connections(self):
        server, _ = self.bridge("--handshake", "eager")
        server.streams(1)
        before = server.state()["connections"]
        server.emit(request("ping", {}, id=5), count=20000)
        answers = server.answers(wait=20000)
        self.assertEqual({one["id"] for one in answers}, {"5"})
        # Some more for the harness's own.
        self.assertLess(server.state()["connections"] - before, 60)

    def test_while_pings_hang_no_more_than_a_few_are_under_way_and_the_rest_waits_in_bounds(self):
        server, daemon = self.bridge("--handshake", "eager")
        server.streams(1)
        client = self.client()
        client.call("echo", {"message": "warm"})
        server.fault({"hang": True}, method="-", http_method="POST", times=-1)
        server.emit(request("ping", {"filler": "x" * 50000}, id="y" * 20000), count=2000)
        daemon.logged("did not reach the upstream")  # 40 MB of answers are not kept
        self.assertLess(server.state()["openConnections"], 60)
        # Requests are not in their way.
        self.assertEqual(text_of(client.call("echo", {"message": "still"}, id=2)), "still")


if __name__ == "__main__":
    main()
