"""Requests that are under way while the daemon is upgraded go along (BEHAVIOUR, "Upgrade in place")."""

import json
import socket

from harness import main, notification, request, text_of
from harness.jobs import Jobs
from harness.local_server import LocalServer
from harness.upgrading import Upgrading

NO_GRACE = ("--grace", "1ms")


class OfTheBridge(Upgrading):
    """Control requests that wait."""

    def away(self):
        """A daemon before a server that cannot be reached, and the port at which it will be."""
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
        self.start_daemon(f"http://127.0.0.1:{port}/mcp", *NO_GRACE, "--connect-wait", "60s")
        return port

    def test_a_lookup_of_a_tool_is_answered_by_the_new_process(self):
        port = self.away()
        clients = [self.client() for _ in range(3)]
        for client in clients:
            client.send(request("bridge/tool", {"name": "echo"}, "look"))
            client.send(request("bridge/status", {}, "fence"))
            self.assertEqual(client.line()["id"], "fence")
        self.upgrade(2)
        self.upstream("--port", str(port))
        for client in clients:
            self.assertEqual(client.answer("look")["result"]["tool"]["name"], "echo")

    def test_a_collector_is_told_how_its_job_stands(self):
        self.away()
        client = self.client()
        client.send(request("bridge/submit", {"method": "tools/call", "params": {"name": "echo"}}, 1))
        job = client.answer(1)["result"]["job"]
        client.send(request("bridge/collect", {"job": job, "waitMs": 3_600_000}, 2))
        client.send(request("bridge/status", {}, 3))
        self.assertEqual(client.line()["id"], 3)
        self.upgrade()
        self.assertEqual(client.answer(2)["result"]["state"], "working")

    def test_who_waits_for_a_notification_asks_again_and_what_was_taken_stays_so(self):
        server, _ = self.opened(*NO_GRACE)
        self.gather(server, "a", "b")
        client = self.client()
        instance = self.default_daemon.control("bridge/notifications")["instance"]
        client.request("bridge/take", {"instance": instance, "seqs": [1]})
        for _ in range(2):
            client.send(request("bridge/notifications", {"since": 2, "waitMs": 3_600_000}, "wait"))
            client.send(request("bridge/status", {}, "fence"))
            client.answer("fence")
            self.upgrade()
            self.assertEqual(client.answer("wait")["result"]["notifications"], [])
        left = client.request("bridge/notifications", {"instance": instance, "untaken": True})["result"]
        self.assertEqual(([n["seq"] for n in left["notifications"]], left["gap"]), ([2], False))

    def test_who_watches_is_told_that_it_is_over(self):
        self.away()
        client = self.client()
        client.request("bridge/monitor")
        self.upgrade()
        self.assertEqual(client.line()["params"], {"ended": "upgrade"})


