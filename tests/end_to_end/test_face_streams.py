"""Event streams of the HTTP frontend: a session's own, a POST's, the fan-out, and those of 2024-11-05 (BEHAVIOUR,
"HTTP frontend: streams")."""

import json
import signal

from harness import call, eventually, initialize, main, notification, request, text_of
from harness.face import JSON, STREAM
from harness.facing import Facing
from harness.gathering import Gathering, data_of


class Streams(Gathering, Facing):
    def opened(self, *options, upstream=()):
        server, face = self.face("--handshake", "eager", *options, upstream=upstream)
        server.streams(1)
        return server, face


class OwnStream(Streams):
    def test_it_begins_with_a_comment_an_id_and_how_soon_to_come_back(self):
        _, face = self.opened("--sse-keepalive", "30ms")
        stream = face.stream(face.session())
        self.assertEqual(stream.status, 200)
        self.assertEqual(stream.headers["Content-Type"], STREAM)
        self.assertIn("no-cache", stream.headers["Cache-Control"])
        self.assertEqual(stream.headers["X-Accel-Buffering"], "no")
        self.assertEqual(stream.comment(), "open")
        self.assertEqual([stream.comment(), stream.comment()], ["keep-alive"] * 2)

    def test_notifications_of_the_session_come_to_every_session_with_a_stream(self):
        server, face = self.opened()
        one, two, without = face.session(), face.session(), face.session()
        streams = [face.stream(one), face.stream(two)]
        self.gather(server, "a", "b")
        for stream in streams:
            self.assertEqual(data_of(stream.messages(2)), ["a", "b"])
            self.assertEqual(stream.retry, "500")
        # The one that had no stream finds what nobody has taken: nothing.
        self.untaken(0)
        late = face.stream(without)
        self.gather(server, "c")
        self.assertEqual(data_of(late.messages(1)), ["c"])

    def test_what_a_broken_stream_was_not_read_goes_to_the_next(self):
        server, face = self.opened("--ring", "100000", "--ring-bytes", "64M")
        stream = face.stream(face.session(), receive_buffer=4096)
        self.assertEqual(stream.comment(), "open")
        newest = self.ring()["newest"]
        server.emit('{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"$N%s"}}' % ("x" * 2000), 10000)
        self.newest(newest + 10000)
        stream.close()
        client = self.client()
        got = [int(client.line()["params"]["data"].rstrip("x"))]
        while got[-1] < 10000:
            got.append(int(client.line()["params"]["data"].rstrip("x")))
        # It may have had the first ones; none is missing after them.
        self.assertEqual(got, list(range(got[0], 10001)))
        self.untaken(0)

    def test_a_second_stream_is_refused_and_one_that_comes_back_takes_over(self):
        server, face = self.opened()
        session = face.session()
        first = face.stream(session)
        self.gather(server, "a")
        self.assertEqual(data_of(first.messages(1)), ["a"])
        self.assertEqual(face.stream(session).status, 409)
        again = face.stream(session, last=first.last_id)
        self.assertEqual(again.status, 200)
        self.assertIsNone(first.event())
        self.gather(server, "b")
        self.assertEqual(data_of(again.messages(1)), ["b"])

    def test_a_stream_is_resumed_where_its_reader_had_got_to(self):
        server, face = self.opened()
        session = face.session()
        stream = face.stream(session)
        self.gather(server, "a", "b", "c")
        self.assertEqual(data_of(stream.messages(1)), ["a"])
        last = stream.last_id
        self.assertEqual(data_of(stream.messages(2)), ["b", "c"])
        stream.close()
        # Another client takes what comes meanwhile; the one that resumes had not read it either.
        other = self.client()
        self.gather(server, "d")
        self.assertEqual(data_of([other.line()]), ["d"])
        back = face.stream(session, last=last)
        self.assertEqual(data_of(back.messages(3)), ["b", "c", "d"])
        self.gather(server, "e")
        self.assertEqual(data_of(back.messages(1)), ["e"])


