"""Detached calls with mcp-nc: call --detach, --detach-after, --key, jobs, wait, answer, cancel and forget.

Before a scripted daemon, which says what a real one says seldom; before the real one in test_nc_detached."""

import json
import signal

from harness import Case, main
from harness.binaries import binary
from harness.scripted_jobs import ScriptedJobs
from harness.terminal import Terminal

EVIL = "\u202egnp\x1b]0;title\x07\x1b[31mred\x9b31m\x00\x7f end"
NAME = {"mode": "form", "message": "Who are you?", "requestedSchema": {
    "type": "object", "required": ["name"], "properties": {
        "name": {"type": "string", "description": "the first one"}, "age": {"type": "integer", "minimum": 1},
        "colour": {"type": "string", "enum": ["r", "g"], "enumNames": ["Red", "Green"], "default": "g"}}}}


class Jobs(Case):
    def setUp(self):
        super().setUp()
        self.daemon = ScriptedJobs(self.path("s"))
        self.terminals = []

    def tearDown(self):
        for terminal in self.terminals:
            terminal.close()
        super().tearDown()
        self.daemon.close()

    def run_nc(self, *arguments, **how):
        return super().run_nc(*arguments, socket=self.daemon.socket_path, **how)

    def nc(self, *arguments):
        return super().nc(*arguments, daemon=self.daemon)

    def terminal(self, *arguments, **how):
        terminal = Terminal([binary("MCP_NC"), "-s", self.daemon.socket_path, *arguments], self.marker, **how)
        self.terminals.append(terminal)
        return terminal

    def ended(self, process, code):
        self.assertEqual(process.wait(), code, process.stderr())
        return process.stdout().decode(), process.stderr()


class Detached(Jobs):
    def test_without_one_the_id_is_and_the_exit_code_is_75(self):
        out, err = self.run_nc("call", "--detach-after", "100ms", "slow", code=75)
        self.assertEqual(out, "j1\n")
        self.assertRegex(err, r"^mcp-nc: the call continues as a job; get its result with: mcp-nc -s \S+ wait j1\n$")
        out, _ = self.run_nc("call", "--detach-after", "100ms", "--json", "slow", code=75)
        self.assertEqual(json.loads(out), {"job": "j2"})
        self.assertEqual(self.daemon.jobs["j1"].state, "working")

    def test_so_it_is_at_the_end_of_its_own_time(self):
        out, err = self.run_nc("-w", "200ms", "call", "--detach-after", "1h", "slow", code=124)
        self.assertEqual(out, "")
        self.assertIn("the request was cancelled", err)
        self.assertEqual(self.daemon.asked("bridge/cancel"), [{"job": "j1"}])

    def test_and_so_it_is_before_the_daemon_has_said_which_job_it_is(self):
        self.daemon.replies["bridge/submit"] = "silence"
        nc = self.nc("call", "--detach", "slow")
        self.daemon.asked("bridge/submit")
        submit, send = next(one for one in self.daemon.requests if one[0]["method"] == "bridge/submit")
        self.daemon.add("late")
        nc.signal(signal.SIGINT)
        send({"jsonrpc": "2.0", "id": submit["id"], "result": {"job": "late", "state": "working"}})
        nc.wait()
        # Which of the two came first is the kernel's matter: it has printed the id, or cancelled the job.
        if nc.popen.returncode == 0:
            self.assertEqual(nc.stdout(), b"late\n")
        else:
            self.assertEqual(self.ended(nc, 130), ("", ""))
            self.assertEqual(self.daemon.jobs["late"].state, "cancelled")

    def test_a_question_nobody_here_answers_is_shown_with_the_id(self):
        nc = self.nc("call", "--detach-after", "1h", "slow")
        self.daemon.asked("bridge/collect")
        self.daemon.ask("j1", NAME)
        out, err = self.ended(nc, 75)
        self.assertEqual(out, "j1\n")
        self.assertIn("Who are you?", err)

    def test_a_daemon_that_does_not_say_that_the_time_is_up_is_not_waited_for_long(self):
        self.daemon.replies["bridge/collect"] = "silence"
        self.assertEqual(self.run_nc("call", "--detach-after", "1ms", "slow", code=75)[0], "j1\n")

    def test_a_daemon_that_leaves_leaves_the_id(self):
        nc = self.nc("call", "--detach-after", "1h", "slow")
        self.daemon.asked("bridge/collect")
        for connection in self.daemon.connections:
            connection.shutdown(2)
        self.assertIn("the call was job j1", self.ended(nc, 3)[1])


