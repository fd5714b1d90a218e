"""What subscribers of /mcp/stream see with --http-fanout all, and streams that end when they are quiet."""

import json

from harness import answer, call, initialize, main, notification, request, text_of
from harness.facing import Facing
from harness.gathering import Gathering, data_of

LATER = {"Prefer": "respond-async"}
QUESTION = request("roots/list", None, "q1")


class Everything(Facing):
    def watched(self, *options):
        server, face = self.face("--handshake", "eager", "--http-fanout", "all", *options)
        server.streams(1)
        subscriber = face.stream(path="/mcp/stream")
        subscriber.comment()
        return server, face, subscriber

    def told(self, server, result):
        one, = server.answers(wait=1)
        self.assertEqual(json.loads(one["body"]), {"jsonrpc": "2.0", "id": "q1", "result": result})

    def test_a_request_that_nobody_was_asked_is_answered_by_who_saw_it(self):
        server, face, subscriber = self.watched()
        server.ask(QUESTION)
        shown = subscriber.message()
        self.assertEqual(shown["method"], "roots/list")
        self.assertEqual(face.post(answer(shown["id"], {"roots": []})).status, 202)
        self.told(server, {"roots": []})
        # And once.
        self.assertEqual(face.post(answer(shown["id"], {"roots": [1]})).status, 202)
        self.assertEqual(face.ask("ping").status, 200)
        self.assertEqual(len(server.answers()), 1)

    def test_a_request_on_the_stream_of_a_call_without_a_session_too(self):
        server, face, subscriber = self.watched()
        self.assertEqual(face.call("roots", {}, 5, headers=LATER).status, 202)
        shown = subscriber.message()
        self.assertEqual(shown["method"], "roots/list")
        self.assertEqual(face.post(answer(shown["id"], {"roots": []})).status, 202)
        done = subscriber.message()
        self.assertEqual((done["id"], json.loads(text_of(done))), (5, {"roots": []}))

    def test_what_somebody_was_asked_is_shown_once_and_answered_by_that_one_alone(self):
        server, face, subscriber = self.watched()
        asked = self.client()
        asked.send(initialize(0, {"roots": {}}), notification("notifications/initialized"))
        asked.answer(0)
        server.ask(QUESTION)
        shown, question = subscriber.message(), asked.line()
        self.assertEqual(shown, question)
        self.assertEqual(face.post(answer(shown["id"], {"roots": ["false"]})).status, 202)
        self.assertEqual(face.ask("ping", id="fence").status, 200)
        self.assertEqual(subscriber.message()["id"], "fence")
        self.assertEqual(server.answers(), [])
        asked.send(answer(question["id"], {"roots": []}))
        self.told(server, {"roots": []})

    def test_with_nobody_looking_on_nothing_waits_for_an_answer(self):
        server, face = self.face("--handshake", "eager", "--http-fanout", "all")
        server.streams(1)
        refused = face.call("roots", {}, 5)
        self.assertIn("-32601", text_of(refused.json()))


class Later(Gathering, Facing):
    def test_progress_of_what_was_put_off_goes_to_subscribers_with_and_without_a_session(self):
        for has_session in (False, True):
            with self.subTest(has_session=has_session):
                _, face = self.face("--http-async")
                session = face.session() if has_session else None
                subscriber = face.stream(path="/mcp/stream")
                subscriber.comment()
                self.assertEqual(face.call("slow", {"steps": 2, "delayMs": 1}, 4, session, token="t").status, 202)
                first, second, done = subscriber.messages(3)
                self.assertEqual([first["params"]["progress"], second["params"]["progress"], done["id"]], [1, 2, 4])
                self.default_daemon.stop()

    def test_without_the_option_requests_of_the_upstream_are_not_shown(self):
        server, face = self.face("--handshake", "eager")
        server.streams(1)
        subscriber = face.stream(path="/mcp/stream")
        subscriber.comment()
        server.ask(QUESTION)
        self.gather(server, "fence")
        self.assertEqual(data_of([subscriber.message()]), ["fence"])


class Quiet(Gathering, Facing):
    def test_a_quiet_stream_ends_in_order_and_comes_again(self):
        server, face = self.face("--handshake", "eager", "--sse-idle", "300ms", "--sse-keepalive", "50ms")
        session = face.session()
        stream, subscriber = face.stream(session), face.stream(path="/mcp/stream")
        self.gather(server, "a")
        self.assertEqual(data_of(stream.rest()), ["a"])
        self.assertEqual(data_of(subscriber.rest()), ["a"])
        self.assertIn("keep-alive", stream.comments)
        self.gather(server, "b")
        again = face.stream(session, last=stream.last_id)
        self.assertEqual(data_of([again.message()]), ["b"])

    def test_the_stream_of_a_post_waits_for_its_answer_and_so_does_that_of_the_older_transport(self):
        _, face = self.face("--sse-idle", "100ms", "--sse-keepalive", "50ms")
        posted = face.post_stream(call("slow", {"steps": 1, "delayMs": 600}, 3))
        self.assertEqual(text_of(posted.message()), "done after 1 steps")
        old = face.stream(path="/sse")
        endpoint = old.event()["data"]
        face.post(call("slow", {"steps": 1, "delayMs": 600}, 4), path=endpoint)
        self.assertEqual(text_of(old.message()), "done after 1 steps")
        self.assertEqual(old.rest(), [])
        self.clients_of_kind("http", 0)


class Reached(Facing):
    def asking(self):
        server, face = self.face("--handshake", "eager", "--client-capabilities", '{"roots":{}}')
        server.streams(1)
        return server, face

    def test_a_session_whose_post_stream_has_broken_is_not_asked(self):
        server, face = self.asking()
        gone, there = face.session({"roots": {}}), face.session({"roots": {}})
        broken = face.post_stream(call("slow", {"steps": 1, "delayMs": 20_000}, 1), gone)
        server.log("tools/call", wait=1)
        broken.close()
        stream = face.stream(there)
        stream.comment()

        def noticed():
            server.ask(QUESTION)
            return stream.message()["method"] == "roots/list"

        self.assertTrue(noticed())

    def test_a_question_about_a_call_whose_stream_has_broken_comes_on_the_sessions_stream(self):
        server, face = self.asking()
        session = face.session({"roots": {}})
        stream = face.stream(session)
        stream.comment()
        server.fault({"delayMs": 500}, method="tools/call")
        broken = face.post_stream(call("roots", {}, 6), session)
        broken.begun()
        server.log("tools/call", wait=1)
        broken.close()
        question = stream.message()
        self.assertEqual(question["method"], "roots/list")
        face.post(answer(question["id"], {"roots": []}), session)
        self.in_flight(0)
        done, = face.stream(session, last=broken.last_id).rest()
        self.assertEqual((done["id"], json.loads(text_of(done))), (6, {"roots": []}))


if __name__ == "__main__":
    main()
