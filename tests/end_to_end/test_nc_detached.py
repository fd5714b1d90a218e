"""Detached calls with mcp-nc: call --detach, --detach-after, --key, jobs, wait, answer, cancel and forget."""

import json
import signal

from harness import Case, eventually, main
from harness.processes import open_files
from harness.waiting import patient


EVIL = "\u202egnp\x1b]0;title\x07\x1b[31mred\x9b31m\x00\x7f end"
ENDLESS = ("slow", "steps:=100000", "delayMs:=50")


class Detaching(Case):
    def setUp(self):
        super().setUp()
        self.server, self.daemon = self.bridge("--client-capabilities", '{"elicitation":{},"sampling":{}}')

    def detach(self, *call):
        out, err = self.run_nc("call", "--detach", *call)
        self.assertEqual(err, "")
        self.assertRegex(out, r"\A[\w-]{16,}\n\Z")
        return out[:-1]

    def state_of(self, job, state):
        def is_so():
            jobs = json.loads(self.run_nc("jobs", "--json")[0])["jobs"]
            return [one for one in jobs if one["job"] == job and one["state"] == state]
        return eventually(is_so, f"{job} {state}")[0]

    def ended(self, process, code):
        self.assertEqual(process.wait(), code, process.stderr())
        return process.stdout().decode(), process.stderr()