class Keys(Jobs):
    def test_of_a_forgotten_job_the_end_is_told(self):
        self.daemon.add("j1", params={"name": "echo", "arguments": {}}, key="step")
        self.daemon.jobs["j1"].forgotten = True
        for state, code in (("completed", 0), ("failed", 1)):
            self.daemon.jobs["j1"].state = state
            for how, printed in (([], ""), (["--detach"], "j1\n")):
                with self.subTest(state=state, how=how):
                    out, err = self.run_nc("call", *how, "--key", "step", "echo", code=code)
                    self.assertEqual(out, printed)
                    self.assertIn(f"nothing was called: the call with this key was made before ({state})", err)


class Waiting(Jobs):
    def test_what_is_no_tools_result_is_printed_as_its_own_verb_does(self):
        self.daemon.add("a")
        self.daemon.respond("a", {"result": {"contents": [{"uri": "demo://x", "text": "read"}]}})
        self.assertEqual(self.run_nc("wait", "a")[0], "read\n")
        self.daemon.respond("a", {"result": {"messages": [{"role": "user", "content": {"type": "text", "text": "hi"}}]}})
        self.assertEqual(self.run_nc("wait", "a")[0], "user:\nhi\n")
        self.daemon.respond("a", {"result": {"tools": []}})
        self.assertEqual(json.loads(self.run_nc("wait", "a")[0]), {"tools": []})

    def test_several_raw_are_one_line_each(self):
        for id in ("a", "b"):
            self.daemon.add(id)
            self.daemon.complete(id, "text of " + id)
        lines = [json.loads(line) for line in self.run_nc("wait", "--json", "a", "b")[0].splitlines()]
        self.assertEqual({line["job"]: line["result"]["content"][0]["text"] for line in lines},
                         {"a": "text of a", "b": "text of b"})

    def test_an_interrupt_and_the_time_end_the_waiting_and_not_the_job(self):
        self.daemon.add("a")
        nc = self.nc("wait", "a")
        self.daemon.asked("bridge/collect")
        nc.signal(signal.SIGINT)
        self.assertEqual(self.ended(nc, 130), ("", ""))
        self.assertIn("continues", self.run_nc("-w", "100ms", "wait", "a", code=124)[1])
        self.assertEqual(self.daemon.jobs["a"].state, "working")
        self.assertNotIn("bridge/cancel", [message["method"] for message, _ in self.daemon.requests])

    def test_a_wait_that_the_daemon_ends_begins_again(self):
        self.daemon.add("a")
        self.daemon.replies["bridge/collect"] = {"job": "a", "state": "working", "ageMs": 1}
        nc = self.nc("wait", "a")
        self.daemon.asked("bridge/collect", 3)
        self.daemon.complete("a", "at last")
        del self.daemon.replies["bridge/collect"]
        self.assertEqual(self.ended(nc, 0)[0], "at last\n")

    def test_a_question_without_a_terminal_is_shown_and_75(self):
        self.daemon.add("a")
        self.daemon.add("b")
        self.daemon.ask("a", NAME)
        self.daemon.complete("b", "done")
        out, err = self.run_nc("wait", "a", "b", code=75)
        self.assertEqual(out, "b:\ndone\n")
        for shown in ("job a asks", "Who are you?", "name: text, required", "1) Red (r)", " answer a name=VALUE"):
            self.assertIn(shown, err)
        self.assertEqual(json.loads(self.run_nc("wait", "--json", "a", code=75)[0]),
                         {"job": "a", "question": {"method": "elicitation/create", "params": NAME}})
        self.daemon.ask("a", {"messages": []}, method="sampling/createMessage")
        self.assertIn('sampling/createMessage {"messages": []}', self.run_nc("wait", "a", code=75)[1])