class LaterAnswers(Streams):
    def test_an_answer_asked_for_later_comes_on_the_sessions_stream_and_to_subscribers(self):
        _, face = self.opened()
        session = face.session()
        subscriber = face.stream(path="/mcp/stream")
        accepted = face.post([json.loads(call("echo", {"message": "a"}, 7)), json.loads(request("ping", id="b"))], session,
                             headers={"Prefer": "respond-async"})
        self.assertEqual((accepted.status, accepted.json()), (202, {"accepted": [7, "b"]}))
        self.assertEqual(accepted.headers["Preference-Applied"], "respond-async")
        # There was no stream: it waits for one.
        stream = face.stream(session)
        for one in (stream, subscriber):
            self.assertEqual({json.dumps(message["id"]) for message in one.messages(2)}, {"7", '"b"'})

    def test_progress_of_a_json_call_comes_on_the_sessions_stream(self):
        _, face = self.opened()
        session = face.session()
        stream = face.stream(session)
        answer = face.call("slow", {"steps": 2, "delayMs": 1}, 1, session, token="t", accept=JSON)
        self.assertEqual(text_of(answer.json()), "done after 2 steps")
        self.assertEqual([one["params"]["progress"] for one in stream.messages(2)], [1, 2])

    def test_the_answer_of_a_broken_post_is_kept(self):
        server, face = self.opened()
        session = face.session()
        connection = face.send_post(call("slow", {"steps": 2, "delayMs": 150}, 9), session)
        self.in_flight(1)
        connection.close()
        self.assertEqual(text_of(face.stream(session).message()), "done after 2 steps")
        self.assertEqual(server.log("notifications/cancelled"), [])


class PostStreams(Streams):
    def resumable(self):
        """A call whose stream has broken after its first progress; returns the session and the id."""
        server, face = self.opened()
        session = face.session()
        stream = face.post_stream(call("slow", {"steps": 3, "delayMs": 150}, 5, "t"), session,
                                  headers={"MCP-Protocol-Version": "2025-11-25"})
        self.assertEqual(stream.message()["params"]["progress"], 1)
        stream.close()
        return server, face, session, stream.last_id

    def test_a_broken_one_is_resumed_while_it_goes_on(self):
        server, face, session, last = self.resumable()
        back = face.stream(session, last=last)
        rest = back.rest()
        self.assertEqual([one["params"]["progress"] for one in rest[:-1]], [2, 3])
        self.assertEqual(text_of(rest[-1]), "done after 3 steps")
        self.assertEqual(server.log("notifications/cancelled"), [])

    def test_a_broken_one_is_told_to_its_end_afterwards(self):
        _, face, session, last = self.resumable()
        self.in_flight(0)
        rest = face.stream(session, last=last).rest()
        self.assertEqual([one.get("id") for one in rest], [None, None, 5])
        # As often as it is asked for.
        self.assertEqual(face.stream(session, last=last).rest(), rest)

    def test_one_that_was_cancelled_is_over(self):
        # SDK clients resume it; only 405 makes them stop without an error.
        server, face = self.opened()
        session = face.session()
        own = face.stream(session)
        for progress in (0, 1):
            delay = 100 if progress else 60_000
            stream = face.post_stream(call("slow", {"steps": 20, "delayMs": delay}, progress, "t"), session,
                                      headers={"MCP-Protocol-Version": "2025-11-25"})
            if progress:
                stream.message()
            stream.begun()
            face.post(notification("notifications/cancelled", {"requestId": progress}), session)
            stream.rest()
            self.assertEqual(face.stream(session, last=stream.last_id).status, 405)
        own.close()

    def test_one_that_waits_for_a_body_cannot_be_resumed(self):
        server, face = self.opened()
        session = face.session()
        server.fault({"delayMs": 60000}, method="tools/call")
        waiting = face.send_post(call("echo", {"message": "x"}, 7), session)
        server.log("tools/call", wait=1)
        for number in range(1, 5):
            stream = face.stream(session, last=f"{number}-0")
            self.assertEqual(stream.status, 200)
            stream.comment()  # a new beginning of the session's stream
            stream.close()
            self.untaken(0)
        waiting.close()
        server.control("POST", "reset", "{}")
        self.assertEqual(face.ask("ping", session=session).status, 200)

    def test_every_message_is_on_one_stream(self):
        server, face = self.opened()
        session = face.session()
        own = face.stream(session)
        posts = [face.post_stream(call("slow", {"steps": 2, "delayMs": 30}, n, f"t{n}"), session) for n in range(4)]
        for n, post in enumerate(posts):
            messages = post.rest()
            self.assertEqual([one.get("params", {}).get("progressToken") for one in messages], [f"t{n}", f"t{n}", None])
            self.assertEqual(messages[-1]["id"], n)
        self.gather(server, "fence")
        self.assertEqual(data_of([own.message()]), ["fence"])