class Calls(Detaching):
    def test_a_detached_call_goes_on_and_its_result_is_for_whoever_waits(self):
        job = self.detach("slow", "steps:=4", "delayMs:=50")
        for _ in range(2):
            self.assertEqual(self.run_nc("wait", job), ("done after 4 steps\n", ""))
        self.assertIn("slow", self.run_nc("jobs")[0])
        self.assertEqual(self.run_nc("jobs", "--names")[0], job + "\n")
        self.assertEqual(self.run_nc("forget", job), ("", ""))
        self.assertIn(f"no job '{job}'; list them with: mcp-nc", self.run_nc("wait", job, code=1)[1])

    def test_it_is_detached_while_the_tool_works(self):
        job = self.detach(*ENDLESS)
        self.server.state(activeCalls=1)
        self.assertIn("has not ended", self.run_nc("forget", job, code=1)[1])
        self.assertEqual(self.run_nc("cancel", job), ("cancelled\n", ""))
        self.server.state(activeCalls=0)
        self.assertEqual(self.run_nc("wait", job, code=1), ("", f"mcp-nc: job {job} was cancelled\n"))

    def test_detaching_takes_no_notification(self):
        self.run_nc("request", "ping")
        self.server.emit({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
        self.untaken(1)
        self.run_nc("wait", self.detach("echo", "message=x"))
        self.run_nc("jobs")
        self.untaken(1)

    def test_a_key_acts_once(self):
        for _ in (1, 2):
            self.assertEqual(self.run_nc("call", "--key", "step", "echo", "message=once"), ("once\n", ""))
        self.assertIn("key", self.run_nc("call", "--key", "step", "echo", "message=twice", code=1)[1])
        self.run_nc("call", "--key", "failed", "--raw", "no-such-tool", code=1)
        called = len(self.server.bodies("tools/call"))
        for job in self.run_nc("jobs", "--names")[0].split():
            self.run_nc("forget", job)
        for call, code in ((["--key", "step", "echo", "message=once"], 0), (["--key", "failed", "--raw", "no-such-tool"], 1)):
            self.assertIn("nothing was called", self.run_nc("call", *call, code=code)[1])
        self.assertEqual(len(self.server.bodies("tools/call")), called)

    def test_a_result_in_time_leaves_nothing_behind_and_a_late_one_a_job(self):
        self.assertEqual(self.run_nc("call", "--detach-after", "60s", "echo", "message=quick"), ("quick\n", ""))
        self.assertEqual(self.run_nc("jobs", "--names")[0], "")
        out, err = self.run_nc("call", "--detach-after", "100ms", "slow", "steps:=20", "delayMs:=50", code=75)
        self.assertIn(" wait " + out[:-1], err)
        self.assertEqual(self.run_nc("wait", out[:-1])[0], "done after 20 steps\n")
        raw = self.run_nc("call", "--detach-after", "100ms", "--json", "slow", "steps:=20", "delayMs:=50", code=75)[0]
        self.assertEqual(list(json.loads(raw)), ["job"])

    def interrupted(self, *words):
        nc = self.nc("call", *words, "--detach-after", "1h", *ENDLESS)
        self.server.state(activeCalls=1)
        nc.signal(signal.SIGINT)
        ended = self.ended(nc, 130)
        self.server.state(activeCalls=0)
        return ended

    def test_before_it_is_detached_an_interrupt_and_the_time_cancel_the_call_at_the_server(self):
        self.assertEqual(self.interrupted(), ("", "mcp-nc: interrupted; the job was cancelled\n"))
        self.assertIn("interrupted; the job was cancelled", "".join(self.interrupted("--json")))
        self.assertIn("the job was cancelled", self.run_nc("-w", patient(1000), "call", "--detach-after", "1h", *ENDLESS, code=124)[1])
        self.server.state(activeCalls=0)

    def test_an_interrupt_before_the_daemon_has_said_which_job_it_is_cancels_that_job(self):
        self.daemon.signal(signal.SIGSTOP)
        nc = self.nc("call", "--raw", "--detach", *ENDLESS)
        eventually(lambda: any("signalfd" in file for file in open_files(nc.pid)), "its descriptor for signals")
        nc.signal(signal.SIGINT)
        self.daemon.signal(signal.SIGCONT)
        nc.wait()
        states = [job["state"] for job in json.loads(self.run_nc("jobs", "--json")[0])["jobs"]]
        # Which of the two came first is the kernel's matter: it has printed the id, or cancelled the job.
        # If it said that the daemon does not answer, any state is as it said.
        if "the daemon does not answer" in nc.stderr():
            self.assertEqual(nc.popen.returncode, 130)
        else:
            self.assertIn((nc.popen.returncode, states), ((0, ["working"]), (130, ["cancelled"]), (130, [])))
        self.run_nc("cancel", nc.stdout().decode().strip() or "none", code=None)

    def test_an_interrupt_while_the_daemon_stands_still_says_that_the_job_may_go_on(self):
        self.daemon.signal(signal.SIGSTOP)
        nc = self.nc("call", "--raw", "--detach", *ENDLESS)
        eventually(lambda: any("signalfd" in file for file in open_files(nc.pid)), "its descriptor for signals")
        nc.signal(signal.SIGINT)
        self.assertRegex(self.ended(nc, 130)[1], "interrupted; the daemon does not answer: the call may go on as a job, .* jobs\n$")
        self.daemon.signal(signal.SIGCONT)

    def test_a_daemon_that_ends_leaves_the_id(self):
        nc = self.nc("call", "--detach-after", "1h", *ENDLESS)
        self.server.state(activeCalls=1)
        job = self.run_nc("jobs", "--names")[0].strip()
        self.daemon.crash()
        self.assertIn(f"the call was job {job}", self.ended(nc, 3)[1])


class Waiting(Detaching):
    def test_an_interrupt_and_the_time_end_the_waiting_and_not_the_job(self):
        job = self.detach(*ENDLESS)
        terminal = self.terminal("wait", job)
        terminal.expect(r"\[.*\]").type("\x03")
        self.assertEqual(terminal.wait(), 130)
        self.assertIn("continues", self.run_nc("-w", "100ms", "wait", job, code=124)[1])
        self.state_of(job, "working")
        self.run_nc("cancel", job)

    def test_a_unique_beginning_of_its_id_names_a_job(self):
        job = self.detach("echo", "message=short")
        self.assertEqual(self.run_nc("wait", job[:8])[0], "short\n")
        self.assertEqual(self.run_nc("cancel", job[:12])[0], "completed\n")
        self.run_nc("forget", job[:8])
        self.assertIn(f"no job '{job[:8]}'", self.run_nc("wait", job[:8], code=1)[1])

    def test_several_and_the_exit_codes_of_call(self):
        good, bad, wrong = self.detach("echo", "message=good"), self.detach("fail", "message=bad"), self.detach("--raw", "no-such-tool")
        out, err = self.run_nc("wait", good, bad, wrong, code=1)
        self.assertIn(f"{good}:\ngood\n", out)
        self.assertIn(f"job {bad}: the tool reported a failure", err)
        self.assertIn(f"job {wrong}: ", err)
        lines = [json.loads(line) for line in self.run_nc("wait", "--json", good, wrong, code=1)[0].splitlines()]
        self.assertEqual({line["job"]: next(iter(line.keys() - {"job"})) for line in lines}, {good: "result", wrong: "error"})
        endless = self.detach(*ENDLESS)
        self.assertEqual(self.run_nc("wait", "--any", endless, good), (f"{good}:\ngood\n", ""))
        self.run_nc("cancel", endless)
        self.server.fault({"closeBeforeAnswer": True}, method="tools/call")
        self.run_nc("wait", self.detach("echo", "message=x"), code=4)

    def test_what_is_no_tools_result_is_printed_as_its_own_verb_does(self):
        for method, params, verb in (("resources/read", {"uri": "demo://readme"}, ["read", "demo://readme"]),
                                     ("prompts/get", {"name": "greet", "arguments": {"name": "Ada"}}, ["prompt", "greet", "name=Ada"])):
            job = self.client().request("bridge/submit", {"method": method, "params": params})["result"]["job"]
            self.assertEqual(self.run_nc("wait", job), self.run_nc(*verb))

    def test_a_wait_that_an_upgrade_ends_begins_again(self):
        job = self.detach(*ENDLESS)
        waiting = self.nc("wait", job)
        self.others(1)
        self.daemon.upgrade()  # the call, whose stream cannot be resumed, has failed
        self.assertIn("upgraded before the answer came", self.ended(waiting, 4)[1])


class Questions(Detaching):
    def test_one_is_answered_from_another_process(self):
        job = self.detach("ask", "question=Your name?")
        self.state_of(job, "input_required")
        err = self.run_nc("wait", job, code=75)[1]
        for shown in (f"job {job} asks", "Your name?", "answer: text, required", f" answer {job} answer=VALUE"):
            self.assertIn(shown, err)
        question = json.loads(self.run_nc("wait", "--json", job, code=75)[0])["question"]
        self.assertEqual((question["method"], question["params"]["message"]), ("elicitation/create", "Your name?"))
        self.assertEqual(self.run_nc("answer", job, "answer=Ada"), ("", ""))
        self.assertIn("Ada", self.run_nc("wait", job)[0])
        self.assertIn("has ended; get its result with", self.run_nc("answer", job, "--cancel", code=1)[1])

    def test_one_that_nobody_answers_here_ends_the_waiting_for_the_call(self):
        out, err = self.run_nc("call", "--detach-after", "1h", "ask", "question=Your name?", code=75)
        self.assertIn("Your name?", err)
        self.assertEqual(self.run_nc("answer", out[:-1], "--decline"), ("", ""))
        self.assertIn("decline", self.run_nc("wait", out[:-1])[0])

    def test_what_is_no_elicitation_is_declined_by_an_error_and_answered_otherwise(self):
        job = self.detach("sample", "prompt=Say")
        self.state_of(job, "input_required")
        self.assertIn("sampling/createMessage {", self.run_nc("wait", job, code=75)[1])
        self.assertIn("bridge/answer", self.run_nc("answer", job, "x=y", code=2)[1])
        self.run_nc("answer", job, "--decline")
        self.assertIn('"code":-1', self.run_nc("wait", job, code=1)[0].replace(" ", ""))

    def test_a_job_that_asks_nothing_is_1(self):
        job = self.detach(*ENDLESS)
        self.state_of(job, "working")
        self.assertIn(f"job '{job}' has not asked anything; it is working", self.run_nc("answer", job, "a=b", code=1)[1])
        self.run_nc("cancel", job)

    def test_at_a_terminal_the_wait_asks_and_shows_progress(self):
        job = self.detach("ask", "question=Your name?")
        for typed, code in (("\x04", 75), ("\x03", 130)):  # leave the question for later
            terminal = self.terminal("wait", job)
            terminal.expect("Your name\\?.*> ").type(typed)
            self.assertEqual(terminal.wait(), code)
        self.state_of(job, "input_required")
        terminal = self.terminal("answer", job)
        terminal.expect("Your name\\?.*> ").type("Ada\n")
        self.assertEqual(terminal.wait(), 0)
        self.assertIn("Ada", self.run_nc("wait", job)[0])
        job = self.detach("slow", "steps:=100", "delayMs:=50")
        terminal = self.terminal("wait", job, stdout_apart=True)
        terminal.expect(r"\[#+-+\]")
        self.run_nc("cancel", job)
        self.assertEqual(terminal.wait(), 1)

    def test_several_jobs_ask_one_after_the_other_and_others_end_meanwhile(self):
        jobs = [self.detach("ask", "question=First?"), self.detach("echo", "message=done"), self.detach("ask", "question=Second?")]
        terminal = self.terminal("wait", *jobs, stdout_apart=True)
        terminal.expect(f"job {jobs[0]} asks.*First\\?.*> ")
        self.assertEqual(terminal.popen.stdout.readline() + terminal.popen.stdout.readline(), f"{jobs[1]}:\ndone\n".encode())
        terminal.type("one\n").expect("Second\\?.*> ").type("two\n")
        self.assertEqual(terminal.wait(), 0)
        results = terminal.popen.stdout.read()
        self.assertTrue(b"one" in results and b"two" in results, results)

    def test_an_answer_that_comes_too_late_is_told_and_the_wait_goes_on(self):
        job = self.detach("ask", "question=Well?")
        terminal = self.terminal("wait", job, stdout_apart=True)
        terminal.expect("Well\\?.*> ")
        self.run_nc("answer", job, "answer=earlier")
        terminal.type("late\n").expect("the answer was refused")
        self.assertEqual(terminal.wait(), 0)
        self.assertIn(b"earlier", terminal.popen.stdout.read())

    def test_detach_after_also_ends_the_asking(self):
        terminal = self.terminal("call", "--detach-after", "1500ms", "ask", "question=Well?", stdout_apart=True)
        terminal.expect("Well\\?.*mcp-nc: the call continues as a job")
        self.assertEqual(terminal.wait(), 75)
        self.state_of(terminal.popen.stdout.read().decode().strip(), "input_required")

    def test_nothing_of_the_server_reaches_the_terminal_raw(self):
        job = self.detach("--key", EVIL.replace("\x00", ""), "ask", json.dumps({"question": EVIL}))
        self.state_of(job, "input_required")
        done = self.detach("echo", json.dumps({"message": EVIL}))
        for command, seen in ((["wait", job], "gnp.*end.*> "), (["jobs"], r"\\u202e"), (["wait", done], "gnp.*end")):
            with self.subTest(command):
                terminal = self.terminal(*command)
                terminal.expect(seen)
                if command == ["wait", job]:
                    terminal.type("\x03")
                terminal.wait()
                shown = terminal.shown.decode(errors="replace")
                for sign in ("\x1b]", "\x07", "\x1b[31m", "\x9b", "\x00", "\x7f", "\u202e"):
                    self.assertNotIn(sign, shown, repr(shown))


class WithoutControl(Case):
    def test_a_daemon_that_forwards_bridge_requests_is_named_with_what_to_do(self):
        self.bridge("--no-control")
        for command in (["call", "--detach", "echo", "message=x"], ["jobs"], ["wait", "x"]):
            with self.subTest(command):
                out, err = self.run_nc(*command, code=1)
                self.assertEqual(out, "")
                self.assertIn("--no-control", err)


if __name__ == "__main__":
    main()
