"""Requests that belong to nobody's connection (BEHAVIOUR, "Jobs"): submitted, collected, cancelled, forgotten, by whom."""

import json
import os
import unittest

from harness import answer, call, eventually, main, notification, request, text_of
from harness.eras import Eras, with_each
from harness.facing import Facing
from harness.jobs import WAIT, Jobs
from harness.modern_client import ANSWERS
from harness.node import EVERYTHING, NODE, Node
from harness.other_user import acting_as, is_root

SLOW = {"steps": 100000, "delayMs": 50}


class Submitted(Jobs):
    """BEHAVIOUR, "Jobs: submitting"."""

    def setUp(self):
        super().setUp()
        self.server, self.daemon = self.bridge("--jobs", "8")

    def test_it_is_carried_out_while_nobody_is_connected_and_collected_later(self):
        submitted = self.submit("echo", {"message": "hello"})
        self.assertEqual(set(submitted), {"job", "state", "created", "durable"})
        self.assertEqual((submitted["state"], submitted["durable"]), ("working", False))
        self.assertRegex(submitted["created"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$")
        collected = self.collect(submitted["job"])
        self.assertEqual(set(collected), {"job", "state", "ageMs", "response"})
        self.assertEqual(collected["state"], "completed")
        self.assertEqual(collected["response"]["id"], None)
        self.assertEqual(text_of(collected["response"]), "hello")
        self.assertEqual(self.collect(submitted["job"])["response"], collected["response"])

    def test_its_response_is_kept_byte_for_byte(self):
        arguments = r'{"a":1e400, "b": "A","b":0.10}'
        client = self.client()
        client.send('{"jsonrpc":"2.0","id":1,"method":"bridge/submit","params":{"method":"tools/call",'
                    '"params":{"name":"mirror","arguments":%s}}}' % arguments)
        job = client.answer(1)["result"]["job"]
        client.send(request("bridge/collect", {"job": job, "waitMs": WAIT}, 2))
        line = client.raw_line().decode()
        self.assertIn('"structuredContent":' + arguments, line)
        self.assertIsNone(json.loads(line)["result"]["response"]["id"])

    def test_an_error_of_the_tool_is_completed_and_one_of_the_server_failed(self):
        self.assertEqual(self.collect(self.job("fail"))["state"], "completed")
        failed = self.collect(self.job("no such tool"))
        self.assertEqual(failed["state"], "failed")
        self.assertEqual(failed["response"]["error"]["code"], -32602)

    def test_the_list_is_newest_first_and_says_who_and_what(self):
        jobs = [self.job("echo", {"message": str(n)}, key=f"k{n}") for n in range(3)]
        for job in jobs:
            self.collect(job)
        listed = self.listed()
        self.assertEqual([one["job"] for one in listed], jobs[::-1])
        self.assertEqual((listed[0]["state"], listed[0]["method"], listed[0]["tool"], listed[0]["key"]),
                         ("completed", "tools/call", "echo", "k2"))
        self.assertGreater(listed[0]["bytes"], 0)
        self.assertIn("pid", listed[0])
        self.assertEqual([one["job"] for one in self.listed(limit=2)], jobs[:0:-1])
        self.assertEqual(self.listed(states=["working", "failed"]), [])
        self.assertEqual(len(self.listed(states=["completed"])), 3)
        for params in ({"limit": 0}, {"limit": "x"}, {"states": "completed"}, {"states": ["done"]}):
            with self.subTest(params):
                self.refused("jobs", params)


class Collecting(Jobs):
    """BEHAVIOUR, "Jobs: collecting"."""

    def setUp(self):
        super().setUp()
        self.server, self.daemon = self.bridge()

    def test_progress_is_kept_and_passed_to_a_collector_with_a_token(self):
        job = self.job("slow", {"steps": 6, "delayMs": 100})
        client = self.client()
        client.send(request("bridge/collect", {"job": job, "waitMs": WAIT, "_meta": {"progressToken": "mine"}}, "c"))
        collected = client.answer("c")["result"]
        self.assertEqual({one["params"]["progressToken"] for one in client.others}, {"mine"})
        self.assertEqual(client.others[-1]["params"]["total"], 6)
        self.assertEqual(collected["progress"]["progress"], client.others[-1]["params"]["progress"])
        self.assertNotIn("progressToken", collected["progress"])

    def test_a_cancelled_collect_ends_without_an_answer_and_the_job_goes_on(self):
        job = self.job("slow", {"steps": 4, "delayMs": 100})
        client = self.client()
        self.start_collect(client, job)
        client.send(notification("notifications/cancelled", {"requestId": "c"}))
        self.assertEqual(client.fence(), [])
        client.half_close().expect_closed()
        self.assertEqual(self.collect(job)["state"], "completed")

    def test_what_one_connection_waits_for_is_bounded(self):
        job = self.job("slow", SLOW)
        client = self.client()
        for number in range(65):
            self.start_collect(client, job, id=number)
        self.assert_error(client.answer(64), -32000, id=64, kind="overloaded", delivered="no")
        self.result_of("cancel", {"job": job})
        answered = {message["id"] for message in client.lines(64)}
        self.assertEqual(answered, set(range(64)))

    def test_keep_false_forgets_what_has_ended(self):
        job = self.job("echo", {"message": "x"})
        self.assertEqual(self.collect(job, keep=False)["state"], "completed")
        self.unknown("collect", job)
        working = self.job("slow", SLOW)
        self.collect(working, wait=0, keep=False)
        self.assertEqual(self.result_of("cancel", {"job": working}), {"state": "cancelled"})

    def test_unknown_and_wrong_ones_are_refused(self):
        for method in ("collect", "cancel", "forget"):
            self.unknown(method, "0" * 32)
        job = self.job("echo", {"message": "x"})
        for params in ({"waitMs": -1}, {"waitMs": "1"}, {"keep": 1}, {"answer": "yes"}):
            with self.subTest(params):
                self.refused("collect", {"job": job, **params})


class Ending(Jobs):
    def test_a_cancelled_one_is_cancelled_at_the_upstream_and_has_no_response(self):
        server, _ = self.bridge()
        job = self.job("slow", SLOW)
        entry = server.log("tools/call", wait=1)[0]
        waiting = self.client()
        self.start_collect(waiting, job)
        waiting.request("bridge/jobs", {}, "fence")
        self.assertEqual(self.result_of("cancel", {"job": job}), {"state": "cancelled"})
        self.assertEqual(str(server.bodies("notifications/cancelled", wait=1)[0]["params"]["requestId"]), entry["id"])
        collected = waiting.answer("c")["result"]
        self.assertEqual((collected["state"], "response" in collected), ("cancelled", False))
        self.assertEqual(self.result_of("cancel", {"job": job}), {"state": "cancelled"})
        self.in_flight(0)
        server.state(activeCalls=0)

    def test_cancelling_an_ended_one_says_how_it_ended(self):
        self.bridge()
        job = self.job("echo", {"message": "x"})
        self.collect(job)
        self.assertEqual(self.result_of("cancel", {"job": job}), {"state": "completed"})

    def test_only_what_has_ended_is_forgotten(self):
        self.bridge()
        job = self.job("slow", SLOW)
        self.refused("forget", {"job": job})
        self.result_of("cancel", {"job": job})
        self.assertEqual(self.result_of("forget", {"job": job}), {})
        self.unknown("forget", job)

    def test_silence_does_not_end_it_and_request_max_does(self):
        self.bridge("--request-timeout", "100ms", "--request-max", "1200ms")
        job = self.job("slow", {"steps": 1, "delayMs": 600})
        self.assertEqual(self.collect(job)["state"], "completed")
        late = self.collect(self.job("slow", SLOW))
        self.assertEqual(late["state"], "failed")
        self.assertEqual(late["response"]["error"]["data"]["kind"], "timeout")
        self.assertIn("--request-max", late["response"]["error"]["message"])


class Keys(Jobs):
    """BEHAVIOUR, "Jobs: keys"."""

    def setUp(self):
        super().setUp()
        self.server, self.daemon = self.bridge()

    def raw_submit(self, params):
        client = self.client()
        client.send('{"jsonrpc":"2.0","id":1,"method":"bridge/submit","params":%s}' % params)
        return client.answer(1)

    def test_a_second_submit_with_the_same_key_and_request_is_the_first_job(self):
        first = self.raw_submit(r'{"key":"k","method":"tools/call","params":{"name":"echo","arguments":{"message":"a","n":[1,2]}}}')
        again = self.raw_submit(r'{"params":{"arguments":{"n":[1, 2],"message":"a"},"_meta":{"x":1},"name":"echo"},"method":"tools\/call","key":"k"}')
        self.assertEqual(again["result"]["job"], first["result"]["job"])
        self.collect(first["result"]["job"])
        self.assertEqual(self.raw_submit(r'{"key":"k","method":"tools/call","params":{"name":"echo","arguments":{"message":"a","n":[1,2]}}}')
                         ["result"]["state"], "completed")
        self.assertEqual(len(self.server.log("tools/call")), 1)

    def test_another_request_under_the_same_key_is_refused(self):
        self.job("add", {"a": 1, "b": 2}, key="k")
        for arguments in ({"a": 1, "b": 3}, {"a": 1}, {"a": "1", "b": 2}):
            self.refused("submit", {"method": "tools/call", "params": {"name": "add", "arguments": arguments}, "key": "k"})
        self.assert_error(self.raw_submit('{"method":"tools/call","params":{"name":"add","arguments":{"a":1.0,"b":2}},"key":"k"}'),
                          -32602, id=1)


class Bounds(Jobs):
    """BEHAVIOUR, "Jobs: bounds"."""

    def test_with_only_unfinished_ones_a_submit_is_overloaded(self):
        self.bridge("--jobs", "2")
        jobs = [self.job("slow", SLOW) for _ in range(2)]
        response = self.ask_bridge("submit", {"method": "tools/list"})
        self.assert_error(response, -32000, id="b", kind="overloaded", delivered="no")
        for job in jobs:
            self.result_of("cancel", {"job": job})
        self.assertEqual(self.collect(self.job("echo", {"message": "x"}))["state"], "completed")

    def test_a_list_has_so_many_and_no_longer_names(self):
        self.bridge()
        client = self.client()
        for _ in range(101):
            self.job("x" * 300, client=client)
        listed = self.listed()
        self.assertEqual(len(listed), 100)
        self.assertEqual(listed[0]["tool"], "x" * 256)
        self.assertEqual(len(self.listed(limit=101)), 101)


@unittest.skipUnless(is_root(), "needs root")
class Users(Jobs):
    """BEHAVIOUR, "Jobs: listing, cancelling, forgetting"."""

    def of_another(self, *options):
        _, daemon = self.bridge("--socket-mode", "0666", "--allow-uid", "0", "--allow-uid", "65534", *options)
        os.chmod(self.folder, 0o755)
        with acting_as():
            other = self.client()
        return other

    def test_each_sees_its_own_and_root_all(self):
        other = self.of_another()
        mine = self.job("echo", {"message": "mine"}, key="k")
        theirs = self.submit("echo", {"message": "theirs"}, other, key="k")["job"]
        self.assertNotEqual(mine, theirs)
        self.assertEqual([one["job"] for one in other.request("bridge/jobs", {}, 1)["result"]["jobs"]], [theirs])
        self.assertEqual({one["job"] for one in self.listed()}, {mine, theirs})
        self.assert_error(other.request("bridge/collect", {"job": mine}, 2), -32602, id=2)
        self.assertEqual(text_of(self.collect(theirs)["response"]), "theirs")

    def test_with_jobs_shared_everybody_sees_all(self):
        other = self.of_another("--jobs-shared")
        mine = self.job("echo", {"message": "mine"})
        self.assertEqual(text_of(self.collect(mine, other)["response"]), "mine")


class Questions(Jobs):
    """BEHAVIOUR, "Jobs: questions"."""

    ACCEPT = {"action": "accept", "content": {"answer": "x"}}

    def setUp(self):
        super().setUp()
        self.server, self.daemon = self.bridge("--client-capabilities", '{"elicitation":{},"sampling":{},"roots":{}}')

    def asking(self, tool="ask", arguments=None):
        job = self.job(tool, arguments or {"question": "Well?"})
        self.state_is(job, "input_required")
        return job

    def test_the_first_answer_counts(self):
        job = self.asking()
        self.result_of("answer", {"job": job, "result": self.ACCEPT})
        self.refused("answer", {"job": job, "result": {"action": "decline"}})
        self.assertEqual(json.loads(text_of(self.collect(job)["response"])), self.ACCEPT)

    def test_an_error_cancels_an_elicitation_and_is_one_for_anything_else(self):
        job = self.asking()
        self.result_of("answer", {"job": job, "error": {"code": -1, "message": "no"}})
        self.assertEqual(json.loads(text_of(self.collect(job)["response"])), {"action": "cancel"})
        job = self.asking("sample", {"prompt": "?"})
        self.result_of("answer", {"job": job, "error": {"code": -1, "message": "no"}})
        self.assertTrue(self.collect(job)["response"]["result"]["isError"])

    def test_what_is_no_answer_is_refused(self):
        job = self.asking()
        for params in ({}, {"result": 1}, {"result": {}, "error": {}}, {"error": "no"}):
            with self.subTest(params):
                self.refused("answer", {"job": job, **params})
        self.result_of("cancel", {"job": job})
        self.refused("answer", {"job": job, "result": {}})

    def test_a_waiting_collector_that_answers_is_asked(self):
        for declares in (True, False):
            with self.subTest(declares):
                client = self.client()
                if declares:
                    client.send(notification("bridge/answers", {"methods": ["elicitation/create"]}))
                job = self.job("slow", {"steps": 1, "delayMs": 1})
                self.collect(job)
                job = self.job("ask", {"question": "Now?"})
                self.start_collect(client, job, **({} if declares else {"answer": True}))
                asked = client.line()
                self.assertEqual((asked["method"], asked["params"]["message"]), ("elicitation/create", "Now?"))
                client.send(answer(asked["id"], self.ACCEPT))
                done = client.answer("c")["result"]
                self.assertEqual(json.loads(text_of(done["response"])), self.ACCEPT)


class InBothEras(Jobs, Eras):
    """What is asked in a result, and what is asked by a server that does not say about what."""

    def each(self):
        for mode, stdio in (("modern", False), ("modern", True), ("legacy", False), ("legacy", True)):
            yield f"{mode}, {'stdio' if stdio else 'http'}", lambda mode=mode, stdio=stdio: (self.bridged(mode, stdio=stdio)[0],)

    @with_each("each")
    def test_a_question_is_kept_and_answered_later(self, server):
        job = self.job("ask", {"kinds": ["elicitation"]})
        self.state_is(job, "input_required")
        self.assertEqual(self.collect(job)["question"]["method"], "elicitation/create")
        self.result_of("answer", {"job": job, "result": ANSWERS["elicitation"]})
        done = self.collect(job)
        self.assertEqual(json.loads(text_of(done["response"])), {"answers": [{"elicitation": ANSWERS["elicitation"]}]})

    @with_each("each")
    def test_a_collector_that_answers_is_asked(self, server):
        job = self.job("ask", {"kinds": ["elicitation"]})
        client = self.client()
        self.start_collect(client, job, answer=True)
        asked = client.line()
        self.assertEqual(asked["method"], "elicitation/create")
        client.send(answer(asked["id"], ANSWERS["elicitation"]))
        self.assertEqual(client.answer("c")["result"]["state"], "completed")

    def test_a_modern_client_submits_and_sees_the_question_and_is_not_asked(self):
        self.bridged("modern")
        client = self.modern()
        made = client.made("bridge/submit", {"method": "tools/call", "params": {"name": "ask", "arguments": {"kinds": ["elicitation"]}}})
        job = client.exchange(made)["result"]["job"]
        seen = client.exchange(client.made("bridge/collect", {"job": job, "waitMs": WAIT, "answer": True}))["result"]
        self.assertEqual((seen["state"], seen["question"]["method"]), ("input_required", "elicitation/create"))
        client.exchange(client.made("bridge/answer", {"job": job, "result": ANSWERS["elicitation"]}))
        done = client.exchange(client.made("bridge/collect", {"job": job, "waitMs": WAIT}))["result"]
        self.assertEqual(done["state"], "completed")


class ServerTasks(Jobs, Eras):
    """A modern server makes a job's call a task, which is asked about until it has ended (BEHAVIOUR, "Jobs: tasks of
    the server")."""

    def setUp(self):
        super().setUp()
        self.upstream_server, _ = self.bridged("modern")

    def task_of(self, job):
        self.upstream_server.wait_for("tasks/get")
        self.assertNotIn("task 1", json.dumps(self.collect(job, wait=0)))
        return next(iter(self.upstream_server.tasks.known))

    def test_it_is_collected_as_any_other(self):
        job = self.job("task")
        task = self.task_of(job)
        self.assertEqual(self.collect(job, wait=0)["state"], "working")
        self.others(0)
        self.upstream_server.complete_task(task)
        done = self.collect(job)
        self.assertEqual((done["state"], text_of(done["response"]), done["response"]["id"]), ("completed", "done later", None))
        self.in_flight(0)

    def test_no_other_call_is_made_a_task(self):
        self.assertEqual(text_of(self.client().call("task")), "done at once")


class TasksOfARealServer(Node, Jobs):
    """server-everything: its `simulate-research-query` can only be called as a task of 2025-11-25."""

    def test_a_tool_that_has_to_be_a_task_is_one(self):
        self.start_daemon(None, "--connect-wait", "60s", "--", NODE, EVERYTHING, "stdio")
        self.client().request("tools/list")
        plain = self.job("simulate-research-query", {"topic": "tea"})
        asking = self.job("simulate-research-query", {"topic": "python", "ambiguous": True})
        self.state_is(asking, "input_required")
        question = self.collect(asking)["question"]
        self.assertIn("python", question["params"]["message"])
        self.result_of("answer", {"job": asking, "result": {"action": "accept", "content": {"interpretation": "snake"}}})
        self.assertIn("Research Report: tea", text_of(self.collect(plain)["response"]))
        self.assertIn("snake", text_of(self.collect(asking)["response"]))


class Orphans(Jobs):
    def test_with_keep_a_departed_clients_request_becomes_a_job(self):
        server, _ = self.bridge("--orphans", "keep", "--request-timeout", "10s")
        client = self.client()
        client.send(call("slow", {"steps": 8, "delayMs": 100}, "mine", token="t"))
        server.log("tools/call", wait=1)
        client.close()
        job = self.only_job()
        self.assertEqual((job["state"], job["method"]), ("working", "tools/call"))
        done = self.collect(job["job"])
        self.assertEqual(text_of(done["response"]), "done after 8 steps")
        self.assertEqual(done["progress"]["total"], 8)
        self.assertEqual(server.log("notifications/cancelled"), [])

    def only_job(self):
        return eventually(lambda: (self.listed() or [None])[0], "a job")

    def test_its_open_question_is_kept_too(self):
        self.bridge("--orphans", "keep", "--client-capabilities", '{"elicitation":{}}')
        client = self.client()
        client.send(notification("bridge/answers", {"methods": ["elicitation/create"]}), call("ask", {"question": "?"}, 1))
        self.assertEqual(client.line()["method"], "elicitation/create")
        client.close()
        job = self.only_job()["job"]
        self.state_is(job, "input_required")
        self.result_of("answer", {"job": job, "result": {"action": "decline"}})
        self.assertEqual(json.loads(text_of(self.collect(job)["response"])), {"action": "decline"})


class OverHttp(Jobs, Facing):
    def test_a_caller_of_the_face_submits_and_collects(self):
        _, face = self.face("--http-timeout", "2s")
        submitted = face.ask("bridge/submit", {"method": "tools/call", "params": {"name": "echo", "arguments": {"message": "x"}}})
        job = submitted.json()["result"]["job"]
        collected = face.ask("bridge/collect", {"job": job, "waitMs": WAIT}).json()["result"]
        self.assertEqual(text_of(collected["response"]), "x")
        slow = face.ask("bridge/submit", {"method": "tools/call", "params": {"name": "slow", "arguments": SLOW}}).json()["result"]["job"]
        answered = face.ask("bridge/collect", {"job": slow, "waitMs": WAIT})
        self.assertEqual((answered.status, answered.json()["result"]["state"]), (200, "working"))
        face.ask("bridge/cancel", {"job": slow})

    def test_its_callers_see_no_jobs_of_others(self):
        _, face = self.face()
        job = self.job("echo", {"message": "x"})
        self.assertEqual(face.ask("bridge/collect", {"job": job}).json()["error"]["data"], {"source": "bridge", "kind": "job"})
        self.assertEqual(face.ask("bridge/jobs").json()["result"]["jobs"], [])


class AnswersForLater(Jobs, Facing):
    """A POST that is answered 202 at once: its requests are jobs, whose ends its session is told (BEHAVIOUR, "Jobs:
    asynchronous POSTs")."""

    LATER = {"Prefer": "respond-async"}

    def later(self, tool, arguments, session=None, id=7, **how):
        accepted = self.posts.call(tool, arguments, id, session, headers=self.LATER, **how)
        self.assertEqual((accepted.status, accepted.json()), (202, {"accepted": [id]}))
        return accepted.headers["Bridge-Jobs"]

    def over_http(self, method, **params):
        return self.posts.ask("bridge/" + method, params).json()["result"]

    def test_its_answer_comes_on_the_stream_and_can_be_collected_by_anybody_over_http(self):
        server, self.posts = self.face()
        session = self.posts.session()
        job = self.later("slow", {"steps": 2, "delayMs": 1}, session, token="t")
        stream = self.posts.stream(session)
        self.assertEqual([one["params"]["progressToken"] for one in stream.messages(2)], ["t", "t"])
        message = stream.message()
        self.assertEqual((message["id"], text_of(message)), (7, "done after 2 steps"))
        self.assertEqual(self.posts.request("DELETE", "/mcp", session=session).status, 204)
        collected = self.over_http("collect", job=job)
        self.assertEqual((collected["state"], collected["response"]), ("completed", {**message, "id": None}))
        self.assertEqual(len(server.log("tools/call")), 1)

    def test_what_is_asked_about_it_waits_until_its_session_can_be_asked(self):
        _, self.posts = self.face()
        session = self.posts.session({"roots": {}})
        job = self.later("roots", {}, session)
        eventually(lambda: self.over_http("collect", job=job)["state"] == "input_required", "the question")
        stream = self.posts.stream(session)
        asked = stream.message()
        self.assertEqual(asked["method"], "roots/list")
        self.posts.post(answer(asked["id"], {"roots": []}), session)
        self.assertEqual(json.loads(text_of(stream.message())), {"roots": []})

    def test_a_job_that_is_cancelled_by_another_is_an_error_to_its_session(self):
        _, self.posts = self.face()
        session = self.posts.session()
        stream = self.posts.stream(session)
        self.over_http("cancel", job=self.later("slow", SLOW, session))
        self.assert_error(stream.message(), -32000, 7, "closed", "unknown")


if __name__ == "__main__":
    main()
