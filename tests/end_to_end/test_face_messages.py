"""Messages posted to the HTTP frontend, and the forms their answers take (BEHAVIOUR, "HTTP frontend: posts")."""

import json

from harness import call, main, notification, request, text_of
from harness.face import BOTH, JSON, STREAM
from harness.facing import Facing


class Forms(Facing):
    def test_a_caller_of_json_gets_the_matching_answer_alone(self):
        _, face = self.face(upstream=("--answers", "sse"))
        answer = face.call("slow", {"steps": 3, "delayMs": 1}, id="x", token="t")
        self.assertEqual((answer.status, answer.headers["Content-Type"]), (200, JSON))
        self.assertEqual(answer.json()["id"], "x")
        self.assertEqual(text_of(answer.json()), "done after 3 steps")

    def test_a_caller_that_prefers_a_stream_gets_everything_on_it(self):
        _, face = self.face()
        for accept in (STREAM, STREAM + ", " + JSON):
            with self.subTest(accept=accept):
                answer = face.call("slow", {"steps": 2, "delayMs": 1}, id=7, token="t", accept=accept)
                self.assertEqual((answer.status, answer.headers["Content-Type"]), (200, STREAM))
                self.assertIn("no-cache", answer.headers["Cache-Control"])
                self.assertEqual(answer.headers["X-Accel-Buffering"], "no")
                progress, last = answer.messages()[:-1], answer.messages()[-1]
                self.assertEqual([one["params"]["progress"] for one in progress], [1, 2])
                self.assertEqual([one["params"]["progressToken"] for one in progress], ["t", "t"])
                self.assertEqual(last["id"], 7)

    def test_notifications_and_answers_are_accepted(self):
        server, face = self.face()
        session = face.session()
        self.assertEqual(face.post(notification("notifications/roots/list_changed"), session).status, 202)
        self.assertEqual(face.post('{"jsonrpc":"2.0","id":5,"result":{}}', session).status, 202)
        self.assertEqual(face.post('[{"jsonrpc":"2.0","method":"notifications/a"}]', session).status, 202)
        self.assertEqual(server.bodies("notifications/a", wait=1), [{"jsonrpc": "2.0", "method": "notifications/a"}])

    def test_bytes_come_back_as_they_went(self):
        _, face = self.face()
        arguments = '{"n":1e400,"d":0.10,"e":"\\u0041\\/","k":1,"k":2}'
        body = '{"jsonrpc":"2.0",\n "id" : "\\u0069",\r\n"method":"tools/call","params":{"name":"mirror","arguments":%s}}' % arguments
        answer = face.post(body)
        self.assertIn(arguments.encode(), answer.body)
        self.assertIn(b'"id":"\\u0069"', answer.body)

    def test_an_error_of_the_upstream_is_an_answer(self):
        _, face = self.face()
        answer = face.ask("no/such/method")
        self.assertEqual(answer.status, 200)
        self.assert_error(answer.json(), -32601, id=1)


class Sessions(Facing):
    def test_a_session_is_opened_used_and_ended(self):
        server, face = self.face()
        session = face.session()
        self.assertRegex(session, "^[0-9a-f]{32}$")
        self.assertEqual(text_of(face.call("echo", {"message": "in"}, session=session).json()), "in")
        self.clients_of_kind("http", 1)
        self.assertEqual(face.request("DELETE", "/mcp", session=session).status, 204)
        self.clients_of_kind("http", 0)
        self.assertEqual(face.ask("ping", session=session).status, 404)
        self.assertEqual(face.request("DELETE", "/mcp", session=session).status, 404)
        self.assertEqual(server.state()["initializes"], 1)

    def test_a_cancelled_json_call_ends_without_an_answer(self):
        server, face = self.face()
        session = face.session()
        connection = face.send_post(call("slow", {"steps": 1000, "delayMs": 1000}, 1), session)
        self.in_flight(1)
        face.post(notification("notifications/cancelled", {"requestId": 1}), session)
        self.assertTrue(connection.recv(4096).startswith(b"HTTP/1.1 202 "))
        server.state(activeCalls=0)

    def test_control_methods_are_answered_as_everywhere(self):
        _, face = self.face()
        session = face.session()
        status = face.ask("bridge/status", session=session).json()["result"]
        self.assertEqual([client["kind"] for client in status["clients"]], ["http"])
        plain = face.get("/status").json()
        self.assertEqual(set(plain) | {"you"}, set(status))  # a GET has no client

    def test_a_caller_that_waits_too_long_gets_504_and_the_upstream_is_told(self):
        server, face = self.face("--http-timeout", "300ms")
        session = face.session()
        for form, name in ((JSON, session), (BOTH, session), (JSON, None)):
            with self.subTest(accept=form, session=bool(name)):
                answer = face.call("slow", {"steps": 1000, "delayMs": 1000}, id="late", session=name, accept=form)
                self.assertEqual(answer.status, 504)
                self.assert_error(answer.json(), -32000, id="late", kind="timeout", delivered="unknown")
        server.log("notifications/cancelled", wait=3)
        self.in_flight(0)
        self.clients_of_kind("http", 1)

    def test_an_upstream_that_is_away_is_an_error_in_the_answer_and_not_ready(self):
        _, face = self.face_away()
        self.assertEqual(face.get("/readyz").status, 200)
        answer = face.ask("ping")
        self.assertEqual(answer.status, 200)
        self.assert_error(answer.json(), -32000, id=1, kind="connect", delivered="no")
        self.assertEqual(face.get("/readyz").status, 503)
        self.assertEqual(face.get("/healthz").status, 200)

    def face_away(self):
        server = self.upstream()
        server.stop()
        return server, self.face_before(server, "--connect-wait", "100ms")


class Questions(Facing):
    """Requests of the upstream."""

    everything = {"sampling": {}, "elicitation": {}, "roots": {}}

    def test_a_question_of_a_call_comes_on_its_stream_and_is_answered_by_a_post(self):
        server, face = self.face()
        session = face.session(self.everything)
        stream = face.post_stream(call("ask", {"question": "Who?"}, 4), session, accept=BOTH)
        question = stream.message()
        self.assertEqual(question["method"], "elicitation/create")
        reply = {"jsonrpc": "2.0", "id": question["id"], "result": {"action": "accept", "content": {"answer": "Ada"}}}
        self.assertEqual(face.post(reply, session).status, 202)
        self.assertIn("Ada", text_of(stream.message()))
        self.assertIsNone(stream.event())
        self.assertEqual(len(server.answers(wait=1)), 1)

    def test_a_caller_that_cannot_be_asked_is_not(self):
        _, face = self.face()
        session = face.session(self.everything)
        answer = face.call("ask", {"question": "Who?"}, session=session, accept=JSON)
        self.assertTrue(answer.json()["result"]["isError"])
        self.assertIn("-32601", text_of(answer.json()))

    def test_a_question_of_the_session_waits_for_the_next_stream(self):
        server, face = self.face("--handshake", "eager")
        session = face.session(self.everything)
        server.ask(request("roots/list", id="srv"))
        self.parked(face, 1)
        stream = face.stream(session)
        question = stream.message()
        self.assertEqual(question["method"], "roots/list")
        face.post({"jsonrpc": "2.0", "id": question["id"], "result": {"roots": []}}, session)
        self.assertEqual(json.loads(server.answers(wait=1)[0]["body"])["id"], "srv")


if __name__ == "__main__":
    main()
