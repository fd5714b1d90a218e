"""`subscriptions/listen`: many clients and one stream upstream, the ring behind both, and every way such a stream
ends (BEHAVIOUR, "Eras: the listen stream", "Eras: event streams", "Eras: a modern client")."""

import asyncio
import json

from harness import eventually, main
from harness.eras import Eras, with_each
from harness.modern_protocol import TASKS

TOOLS, PROMPTS = "notifications/tools/list_changed", "notifications/prompts/list_changed"
UPDATED = "notifications/resources/updated"
ONE, TWO = "demo://one", "demo://two"
ALL = {"toolsListChanged": True, "promptsListChanged": True, "resourcesListChanged": True}


class Listens(Eras):
    """On both sides of the bridge: a subclass says over what clients come, a test before which servers."""

    carrier = "socket"

    def another(self):
        return self.modern() if self.carrier == "socket" else self.modern_face()

    def each(self, *modes):
        for mode in modes or ("modern", "legacy"):
            for stdio in (False, True):
                yield (f"{mode} server{' that is a child' * stdio}",
                       lambda mode=mode, stdio=stdio: self.bridged(mode, stdio=stdio, face=self.carrier == "face")[:1])

    def emitted(self, server, method, params=None):
        """Into the ring."""
        newest = self.default_daemon.status()["ring"]["newest"]
        server.wait_reaches(method, params)
        server.emit(method, params)
        self.newest(newest + 1)

    # What each is told.

    @with_each("each")
    def test_the_acknowledgement_comes_first_and_says_what_is_honoured(self, server):
        listen = self.another().listen(toolsListChanged=True, resourceSubscriptions=[ONE], unheardOf=True)
        self.assertEqual(listen.acknowledged, {"toolsListChanged": True, "resourceSubscriptions": [ONE]})
        self.emitted(server, TOOLS)
        self.assertEqual(listen.next()["method"], TOOLS)

    # What the server sees.

    @with_each("each", "modern")
    def test_one_stream_upstream_with_the_union_of_all_filters(self, server):
        client = self.another()
        client.listen(resourceSubscriptions=[ONE])
        server.wait_union(**ALL, resourceSubscriptions=[ONE])
        two = client.listen(resourceSubscriptions=[TWO])
        server.wait_union(**ALL, resourceSubscriptions=[ONE, TWO])
        two.close()
        # Over HTTP that is a connection that has ended, whose resources are held for a while.
        server.wait_union(**ALL, resourceSubscriptions=[ONE] if self.carrier == "socket" else [ONE, TWO])

    # The ring.

    @with_each("each", "modern")
    def test_a_new_union_neither_loses_nor_repeats(self, server):
        client = self.another()
        listen = client.listen(toolsListChanged=True)
        for count in range(20):
            if count % 5 == 0:
                client.listen(resourceSubscriptions=[f"demo://{count}"])
            self.emitted(server, TOOLS)
        self.assertEqual([listen.next()["method"] for _ in range(20)], [TOOLS] * 20)
        client.ask("server/discover")
        self.assertEqual(listen.rest(), [])

    # Ends.

    def test_a_stream_that_ended_upstream_is_opened_again_and_its_kinds_count_as_changed(self):
        for how in ("graceful", "cancelled", "bare", "sudden"):
            with self.subTest(how):
                server, daemon = self.bridged("modern", face=self.carrier == "face")
                listen = self.another().listen(toolsListChanged=True, resourceSubscriptions=[ONE])
                server.wait_union(resourceSubscriptions=[ONE])
                before = len(server.received("subscriptions/listen"))
                server.end_listens(how)
                server.wait_for("subscriptions/listen", before + 1)
                server.wait_reaches(TOOLS)
                self.assertEqual({listen.next()["method"] for _ in range(2)}, {TOOLS, UPDATED})
                self.emitted(server, TOOLS)
                eventually(lambda: listen.next()["method"] == TOOLS, "what came after it")
                self.assertIsNone(listen.ended)
                self.assertEqual(daemon.status()["upstream"]["state"], "open")

    @with_each("each")
    def test_one_that_is_cut_off_holds_its_resources_for_a_while_and_one_that_is_cancelled_does_not(self, server):
        client = self.another()
        client.listen(resourceSubscriptions=[ONE])
        server.wait_reaches(UPDATED, {"uri": ONE})
        client.close()
        self.others(0)
        self.emitted(server, UPDATED, {"uri": ONE})  # still subscribed
        later = self.another()
        listen = later.listen(resourceSubscriptions=[ONE])
        self.assertEqual(listen.next()["params"]["uri"], ONE)
        if self.carrier == "socket":
            listen.close()
            if server.mode == "legacy":
                later.ask("server/discover")
                self.assertEqual(server.received("resources/unsubscribe"), [])  # the first one's five minutes

    # Extensions.

    def test_tasks_go_to_the_listens_that_name_them(self):
        capable = {"extensions": {TASKS: {}}}
        server, _ = self.bridged("modern", face=self.carrier == "face")
        client = self.another()
        task, other = (client.call_tool("task", capabilities=capable)["result"]["taskId"] for _ in range(2))
        listen = client.listen(capabilities=capable, taskIds=[task])
        plain = client.listen(toolsListChanged=True)
        server.wait_union(taskIds=[task])
        server.complete_task(other)
        server.complete_task(task)
        self.assertEqual(listen.next()["params"]["taskId"], task)
        got = client.ask("tasks/get", {"taskId": task}, capabilities=capable)["result"]
        self.assertEqual(got["status"], "completed")
        self.assertEqual((listen.rest(), plain.rest()), ([], []))

    def test_events_are_streamed_and_a_truncated_one_is_passed_on(self):
        server, _ = self.bridged("modern", face=self.carrier == "face")
        client = self.another()
        server.happen({"n": 0})
        server.happen({"n": 1})
        server.events.oldest = 1
        stream = client.stream_events("deploy", cursor="c0")
        active = stream.next()
        self.assertEqual((active["method"], active["params"]["truncated"]), ("notifications/events/active", True))
        self.assertEqual(stream.next()["params"]["data"], {"n": 1})
        server.happen({"n": 2})
        self.assertEqual(stream.next()["params"]["cursor"], "c3")
        stream.close()
        eventually(lambda: not server.events.streams, "its end upstream")