class AtATerminal(Jobs):
    def test_a_question_is_asked_and_its_answer_sent(self):
        self.daemon.add("a")
        terminal = self.terminal("wait", "a", stdout_apart=True)
        self.daemon.asked("bridge/collect")
        self.daemon.ask("a", NAME)
        terminal.expect("Who are you\\?.*name: text.*> ").type("Ada\n").expect("age: .*> ").type("36\n")
        terminal.expect("colour: .*> ").type("red\n")
        self.assertEqual(self.daemon.answered("a"), [{"result": {
            "action": "accept", "content": {"name": "Ada", "age": 36, "colour": "r"}}}])
        self.daemon.complete("a", "hello Ada")
        self.assertEqual(terminal.wait(), 0)
        self.assertEqual(terminal.popen.stdout.read(), b"hello Ada\n")

    def test_several_jobs_ask_one_after_the_other_and_others_end_meanwhile(self):
        for id in ("a", "b", "c"):
            self.daemon.add(id)
        self.daemon.ask("a", {"message": "First?"})
        terminal = self.terminal("wait", "a", "b", "c", stdout_apart=True)
        terminal.expect("job a asks.*First\\?.*\\[yes/no\\] ")
        self.daemon.ask("b", {"message": "Second?"})
        self.daemon.complete("c", "c is done")
        self.assertEqual(terminal.popen.stdout.readline() + terminal.popen.stdout.readline(), b"c:\nc is done\n")
        terminal.type("yes\n").expect("Second\\?.*\\[yes/no\\] ").type("no\n")
        self.assertEqual(self.daemon.answered("a")[0]["result"]["action"], "accept")
        self.assertEqual(self.daemon.answered("b")[0]["result"]["action"], "decline")
        self.daemon.complete("a", "1")
        self.daemon.complete("b", "2")
        self.assertEqual(terminal.wait(), 0)

    def test_the_end_of_input_and_an_interrupt_leave_the_question_for_later(self):
        self.daemon.add("a")
        self.daemon.ask("a", {"message": "Well?"})
        for typed, code in (("\x04", 75), ("\x03", 130)):
            with self.subTest(code):
                terminal = self.terminal("wait", "a")
                terminal.expect("\\[yes/no\\] ").type(typed)
                self.assertEqual(terminal.wait(), code)
        self.assertEqual(self.daemon.jobs["a"].state, "input_required")

    def test_an_answer_that_comes_too_late_is_told_and_the_wait_goes_on(self):
        self.daemon.add("a")
        self.daemon.ask("a", {"message": "Well?"})
        terminal = self.terminal("wait", "a", stdout_apart=True)
        terminal.expect("\\[yes/no\\] ")
        self.daemon._set("a", state="working", question=None)
        terminal.type("yes\n").expect("the answer was refused")
        self.daemon.complete("a", "without it")
        self.assertEqual(terminal.wait(), 0)
        self.assertEqual(terminal.popen.stdout.read(), b"without it\n")

    def test_detach_after_also_ends_the_asking(self):
        terminal = self.terminal("call", "--detach-after", "1500ms", "slow", stdout_apart=True)
        self.daemon.asked("bridge/collect")
        self.daemon.ask("j1", {"message": "Well?"})
        terminal.expect("\\[yes/no\\] \r\nmcp-nc: the call continues as a job")
        self.assertEqual(terminal.wait(), 75)
        self.assertEqual(terminal.popen.stdout.read(), b"j1\n")
        self.assertEqual(self.daemon.jobs["j1"].state, "input_required")

    def test_nothing_of_the_server_reaches_it_raw(self):
        self.daemon.add("a", key=EVIL)
        self.daemon.jobs["a"].params = {"name": EVIL}
        evil_form = {"message": EVIL, "requestedSchema": {"type": "object", "properties": {EVIL: {
            "type": "string", "title": EVIL, "description": EVIL, "enum": [EVIL]}}}}
        steps = ((lambda: self.daemon.ask("a", evil_form), ["wait", "a"], "\x03"),
                 (lambda: self.daemon.ask("a", evil_form), ["answer", "a", "x=y"], ""),
                 (lambda: self.daemon.ask("a", evil_form, method=EVIL), ["wait", "a"], ""),
                 (lambda: None, ["jobs"], ""), (lambda: None, ["jobs", "--names"], ""),
                 (lambda: self.daemon.replies.update({"bridge/cancel": {"state": EVIL}}), ["cancel", "a"], ""),
                 (lambda: self.daemon.replies.update({"bridge/submit": {"job": EVIL, "state": "working"}}), ["call", "--detach", "x"], ""),
                 (lambda: self.daemon.complete("a", EVIL), ["wait", "a"], ""),
                 (lambda: self.daemon.fail("a", {"code": 1, "message": EVIL}), ["wait", "a"], ""))
        for number, (prepare, command, typed) in enumerate(steps):
            with self.subTest(number, command=command):
                prepare()
                terminal = self.terminal(*command)
                if typed:
                    terminal.expect("end.*> ").type(typed)
                terminal.wait()
                shown = terminal.shown.decode(errors="replace")
                for sign in ("\x1b]", "\x07", "\x1b[31m", "\x9b", "\x00", "\x7f", "\u202e"):
                    self.assertNotIn(sign, shown, repr(shown))
                if command != ["jobs", "--names"]:
                    self.assertIn("gnp", shown)