class FanOut(Streams):
    def test_every_subscriber_gets_every_notification_and_takes_none(self):
        server, face = self.opened()
        subscribers = [face.stream(path="/mcp/stream") for _ in range(10)]
        self.gather(server, "a", "b")
        for subscriber in subscribers:
            self.assertEqual(data_of(subscriber.messages(2)), ["a", "b"])
        self.assertEqual(self.ring()["untaken"], 2)
        self.assertEqual(data_of(self.client().lines(2)), ["a", "b"])

    def test_a_subscriber_that_comes_back_misses_nothing(self):
        server, face = self.opened()
        subscriber = face.stream(path="/mcp/stream")
        self.gather(server, "a")
        subscriber.messages(1)
        subscriber.close()
        self.gather(server, "b")
        face.ask("ping", id=3, headers={"Prefer": "respond-async"})
        self.in_flight(0)
        back = face.stream(path="/mcp/stream", last=subscriber.last_id)
        self.assertEqual(data_of(back.messages(1)), ["b"])
        self.assertEqual(back.message()["id"], 3)


class OldTransport(Streams):
    def opened_old(self, face):
        stream = face.stream(path="/sse")
        endpoint = stream.event()
        self.assertEqual(endpoint["event"], "endpoint")
        return stream, endpoint["data"]

    def test_everything_comes_on_the_one_stream(self):
        server, face = self.opened()
        stream, endpoint = self.opened_old(face)
        self.assertRegex(endpoint, r"^/message\?sessionId=[0-9a-f]{32}$")
        accepted = face.post(initialize(0, version="2024-11-05"), path=endpoint)
        self.assertEqual((accepted.status, accepted.body), (202, b"Accepted"))
        first = stream.event()
        self.assertEqual(first["event"], "message")
        self.assertEqual(json.loads(first["data"])["result"]["protocolVersion"], "2024-11-05")
        face.post(notification("notifications/initialized"), path=endpoint)
        face.post(call("slow", {"steps": 1, "delayMs": 1}, 1, "t"), path=endpoint)
        self.assertEqual([stream.message().get("id"), stream.message().get("id")], [None, 1])
        self.gather(server, "n")
        self.assertEqual(data_of([stream.message()]), ["n"])
        self.untaken(0)

    def test_the_session_ends_with_its_stream(self):
        _, face = self.opened()
        stream, endpoint = self.opened_old(face)
        self.clients_of_kind("http", 1)
        stream.close()
        self.clients_of_kind("http", 0)
        self.assertEqual(face.ask("ping", path=endpoint).status, 404)

    def test_refusals(self):
        _, face = self.opened()
        _, endpoint = self.opened_old(face)
        self.assertEqual(face.post("oops", path=endpoint).status, 400)
        self.assertEqual(face.ask("ping", path="/message").status, 404)
        self.assertEqual(face.ask("ping", path="/message?sessionId=" + face.session()).status, 404)
        self.assertEqual(face.ask("ping", session=endpoint.split("=")[1]).status, 404)


class Ends(Streams):
    def test_a_session_that_is_deleted_ends_its_streams_and_with_cancel_its_requests(self):
        server, face = self.opened("--orphans", "cancel")
        session = face.session()
        stream = face.stream(session)
        running = face.post_stream(call("slow", {"steps": 1000, "delayMs": 1000}, 1), session)
        self.in_flight(1)
        self.assertEqual(face.request("DELETE", "/mcp", session=session).status, 204)
        self.assertEqual((stream.rest(), running.rest()), ([], []))
        server.log("notifications/cancelled", wait=1)
        eventually(lambda: server.state()["activeCalls"] == 0, "the end of the call")

    def test_the_daemon_ends_in_time_with_everything_open(self):
        _, face = self.opened("--grace", "200ms")
        session = face.session()
        streams = [face.stream(session), face.stream(path="/mcp/stream"), face.stream(path="/sse"),
                   face.post_stream(call("slow", {"steps": 1000, "delayMs": 1000}, 1), session)]
        idle = face.connect()
        self.in_flight(1)
        self.default_daemon.signal(signal.SIGTERM)
        messages = [stream.rest() for stream in streams[:2]]
        self.assertEqual(messages, [[], []])
        self.assert_error(streams[3].rest()[-1], -32000, id=1, kind="shutdown")
        self.assertEqual(idle.recv(10), b"")
        self.assertEqual(self.default_daemon.wait(8), 0)


if __name__ == "__main__":
    main()
