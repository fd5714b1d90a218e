"""Questions of a server in the middle of a call, where one side asks by results and the other by requests.

To a modern client a legacy server's request is an `input_required` result with a state of the bridge's own, and its retry, from
whichever process of the same user, goes on with the call that is still open. A legacy client is asked by requests, and the bridge
retries with the server's own state."""

import json
import os
import unittest

from harness import answer, call, initialize, main, notification, request, text_of
from harness.era_clients import ANSWERED, CAPABLE
from harness.eras import Eras, with_each
from harness.modern_client import ANSWERS
from harness.modern_protocol import TASKS
from harness.other_user import NOBODY, acting_as, is_root

KINDS = ("elicitation", "url", "sampling", "roots")


class ToAModernClient(Eras):
    """The server is legacy (BEHAVIOUR, "Eras: questions to a modern client")."""

    def asked(self, client):
        """A call that was answered with a question: (its request, the response)."""
        request = client.made("tools/call", {"name": "ask", "arguments": {"kinds": ["elicitation"]}}, capabilities=CAPABLE)
        response = client.exchange(request)
        self.assertEqual(response.get("result", {}).get("resultType"), "input_required", response)
        return request, response

    def retry(self, client, asked):
        return client.retry(*asked, ANSWERS, capabilities=CAPABLE)[1]

    def on_both(self):
        yield "socket", lambda: (self.bridged("legacy")[0], self.modern())
        yield "face", lambda: (self.bridged("legacy", face=True)[0], self.modern_face())

    @with_each("on_both")
    def test_each_kind_of_question_and_its_answer(self, server, client):
        for kind in KINDS:
            response, asked = client.with_answers("ask", {"kinds": [kind]}, CAPABLE)
            self.assertEqual(asked, 1)
            self.assertEqual(json.loads(text_of(response)), {"answers": [{kind: ANSWERS[kind]}]})
        self.assertEqual(len(server.received("tools/call")), len(KINDS))  # each was sent once

    def test_the_state_says_nothing_and_cannot_be_guessed(self):
        self.bridged("legacy")
        client = self.modern()
        states = [self.asked(client)[1]["result"]["requestState"] for _ in range(3)]
        self.assertEqual(len(set(states)), 3)
        for state in states:
            self.assertGreaterEqual(len(state), 22)  # 128 bits, as Base64
            self.assertNotIn("ask", state)
        common = len([1 for one, other in zip(*states[:2]) if one == other])
        self.assertLess(common, len(states[0]) / 2)

    def test_a_successor_process_answers(self):
        server, _ = self.bridged("legacy")
        first = self.modern()
        asked = self.asked(first)
        first.close()
        self.others(0)
        self.assertIn("Ada", text_of(self.retry(self.modern(), asked)))
        self.assertEqual((len(server.received("tools/call")), server.cancelled), (1, []))

    @unittest.skipUnless(is_root(), "another user can be played by root only")
    def test_another_user_is_refused(self):
        server = self.server("legacy")
        self.before(server, "--socket-mode", "0666", "--allow-uid", "0", "--allow-uid", str(NOBODY))
        mine = self.modern()
        asked = self.asked(mine)
        os.chmod(self.folder, 0o755)  # for the stranger, who is no owner
        with acting_as(NOBODY):
            theirs = self.modern()
        self.assertEqual(self.retry(theirs, asked)["error"]["code"], -32602)
        self.assertIn("Ada", text_of(self.retry(mine, asked)))


class ToALegacyClient(Eras):
    """The server is modern. That each retry has a new id, the same request and the exact state, the server judges
    (BEHAVIOUR, "Eras: questions to a legacy client", "Eras: a legacy client at a modern server")."""

    def on_both_carriers(self):
        yield "HTTP", lambda: (self.bridged("modern")[0],)
        yield "child", lambda: (self.bridged("modern", stdio=True)[0],)

    @with_each("on_both_carriers")
    def test_several_questions_of_one_result_and_several_rounds(self, server):
        client = self.client()
        client.send(initialize("init", CAPABLE)).answer("init")
        client.send(notification("notifications/initialized"), call("ask", {"kinds": list(KINDS), "rounds": 3}))
        asked = 0
        while "method" in (message := client.line()):
            kind = "url" if message.get("params", {}).get("mode") == "url" else ANSWERED[message["method"]]
            client.send(answer(message["id"], ANSWERS[kind]))
            asked += 1
        self.assertEqual(asked, 12)
        self.assertEqual(len(json.loads(text_of(message))["answers"]), 3)
        self.assertEqual(len(server.received("tools/call")), 4)

    def test_roots_are_declared_for_who_says_by_bridge_answers_that_it_has_some(self):
        self.bridged("modern")
        told, said = self.run_nc("call", "--raw", "ask", '{"kinds": ["roots"]}', "--root", self.folder)
        self.assertIn(f"file://{os.path.realpath(self.folder)}", told)
        self.assertEqual(said, "")

    def test_tasks_are_not_translated_and_are_said_so(self):
        for mode in ("modern", "legacy"):
            with self.subTest(mode):
                server, _ = self.bridged(mode, face=True)
                if mode == "modern":
                    client = self.client()
                    client.send(request("tasks/get", {"taskId": "t"}, 1))
                    error = client.answer(1)["error"]
                else:
                    capable = {"extensions": {TASKS: {}}}
                    error = self.modern().ask("tasks/get", {"taskId": "t"}, capabilities=capable)["error"]
                    on_face = self.modern_face().ask("tasks/cancel", {"taskId": "t"}, capabilities=capable)  # with 404
                    self.assertEqual(on_face["error"], error)
                self.assertEqual(error["code"], -32601)
                self.assertIn("tasks are not translated", error["message"])
                self.assertEqual([one.method for one in server.received_all if (one.method or "").startswith("tasks/")], [])

    def test_what_the_bridge_answers_itself_is_judged(self):
        server, _ = self.bridged("modern")
        client = self.client()
        for method, params, code in (("logging/setLevel", {"level": "loud"}, -32602), ("logging/setLevel", {}, -32602),
                                     ("resources/subscribe", {}, -32602), ("resources/unsubscribe", {"uri": 7}, -32602)):
            client.send(request(method, params, 1))
            self.assertEqual(client.answer(1)["error"]["code"], code)
        server = self.server("modern")
        del server.capabilities["resources"]["subscribe"]
        client = self.client(self.before(server))
        client.send(request("resources/subscribe", {"uri": "demo://one"}, 1))
        self.assertEqual(client.answer(1)["error"]["code"], -32601)


if __name__ == "__main__":
    main()