class Answering(Jobs):
    def setUp(self):
        super().setUp()
        self.daemon.add("a")
        self.daemon.ask("a", NAME)

    def answer(self, *words, **how):
        self.assertEqual(self.run_nc("answer", "a", *words, **how), ("", ""))
        return self.daemon.jobs["a"].answers[-1]

    def test_values_become_what_the_fields_want(self):
        self.assertEqual(self.answer("name=Ada", "age=36", "colour=Red"),
                         {"result": {"action": "accept", "content": {"name": "Ada", "age": 36, "colour": "r"}}})
        self.daemon.ask("a", NAME)
        self.assertEqual(self.answer("name:@" + self.write("name", "a name")),
                         {"result": {"action": "accept", "content": {"name": "a name", "colour": "g"}}})
        self.daemon.ask("a", NAME)
        self.assertEqual(self.answer("-", stdin='{"name":"5","age":7}'),
                         {"result": {"action": "accept", "content": {"name": "5", "age": 7, "colour": "g"}}})

    def test_decline_and_cancel(self):
        self.assertEqual(self.answer("--decline"), {"result": {"action": "decline"}})
        self.daemon.ask("a", NAME)
        self.assertEqual(self.answer("--cancel"), {"result": {"action": "cancel"}})

    def test_a_page_is_accepted_without_content(self):
        self.daemon.ask("a", {"mode": "url", "url": "https://x.example/y", "message": "Log in"})
        self.assertIn("https://x.example/y", self.run_nc("answer", "a", code=75)[1])
        self.assertEqual(self.answer("{}"), {"result": {"action": "accept"}})

    def test_what_is_no_elicitation_is_declined_by_an_error_and_answered_otherwise(self):
        self.daemon.ask("a", {"messages": []}, method="sampling/createMessage")
        self.assertIn("bridge/answer", self.run_nc("answer", "a", "x=y", code=2)[1])
        self.assertEqual(self.answer("--decline")["error"]["code"], -1)

    def test_a_job_that_asks_nothing_is_1(self):
        self.answer("name=Ada")
        self.assertIn("job 'a' has not asked anything; it is working", self.run_nc("answer", "a", "name=Ada", code=1)[1])
        self.daemon.complete("a")
        self.assertRegex(self.run_nc("answer", "a", code=1)[1],
                         r"job 'a' has ended; get its result with: mcp-nc -s \S+ wait a")

    def test_at_a_terminal_all_questions_are_asked(self):
        self.daemon.ask("a", {"message": "One?"})
        terminal = self.terminal("answer", "a")
        terminal.expect("One\\?.*\\[yes/no\\] ")
        original = self.daemon._method_answer

        def then_another(params):
            reply = original(params)
            if len(self.daemon.jobs["a"].answers) == 1:
                job = self.daemon.jobs["a"]
                job.state, job.question = "input_required", {"method": "elicitation/create", "params": {"message": "Two?"}}
            return reply

        self.daemon._method_answer = then_another
        terminal.type("yes\n").expect("Two\\?.*\\[yes/no\\] ").type("no\n")
        self.assertEqual(terminal.wait(), 0)
        self.assertEqual([one["result"]["action"] for one in self.daemon.jobs["a"].answers], ["accept", "decline"])


class Managing(Jobs):
    def test_the_list_for_people_for_programs_and_for_shells(self):
        self.assertEqual(self.run_nc("jobs"), ("", ""))
        self.daemon.add("first", key="step")
        self.daemon.add("second")
        self.daemon.ask("second", NAME)
        out, _ = self.run_nc("jobs")
        self.assertEqual(out, "JOB     STATE               AGE  CALL    BYTES  KEY   PID  COMMAND\n"
                              "second  input_required  1 m 1 s  echo  1.5 KiB  -      42  mcp-nc\n"
                              "first   working         1 m 1 s  echo  1.5 KiB  step   42  mcp-nc\n")
        self.assertEqual([job["job"] for job in json.loads(self.run_nc("jobs", "--json")[0])["jobs"]], ["second", "first"])
        self.assertEqual(self.run_nc("jobs", "--names")[0], "second\nfirst\n")

    def test_an_older_daemon_is_named_with_what_to_do(self):
        unknown = {"error": {"code": -32601, "message": "unknown"}}
        for method, command in (("submit", ["call", "--detach", "x"]), ("submit", ["call", "--key", "k", "x"]), ("collect", ["wait", "a"]),
                                ("jobs", ["jobs"]), ("collect", ["answer", "a"]), ("cancel", ["cancel", "a"]), ("forget", ["forget", "a"])):
            with self.subTest(command):
                self.daemon.replies["bridge/" + method] = unknown
                out, err = self.run_nc(*command, code=1)
                self.assertEqual(out, "")
                self.assertIn("older than this mcp-nc", err)
                self.assertIn("update", err)


if __name__ == "__main__":
    main()
