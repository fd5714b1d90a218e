"""Which client is asked when the server asks something: only one that declared that it answers, and can be reached."""

import json
import os
import unittest

from harness import answer, call, main, notification, text_of
from harness.face import Face
from harness.other_user import acting_as, is_root
from harness.questions import ALL, Questions

UNKNOWN = answer(0, error={"code": -32601, "message": "Method not found"})


def declines(asked):
    return UNKNOWN.replace('"id":0', '"id":%d' % asked["id"])


class OnlyWhoDeclaredIt(Questions):
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
                self.refused(server, nth=2)
                declared = self.capable()
                self.asks(server, "srv-2")
                declared.send(answer(self.asked(declared)["id"], {}))
                self.assertEqual(server.answers(wait=3)[2]["id"], '"srv-2"')
                for client in clients:
                    self.assertEqual(client.fence(), [])
                daemon.stop()

    def test_the_sessions_opener_does_not_declare_for_others(self):
        server, _ = self.bridge()
        opener = self.capable()
        self.assertIn("elicitation", server.bodies("initialize")[0]["params"]["capabilities"])
        opener.close()
        self.others(0)
        response = self.client().call("ask", {"question": "?"}, 5)
        self.assertIn("-32601", text_of(response))

    def test_a_call_of_one_that_declared_nothing_asks_another_one_who_did(self):
        server, _ = self.bridge()
        other, client = self.capable(), self.client()
        client.send(call("ask", {"question": "Well?"}, 5))
        other.send(answer(self.asked(other, "elicitation/create")["id"], {"action": "accept", "content": {"said": "other"}}))
        self.assertIn("other", text_of(client.line()))


class AnyMethod(Questions):
    def test_one_of_no_known_capability_goes_to_a_client_that_initialized(self):
        server, _ = self.bridge()
        self.client().fence()
        client = self.capable({})
        self.asks(server, "srv-1", "foo/bar", {"x": 1e3})
        asked = self.asked(client, "foo/bar")
        self.assertEqual(asked["params"], {"x": 1e3})
        client.send(answer(asked["id"], {"bar": "0.10"}))
        self.assertEqual(json.loads(server.answers(wait=1)[0]["body"]), {"jsonrpc": "2.0", "id": "srv-1", "result": {"bar": "0.10"}})


class ByBridgeAnswers(Questions):
    def test_one_that_named_it_is_asked_and_takes_nothing_from_the_ring(self):
        server, _ = self.bridge("--handshake", "eager")
        server.streams(1)
        client = self.answering("sampling/createMessage")
        self.others(1)
        self.asks(server)
        asked = self.asked(client)
        server.emit(notification("notifications/message", {"level": "info", "data": "kept"}))
        self.asked(client, "notifications/message")
        self.untaken(1)
        client.send(answer(asked["id"], {"said": "named"}))
        self.assertIn("named", server.answers(wait=1)[0]["body"])

    def test_without_control_methods_it_is_a_notification_like_any_other(self):
        server, _ = self.bridge("--no-control")
        client = self.client()
        client.send(notification("bridge/answers", {"methods": ["elicitation/create"]}), call("ask", {"question": "?"}, 5))
        self.assertIn("-32601", text_of(client.answer(5)))
        self.assertEqual(len(server.log("bridge/answers", wait=1)), 1)


class PassedOn(Questions):
    def test_a_refusal_passes_it_on_to_the_next_who_can(self):
        server, _ = self.bridge()
        unfit, first, second = self.capable({}), self.capable(), self.capable()
        self.asks(server)
        asked = self.asked(first)
        first.send(declines(asked))
        again = self.asked(second)
        self.assertEqual(again, asked)
        # It is nobody's but the second one's now.
        first.send(answer(asked["id"], {"said": "first"}))
        first.fence()
        second.send(answer(again["id"], {"said": "second"}))
        self.assertIn("second", server.answers(wait=1)[0]["body"])
        self.assertEqual(unfit.fence(), [])
        self.assertEqual(len(server.answers()), 1)


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
