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
    """The server is legacy."""

    def asked(self, client, arguments=None, capabilities=None):
        """A call that was answered with a question: (its request, the response)."""
        request = client.made("tools/call", {"name": "ask", "arguments": arguments or {"kinds": ["elicitation"]}},
                              capabilities=CAPABLE if capabilities is None else capabilities)
        response = client.exchange(request)
        self.assertEqual(response.get("result", {}).get("resultType"), "input_required", response)
        return request, response

    def retry(self, client, asked, answers=ANSWERS, **changes):
        request, response = asked
        request = {**request, "params": {**request["params"], **changes}}
        return client.retry(request, response, answers, capabilities=CAPABLE)[1]

    def refused(self, response):
        self.assertEqual(response.get("error", {}).get("code"), -32602, response)

    def on_both(self, *options):
        yield "socket", lambda: (self.bridged("legacy", *options)[0], self.modern())
        yield "face", lambda: (self.bridged("legacy", *options, face=True)[0], self.modern_face())

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

    @with_each("on_both")
    def test_a_changed_or_invented_state_is_refused_and_the_right_one_still_holds(self, _, client):
        request, response = self.asked(client)
        state = response["result"]["requestState"]
        for other in (state + "A", state[:-1], state[::-1], "", "x"):
            wrong = {"result": {**response["result"], "requestState": other}}
            self.refused(client.retry(request, wrong, capabilities=CAPABLE)[1])
        self.assertIn("Ada", text_of(self.retry(client, (request, response))))

    @unittest.skipUnless(is_root(), "another user can be played by root only")
    def test_another_user_is_refused(self):
        server = self.server("legacy")
        self.before(server, "--socket-mode", "0666", "--allow-uid", "0", "--allow-uid", str(NOBODY))
        mine = self.modern()
        asked = self.asked(mine)
        os.chmod(self.folder, 0o755)  # for the stranger, who is no owner
        with acting_as(NOBODY):
            theirs = self.modern()
        self.refused(self.retry(theirs, asked))
        self.assertIn("Ada", text_of(self.retry(mine, asked)))

    def test_a_caller_of_the_face_is_another_user_than_one_of_the_socket(self):
        self.bridged("legacy", face=True)
        asked = self.asked(self.modern())
        self.refused(self.retry(self.modern_face(), asked))

    def test_an_expired_one_is_refused_and_the_server_is_told(self):
        server, _ = self.bridged("legacy", "--input-wait", "300ms")
        client = self.modern()
        asked = self.asked(client)
        server.wait_cancelled("said tools/call")
        answers = [one.message for one in server.received_all if one.method is None]
        self.assertEqual([one["error"]["code"] for one in answers], [-32601])
        self.refused(self.retry(client, asked))

    def on_all(self, *options):
        yield from self.on_both(*options)
        yield "socket, child", lambda: (self.bridged("legacy", *options, stdio=True)[0], self.modern())
        yield "face, child", lambda: (self.bridged("legacy", *options, stdio=True, face=True)[0], self.modern_face())

    @with_each("on_all")
    def test_nobody_can_answer(self, server, client):
        self.assertEqual(text_of(client.call_tool("echo", {"message": "x"}, capabilities=CAPABLE)), "x")
        response = client.call_tool("ask", {"kinds": ["sampling"]}, capabilities={})
        self.assertEqual(response["error"]["code"], -32021)
        self.assertEqual(response["error"]["data"], {"requiredCapabilities": {"sampling": {}}})
        self.assertEqual(len(server.received("tools/call")), 2)

    @with_each("on_both")
    def test_prompts_and_resources_ask_as_well(self, _, client):
        for method, params in (("prompts/get", {"name": "ask"}), ("resources/read", {"uri": "ask://elicitation"})):
            request = client.made(method, params, capabilities=CAPABLE)
            response = client.exchange(request)
            self.assertEqual(response["result"]["resultType"], "input_required", response)
            self.assertIn("Ada", json.dumps(client.retry(request, response, capabilities=CAPABLE)[1]["result"]))


class ToALegacyClient(Eras):
    """The server is modern. That each retry has a new id, the same request and the exact state, the server judges."""

    def capable(self, capabilities=None):
        client = self.client()
        client.send(initialize("init", CAPABLE if capabilities is None else capabilities)).answer("init")
        client.send(notification("notifications/initialized"))
        return client

    def answers(self, client, id=1, answers=ANSWERS):
        """Answers what it is asked; (the response, the methods that were asked)."""
        asked = []
        while True:
            message = client.line()
            if "method" not in message and message["id"] == id:
                return message, asked
            if "id" in message:
                asked.append(message["method"])
                kind = "url" if message.get("params", {}).get("mode") == "url" else ANSWERED[message["method"]]
                client.send(answer(message["id"], **answers[kind]) if "error" in answers[kind] else answer(message["id"], answers[kind]))

    def ask(self, client, **arguments):
        client.send(call("ask", arguments))
        return self.answers(client)

    def on_both_carriers(self, *options):
        yield "HTTP", lambda: (self.bridged("modern", *options)[0], self.capable())
        yield "child", lambda: (self.bridged("modern", *options, stdio=True)[0], self.capable())

    @with_each("on_both_carriers")
    def test_several_questions_of_one_result_and_several_rounds(self, server, client):
        response, asked = self.ask(client, kinds=list(KINDS), rounds=3)
        self.assertEqual(len(asked), 12)
        self.assertEqual(len(json.loads(text_of(response))["answers"]), 3)
        self.assertEqual(len(server.received("tools/call")), 4)

    def test_a_client_that_declared_nothing_is_told_by_the_server(self):
        server, _ = self.bridged("modern")
        client = self.client()
        client.send(call("ask", {"kinds": ["sampling"]}))
        self.assertEqual(client.answer(1)["error"]["code"], -32021)
        self.assertEqual(len(server.received("tools/call")), 1)

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
