"""Requests of the server: which client is asked, how they come to it, and its answer back (BEHAVIOUR, "Server requests")."""

import json
import os
import unittest

from harness import Case, answer, call, initialize, main, notification, request, text_of
from harness.face import Face
from harness.other_user import acting_as, is_root

ALL = {"sampling": {}, "elicitation": {}, "roots": {}}


class Questions(Case):
    def capable(self, capabilities=None, client=None):
        """A client that has initialized with these capabilities."""
        client = client or self.client()
        client.send(initialize("init", ALL if capabilities is None else capabilities))
        client.answer("init")
        client.send(notification("notifications/initialized"))
        client.fence()
        client.others = []
        return client

    def asks(self, server, id="srv-1", method="sampling/createMessage", params=None):
        server.ask(request(method, params or {"messages": [], "maxTokens": 1}, id))

    def asked(self, client, method="sampling/createMessage"):
        message = client.line()
        self.assertEqual(message.get("method"), method, message)
        return message


class OnARequestsStream(Questions):
    """BEHAVIOUR, "Server requests: how a server request ends"."""

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
    """BEHAVIOUR, "Server requests: who is asked"."""

    def test_a_ping_is_answered_by_the_bridge(self):
        server, _ = self.bridge("--handshake", "eager")
        server.ask(request("ping", None, "p-1"))
        self.assertEqual(json.loads(server.answers(wait=1)[0]["body"]), {"jsonrpc": "2.0", "id": "p-1", "result": {}})

    def test_one_of_no_known_capability_goes_to_a_client_that_initialized_and_to_the_next_when_that_leaves(self):
        server, _ = self.bridge()
        self.client().fence()
        first = self.capable({})
        self.asks(server, "srv-1", "foo/bar", {"x": 1e3})
        self.assertEqual(self.asked(first, "foo/bar")["params"], {"x": 1e3})
        first.close()
        self.others(1)
        second = self.client()
        second.send(initialize("init", {}), notification("notifications/initialized"))
        second.answer("init")
        second.send(answer(self.asked(second, "foo/bar")["id"], {"bar": "0.10"}))
        self.assertEqual(json.loads(server.answers(wait=1)[0]["body"]), {"jsonrpc": "2.0", "id": "srv-1", "result": {"bar": "0.10"}})

    def test_a_refusal_passes_it_on_to_the_next_who_can(self):
        server, _ = self.bridge()
        unfit, first, second = self.capable({}), self.capable(), self.capable()
        self.asks(server)
        asked = self.asked(first)
        first.send(answer(asked["id"], error={"code": -32601, "message": "Method not found"}))
        again = self.asked(second)
        self.assertEqual(again, asked)
        # Now only the second one may answer it.
        first.send(answer(asked["id"], {"said": "first"}))
        first.fence()
        second.send(answer(again["id"], {"said": "second"}))
        self.assertIn("second", server.answers(wait=1)[0]["body"])
        self.assertEqual(unfit.fence(), [])
        self.assertEqual(len(server.answers()), 1)


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
        server.emit(request("ping", {"filler": "x" * 1000}, id="y" * 4000), count=4000)
        daemon.logged("did not reach the upstream")  # 16 MB of answers are not kept
        self.assertLess(server.state()["openConnections"], 60)
        # Requests are not in their way.
        self.assertEqual(text_of(client.call("echo", {"message": "still"}, id=2)), "still")


class OnlyWhoDeclaredIt(Questions):
    """BEHAVIOUR, "Server requests: who can be asked", "Server requests: if no client can be asked"."""

    def silent_ones(self):
        """Clients that declared nothing: one that says nothing, and one that only calls."""
        silent, calling = self.client(), self.client()
        calling.fence()
        return silent, calling

    def test_one_that_declared_nothing_is_never_asked(self):
        for options in ((), ("--client-capabilities", json.dumps(ALL))):
            with self.subTest(options):
                server, daemon = self.bridge(*options)
                clients = self.silent_ones()
                response = clients[1].call("ask", {"question": "?"}, 5)
                self.assertIn("-32601", text_of(response))
                self.asks(server)
                message = json.loads(server.answers(wait=2)[1]["body"])
                self.assertEqual((message["id"], message["error"]["code"]), ("srv-1", -32601))
                declared = self.capable()
                self.asks(server, "srv-2")
                declared.send(answer(self.asked(declared)["id"], {}))
                self.assertEqual(server.answers(wait=3)[2]["id"], '"srv-2"')
                for client in clients:
                    self.assertEqual(client.fence(), [])
                daemon.stop()

    def test_one_that_named_it_by_bridge_answers_is_asked_and_takes_nothing_from_the_ring(self):
        server, _ = self.bridge("--handshake", "eager")
        server.streams(1)
        client = self.client()
        client.send(notification("bridge/answers", {"methods": ["sampling/createMessage"]}))
        self.others(1)
        self.asks(server)
        asked = self.asked(client)
        server.emit(notification("notifications/message", {"level": "info", "data": "kept"}))
        self.asked(client, "notifications/message")
        self.untaken(1)
        client.send(answer(asked["id"], {"said": "named"}))
        self.assertIn("named", server.answers(wait=1)[0]["body"])


class OfTheSameUser(Questions):
    """A question on a request's stream is nothing for another user."""

    def face(self, *options):
        server = self.upstream()
        face = Face.of(self.start_daemon(server, "--http", "127.0.0.1:0", *options))
        self.addCleanup(face.close)
        return server, face

    def listening(self, face):
        session = face.session(ALL)
        return session, face.stream(session)

    def test_all_callers_of_the_face_are_one_of_their_own(self):
        server, face = self.face()
        session, stream = self.listening(face)
        local = self.client()
        self.assertIn("-32601", text_of(local.call("ask", {"question": "?"}, 5)))
        # The server stream's are the session's: any client may be asked.
        self.asks(server)
        question = stream.message()
        self.assertEqual(question["method"], "sampling/createMessage")
        face.post({"jsonrpc": "2.0", "id": question["id"], "result": {}}, session)
        server.answers(wait=2)

    def test_a_caller_of_the_face_has_its_questions_answered_by_another_one_of_it(self):
        _, face = self.face()
        local = self.capable()
        session, stream = self.listening(face)
        post = face.post_stream(call("ask", {"question": "?"}, 4), face.session({}))
        question = stream.message()
        self.assertEqual(question["method"], "elicitation/create")
        face.post({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "accept", "content": {"said": "remote"}}}, session)
        self.assertIn("remote", text_of(post.message()))
        self.assertEqual(local.fence(), [])

    @unittest.skipUnless(is_root(), "only root can be another user")
    def test_another_uid_is_not_asked_about_a_call(self):
        server, _ = self.bridge("--socket-mode", "0666", "--allow-uid", "0", "--allow-uid", "65534")
        os.chmod(self.folder, 0o755)
        with acting_as():
            stranger = self.client()
        self.capable(client=stranger)
        client = self.client()
        self.assertIn("-32601", text_of(client.call("ask", {"question": "?"}, 5)))
        same = self.capable()
        client.send(call("ask", {"question": "?"}, 6))
        same.send(answer(self.asked(same, "elicitation/create")["id"], {"action": "accept", "content": {"said": "same"}}))
        self.assertIn("same", text_of(client.answer(6)))
        self.assertEqual(stranger.fence(), [])
        self.asks(server)
        self.asked(stranger)


if __name__ == "__main__":
    main()