class AtALocalServer(Upgrading, LocalServer):
    def setUp(self):
        super().setUp()
        self.start_local(options=(*NO_GRACE, "--orphans", "cancel"))
        self.caller, self.other = self.client(), self.client()

    def asked(self, id="mine", token=None):
        """A call that the server does not answer; its id there."""
        meta = {} if token is None else {"_meta": {"progressToken": token}}
        upstream_id = self.next_id(self.other)
        self.caller.send(request("tools/call", {"name": "silent", "arguments": {}, **meta}, id))
        self.tool("echo", {"message": "the server has read it"}, client=self.caller)
        return upstream_id

    def test_its_progress_and_answer_come_to_who_asked(self):
        for upgrades in (1, 3):
            upstream_id = self.asked(f"call {upgrades}", token="a token")
            self.upgrade(upgrades)
            self.in_flight(1)
            self.says({"method": "notifications/progress", "params": {"progressToken": upstream_id, "progress": 1}}, self.other)
            self.assertEqual(self.caller.line()["params"], {"progressToken": "a token", "progress": 1})
            self.answers(upstream_id, self.other)
            self.assertEqual(text_of(self.caller.answer(f"call {upgrades}")), "late")
        self.in_flight(0)

    def test_it_can_be_cancelled(self):
        upstream_id = self.asked()
        self.upgrade()
        self.caller.send(notification("notifications/cancelled", {"requestId": "mine"}))
        self.in_flight(0)
        self.assertEqual(json.loads(self.tool("heard", client=self.caller))["params"]["requestId"], upstream_id)
        self.assertEqual(self.caller.fence(), [])

    def test_what_the_server_asks_is_answered_once(self):
        self.other.send(notification("bridge/answers", {"methods": ["custom/ask"]}))
        self.other.fence()
        self.says({"id": "q", "method": "custom/ask", "params": {}}, self.caller)
        notice, question = self.other.line(), self.other.line()
        self.assertEqual(question["method"], "custom/ask")
        self.assertEqual(notice["params"], {"requestId": question["id"], "caller": "another"})
        self.upgrade()
        self.other.send({"jsonrpc": "2.0", "id": question["id"], "result": {"answered": True}})
        self.assertEqual(json.loads(self.tool("heard", client=self.other)),
                         {"jsonrpc": "2.0", "id": "q", "result": {"answered": True}})
        self.assertFalse(self.caller.readable())

    def test_who_has_half_closed_is_answered(self):
        upstream_id = self.asked()
        self.caller.half_close()
        self.upgrade()
        self.answers(upstream_id, self.other)
        self.assertEqual(text_of(self.caller.answer("mine")), "late")
        self.caller.expect_closed()


class OverHttp(Upgrading):
    def test_an_answer_that_can_be_resumed_is_not_waited_for_and_comes_once(self):
        slow = {"name": "slow", "arguments": {"steps": 4, "delayMs": 400}, "_meta": {"progressToken": "t"}}
        for upgrades in (1, 3):
            server, _ = self.opened(*NO_GRACE, upstream=("--event-ids",))
            client = self.client()
            client.send(request("tools/call", slow))
            client.line()  # an event has come, with its id
            self.upgrade(upgrades)
            self.assertEqual(text_of(client.answer()), "done after 4 steps")
            self.assertEqual([(one["params"]["progressToken"], one["params"]["progress"]) for one in client.others],
                             [("t", 2), ("t", 3), ("t", 4)])
            self.assertEqual(len(server.log("tools/call")), 1)
            self.assert_still_serves(client)
            client.close()
            self.default_daemon.terminate()


class JobsAtALocalServer(Upgrading, LocalServer, Jobs):
    def setUp(self):
        super().setUp()
        self.start_local(options=NO_GRACE)
        self.other = self.client()

    def test_one_under_way_goes_along_and_what_was_asked_about_it_can_be_answered(self):
        upstream_id = self.next_id(self.other)
        job = self.job("silent")
        self.tool("echo", {"message": "the server has read it"}, client=self.other)
        before = self.listed()
        for upgrades in (1, 3):
            self.upgrade(upgrades)
        now = self.listed()
        self.assertEqual([(one["job"], one["state"], one["created"]) for one in now], [(job, "working", before[0]["created"])])
        self.says({"id": "q", "method": "elicitation/create", "params": {"message": "who?"}}, self.other)
        self.state_is(job, "input_required")
        self.upgrade(2)
        self.state_is(job, "input_required")
        self.assertEqual(self.collect(job, wait=0)["question"]["params"], {"message": "who?"})
        self.result_of("answer", {"job": job, "result": {"action": "decline"}})
        self.state_is(job, "working")
        self.assertEqual(json.loads(self.tool("heard", client=self.other)),
                         {"jsonrpc": "2.0", "id": "q", "result": {"action": "decline"}})
        self.answers(upstream_id, self.other)
        self.assertEqual(text_of(self.collect(job)["response"]), "late")
        self.in_flight(0)


if __name__ == "__main__":
    main()