class OverTheFace(Listens):
    carrier = "face"


class BesideOldClients(Eras):
    def test_a_modern_client_that_does_not_listen_is_told_nothing(self):
        for mode in ("modern", "legacy"):
            with self.subTest(mode):
                server, _ = self.bridged(mode, "--handshake", "eager")
                server.wait_reaches(TOOLS)
                server.emit(TOOLS)
                self.newest(1)
                client = self.modern()
                client.ask("tools/list")
                self.assertTrue(client.quiet(0.2))
                self.untaken(1)

    def test_a_large_listen_asks_for_a_few_resources_at_a_time_and_a_larger_one_is_refused(self):
        server, _ = self.bridged("legacy")
        client, other = self.modern(), self.modern()
        client.ask("tools/list")
        listen = client.listen(resourceSubscriptions=[f"demo://{n}" for n in range(10_000)])
        refusal = client.responses[json.dumps(listen.id)]["error"]
        self.assertEqual((refusal["code"], "more than 1000" in refusal["message"]), (-32602, True), refusal)

        serve, go_on, at_once, most = server.serve, asyncio.Event(), 0, 0

        async def held(exchange):
            nonlocal at_once, most
            if exchange.method == "resources/subscribe":
                at_once += 1
                most = max(most, at_once)
                await go_on.wait()
                at_once -= 1
            await serve(exchange)

        server.serve = held
        client.listen(resourceSubscriptions=[f"demo://{n}" for n in range(1000)])
        server.wait_for("resources/subscribe", 8)
        self.assertIn("result", other.call_tool("echo", {"message": "meanwhile"}))
        self.assertEqual(len(server.received("resources/subscribe")), 8)  # and none for the refused one
        server.loop.call_soon_threadsafe(go_on.set)
        server.wait_for("resources/subscribe", 1000)
        self.assertEqual(most, 8)

    def test_events_that_the_bridge_was_told_to_stream_are_in_the_ring(self):
        server, _ = self.bridged("modern", "--handshake", "eager", "--event", 'deploy={"env":"x"}')
        eventually(lambda: server.events.streams, "the bridge's own stream")
        self.assertEqual(server.received("events/stream")[0].params["arguments"], {"env": "x"})
        server.happen({"n": 1})
        self.newest(1)
        message = self.client().line()
        self.assertEqual((message["method"], message["params"]["cursor"]), ("notifications/events/event", "c1"))
        self.assertNotIn("subscriptionId", json.dumps(message))
        server.restart()
        server.wait_for("events/stream", 2)
        self.assertEqual(server.received("events/stream")[-1].params["cursor"], "c1")

    def test_events_of_a_server_without_streams_are_polled_with_what_was_lost(self):
        server = self.server("modern")
        server.events.can_stream = False
        self.before(server, "--handshake", "eager", "--event", "deploy")
        server.wait_for("events/poll", 2)
        self.assertEqual([poll.params["cursor"] for poll in server.received("events/poll")[:2]], [None, "c0"])

        def lose_the_first():
            server.events.happened = [{"n": 0}, {"n": 1}]
            server.events.oldest = 1

        server.loop.call_soon_threadsafe(lose_the_first)
        self.newest(2)
        active, event = self.client().lines(2)
        self.assertEqual((active["method"], active["params"]["truncated"]), ("notifications/events/active", True))
        self.assertEqual((event["method"], event["params"]["data"]), ("notifications/events/event", {"n": 1}))


if __name__ == "__main__":
    main()
