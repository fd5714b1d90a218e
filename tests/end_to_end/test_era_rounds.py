"""Questions of a server in the middle of a call, where one side asks by results and the other by requests.

To a modern client a legacy server's request is an `input_required` result with a state of the bridge's own, and its retry, from
whichever process of the same user, goes on with the call that is still open. A legacy client is asked by requests, and the bridge
retries with the server's own state."""

import json
import os
import time
import unittest

from harness import answer, call, initialize, main, notification, request, text_of
from harness.era_clients import ANSWERED, CAPABLE
from harness.eras import Eras, with_each
from harness.face import STREAM
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

    @with_each("on_both")
    def test_several_rounds_with_a_new_state_each_continue_one_call(self, server, client):
        request, response = self.asked(client, {"kinds": ["elicitation", "roots"], "rounds": 2})
        states = set()
        while "requestState" in response["result"]:
            states.add(response["result"]["requestState"])
            request, response = client.retry(request, response, capabilities=CAPABLE)
        self.assertEqual(len(states), 4)
        self.assertEqual(len(json.loads(text_of(response))["answers"]), 2)
        self.assertEqual(len(server.received("tools/call")), 1)

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

    @with_each("on_both")
    def test_another_request_is_refused(self, _, client):
        asked = self.asked(client)
        self.refused(self.retry(client, asked, name="echo"))
        self.refused(self.retry(client, asked, arguments={"kinds": ["elicitation"], "rounds": 2}))
        request, response = asked
        other = {**request, "method": "prompts/get", "params": {**request["params"], "name": "ask"}}
        self.refused(client.retry(other, response, capabilities=CAPABLE)[1])
        self.assertIn("Ada", text_of(self.retry(client, asked)))

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

    def test_a_state_counts_once(self):
        self.bridged("legacy")
        client = self.modern()
        asked = self.asked(client)
        self.assertIn("Ada", text_of(self.retry(client, asked)))
        self.refused(self.retry(client, asked))

    def test_an_expired_one_is_refused_and_the_server_is_told(self):
        server, _ = self.bridged("legacy", "--input-wait", "300ms")
        client = self.modern()
        asked = self.asked(client)
        server.wait_cancelled("said tools/call")
        answers = [one.message for one in server.received_all if one.method is None]
        self.assertEqual([one["error"]["code"] for one in answers], [-32601])
        self.refused(self.retry(client, asked))

    @with_each("on_both")
    def test_what_the_user_declines_is_what_the_server_is_told(self, _, client):
        for action in ("decline", "cancel"):
            response = self.retry(client, self.asked(client), {"elicitation": {"action": action}})
            self.assertEqual(json.loads(text_of(response))["answers"][0]["elicitation"], {"action": action})

    def test_a_retry_without_the_answer_is_asked_again(self):
        self.bridged("legacy")
        client = self.modern()
        request, response = self.asked(client)
        bare = {"result": {"requestState": response["result"]["requestState"]}}
        message, again = client.retry(request, bare, capabilities=CAPABLE)
        self.assertEqual(again["result"]["resultType"], "input_required")
        self.assertIn("Ada", text_of(client.retry(message, again, capabilities=CAPABLE)[1]))

    def on_all(self, *options):
        yield from self.on_both(*options)
        yield "socket, child", lambda: (self.bridged("legacy", *options, stdio=True)[0], self.modern())
        yield "face, child", lambda: (self.bridged("legacy", *options, stdio=True, face=True)[0], self.modern_face())

    @with_each("on_all")
    def test_log_messages_that_come_while_nobody_waits_come_with_the_retry(self, server, client):
        request = client.made("tools/call", {"name": "ask", "arguments": {"kinds": ["roots"]}}, capabilities=CAPABLE, log_level="info")
        response = client.exchange(request)
        newest = self.default_daemon.status()["ring"]["newest"]
        for level in ("debug", "warning"):
            server.emit("notifications/message", {"level": level, "data": "meanwhile"})
        self.newest(newest + 2)
        self.assertIn("file:///here", text_of(client.retry(request, response, capabilities=CAPABLE, log_level="info")[1]))
        told = [one["params"]["level"] for one in client.others if one["params"].get("data") == "meanwhile"]
        self.assertEqual(told, ["warning"])

    @with_each("on_all")
    def test_nobody_can_answer(self, server, client):
        self.assertEqual(text_of(client.call_tool("echo", {"message": "x"}, capabilities=CAPABLE)), "x")
        response = client.call_tool("ask", {"kinds": ["sampling"]}, capabilities={})
        self.assertEqual(response["error"]["code"], -32021)
        self.assertEqual(response["error"]["data"], {"requiredCapabilities": {"sampling": {}}})
        self.assertEqual(len(server.received("tools/call")), 2)

    def test_a_call_that_waits_for_an_answer_holds_no_slot(self):
        self.bridged("legacy", "--max-inflight", "1")
        client = self.modern()
        asked = self.asked(client)
        self.assertEqual(text_of(client.call_tool("echo", {"message": "meanwhile"})), "meanwhile")
        self.assertIn("Ada", text_of(self.retry(client, asked)))

    @with_each("on_both")
    def test_prompts_and_resources_ask_as_well(self, _, client):
        for method, params in (("prompts/get", {"name": "ask"}), ("resources/read", {"uri": "ask://elicitation"})):
            request = client.made(method, params, capabilities=CAPABLE)
            response = client.exchange(request)
            self.assertEqual(response["result"]["resultType"], "input_required", response)
            self.assertIn("Ada", json.dumps(client.retry(request, response, capabilities=CAPABLE)[1]["result"]))

    def test_at_the_daemons_end_an_open_question_keeps_nothing(self):
        _, daemon = self.bridged("legacy")
        self.asked(self.modern())
        begun = time.monotonic()
        self.assertEqual(daemon.terminate(), 0)
        self.assertLess(time.monotonic() - begun, 8)


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
    def test_each_kind_of_question_and_its_answer(self, _, client):
        for kind in KINDS:
            response, asked = self.ask(client, kinds=[kind])
            self.assertEqual(len(asked), 1)
            self.assertEqual(json.loads(text_of(response)), {"answers": [{kind: ANSWERS[kind]}]})

    @with_each("on_both_carriers")
    def test_several_questions_of_one_result_and_several_rounds(self, server, client):
        response, asked = self.ask(client, kinds=list(KINDS), rounds=3)
        self.assertEqual(len(asked), 12)
        self.assertEqual(len(json.loads(text_of(response))["answers"]), 3)
        self.assertEqual(len(server.received("tools/call")), 4)

    @with_each("on_both_carriers")
    def test_without_a_state_none_is_sent_back(self, server, client):
        self.assertIn("result", self.ask(client, kinds=["roots"], state=False)[0])
        self.assertNotIn("requestState", server.received("tools/call")[-1].params)

    def test_a_declined_one_goes_back_as_it_is(self):
        self.bridged("modern")
        client = self.capable()
        client.send(call("ask", {"kinds": ["elicitation"]}))
        response, _ = self.answers(client, answers={"elicitation": {"action": "decline"}})
        self.assertEqual(json.loads(text_of(response))["answers"][0]["elicitation"], {"action": "decline"})

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

    def test_a_question_that_the_client_did_not_declare_ends_the_call(self):
        server, _ = self.bridged("modern")
        client = self.capable({"roots": {}})
        server.fault("tools/call", result={"resultType": "input_required", "requestState": "s", "inputRequests": {
            "q": {"method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 1}}}})
        client.send(call("echo", {"message": "x"}))
        self.assertIn("error", client.answer(1))
        self.assertEqual(len(server.received("tools/call")), 1)

    def test_one_that_answers_with_an_error_ends_the_call(self):
        server, _ = self.bridged("modern")
        client = self.capable()
        client.send(call("ask", {"kinds": ["sampling"]}))
        response, _ = self.answers(client, answers={"sampling": {"error": {"code": -1, "message": "rejected"}}})
        self.assertIn("error", response)
        self.assertEqual(len(server.received("tools/call")), 1)

    def test_one_that_dies_with_the_question_leaves_nothing_behind(self):
        server, daemon = self.bridged("modern")
        client = self.capable()
        client.send(call("ask", {"kinds": ["elicitation"]}))
        self.assertEqual(client.line()["method"], "elicitation/create")
        client.close()
        self.others(0)
        status = daemon.status()
        self.assertEqual((status["requests"]["inFlight"], status["requests"]["parked"]), (0, 0))
        self.assertEqual(len(server.received("tools/call")), 1)

    def test_no_more_than_16_rounds(self):
        server, _ = self.bridged("modern")
        response, asked = self.ask(self.capable(), kinds=["elicitation"], rounds=40)
        self.assertIn("error", response)
        self.assertEqual(len(asked), 16)
        self.assertLessEqual(len(server.received("tools/call")), 17)

    def test_rounds_without_a_question_are_not_hurried(self):
        server, _ = self.bridged("modern")
        begun = time.monotonic()
        response, asked = self.ask(self.capable(), kinds=[], rounds=3)
        self.assertEqual((asked, "result" in response), ([], True))
        self.assertGreaterEqual(time.monotonic() - begun, 0.65)  # 100, 200, 400 ms, with some jitter
        self.assertEqual(len(server.received("tools/call")), 4)

    @with_each("on_both_carriers")
    def test_prompts_and_resources_ask_as_well(self, _, client):
        for method, params in (("prompts/get", {"name": "ask"}), ("resources/read", {"uri": "ask://elicitation"})):
            client.send({"jsonrpc": "2.0", "id": 5, "method": method, "params": params})
            response, asked = self.answers(client, 5)
            self.assertEqual(asked, ["elicitation/create"])
            self.assertIn("Ada", json.dumps(response["result"]))

    def test_a_result_of_an_unknown_type_is_an_error(self):
        server, _ = self.bridged("modern")
        for kind in ("task", "later"):
            server.fault("tools/call", result={"resultType": kind, "taskId": "t", "status": "working"})
            client = self.capable()
            client.send(call("echo", {"message": "x"}))
            error = client.answer(1)["error"]
            self.assertIn(kind, error["message"])

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

    def test_over_the_http_face(self):
        self.bridged("modern", face=True)
        face = self.new_face()
        session = face.session(CAPABLE)
        source = face.post_stream(call("ask", {"kinds": ["elicitation", "roots"], "rounds": 2}), session, accept=STREAM)
        asked = 0
        while "method" in (message := source.message()):
            asked += 1
            face.post(answer(message["id"], ANSWERS[ANSWERED[message["method"]]]), session)
        self.assertEqual(asked, 4)
        self.assertEqual(len(json.loads(text_of(message))["answers"]), 2)


if __name__ == "__main__":
    main()
