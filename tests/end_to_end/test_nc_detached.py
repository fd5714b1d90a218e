"""Detached calls with mcp-nc before the real daemon and the demo server (test_nc_jobs has what they seldom say)."""

import json
import signal

from harness import Case, eventually, main
from harness.binaries import binary
from harness.terminal import Terminal


class Detached(Case):
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

    def test_a_detached_call_goes_on_and_its_result_is_for_whoever_waits(self):
        job = self.detach("slow", "steps:=4", "delayMs:=50")
        self.assertEqual(self.run_nc("wait", job), ("done after 4 steps\n", ""))
        self.assertEqual(self.run_nc("wait", job)[0], "done after 4 steps\n")
        self.assertIn("slow", self.run_nc("jobs")[0])
        self.assertEqual(self.run_nc("jobs", "--names")[0], job + "\n")
        self.assertEqual(self.run_nc("forget", job), ("", ""))
        self.assertIn(f"no job '{job}'; list them with: mcp-nc", self.run_nc("wait", job, code=1)[1])

    def test_it_is_detached_while_the_tool_works(self):
        job = self.detach("slow", "steps:=100000", "delayMs:=50")
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
        self.assertEqual(len(self.server.bodies("tools/call")), 1)
        self.assertIn("key", self.run_nc("call", "--key", "step", "echo", "message=twice", code=1)[1])
        job = self.run_nc("jobs", "--names")[0][:-1]
        self.run_nc("forget", job)
        self.assertIn("nothing was called", self.run_nc("call", "--key", "step", "echo", "message=once")[1])
        self.assertEqual(len(self.server.bodies("tools/call")), 1)

    def test_a_result_in_time_leaves_nothing_behind_and_a_late_one_a_job(self):
        self.assertEqual(self.run_nc("call", "--detach-after", "60s", "echo", "message=quick"), ("quick\n", ""))
        self.assertEqual(self.run_nc("jobs", "--names")[0], "")
        out, err = self.run_nc("call", "--detach-after", "100ms", "slow", "steps:=20", "delayMs:=50", code=75)
        self.assertIn(" wait " + out[:-1], err)
        self.assertEqual(self.run_nc("wait", out[:-1])[0], "done after 20 steps\n")
        raw = self.run_nc("call", "--detach-after", "100ms", "--json", "slow", "steps:=20", "delayMs:=50", code=75)[0]
        self.assertEqual(list(json.loads(raw)), ["job"])

    def test_interrupted_before_it_is_detached_the_call_is_cancelled_at_the_server(self):
        nc = self.nc("call", "--detach-after", "1h", "slow", "steps:=100000", "delayMs:=50")
        self.server.state(activeCalls=1)
        nc.signal(signal.SIGINT)
        self.assertEqual(self.ended(nc, 130), ("", ""))
        self.server.state(activeCalls=0)

    def test_an_interrupted_wait_leaves_the_job(self):
        job = self.detach("slow", "steps:=100000", "delayMs:=50")
        terminal = Terminal([binary("MCP_NC"), "-s", self.daemon.socket_path, "wait", job], self.marker)
        try:
            terminal.expect(r"\[.*\]").type("\x03")
            self.assertEqual(terminal.wait(), 130)
        finally:
            terminal.close()
        self.state_of(job, "working")
        self.run_nc("cancel", job)

    def test_several_and_the_exit_codes_of_call(self):
        good, bad, wrong = self.detach("echo", "message=good"), self.detach("fail", "message=bad"), self.detach("--raw", "no-such-tool")
        out, err = self.run_nc("wait", good, bad, wrong, code=1)
        self.assertIn(f"{good}:\ngood\n", out)
        self.assertIn(f"job {bad}: the tool reported a failure", err)
        self.assertIn(f"job {wrong}: ", err)
        endless = self.detach("slow", "steps:=100000", "delayMs:=50")
        self.assertEqual(self.run_nc("wait", "--any", endless, good), (f"{good}:\ngood\n", ""))
        self.run_nc("cancel", endless)
        self.server.fault({"closeBeforeAnswer": True}, method="tools/call")
        self.run_nc("wait", self.detach("echo", "message=x"), code=4)

    def test_a_question_is_answered_from_another_process(self):
        job = self.detach("ask", "question=Your name?")
        self.state_of(job, "input_required")
        err = self.run_nc("wait", job, code=75)[1]
        self.assertIn("Your name?", err)
        field = next(line.split(":")[0] for line in err.splitlines() if ": text" in line)
        self.assertEqual(self.run_nc("answer", job, field.split(" (")[-1].rstrip(")") + "=Ada"), ("", ""))
        self.assertIn("Ada", self.run_nc("wait", job)[0])
        self.assertIn("has ended; get its result with", self.run_nc("answer", job, "--cancel", code=1)[1])

    def test_at_a_terminal_the_wait_asks_and_shows_progress(self):
        job = self.detach("ask", "question=Your name?")
        terminal = Terminal([binary("MCP_NC"), "-s", self.daemon.socket_path, "wait", job], self.marker)
        try:
            terminal.expect("Your name\\?.*> ").type("\x04")
            self.assertEqual(terminal.wait(), 75)
        finally:
            terminal.close()
        self.state_of(job, "input_required")
        terminal = Terminal([binary("MCP_NC"), "-s", self.daemon.socket_path, "answer", job], self.marker)
        try:
            terminal.expect("Your name\\?.*> ").type("Ada\n")
            self.assertEqual(terminal.wait(), 0)
        finally:
            terminal.close()
        self.assertIn("Ada", self.run_nc("wait", job)[0])
        job = self.detach("slow", "steps:=100", "delayMs:=50")
        terminal = Terminal([binary("MCP_NC"), "-s", self.daemon.socket_path, "wait", job], self.marker, stdout_apart=True)
        try:
            terminal.expect(r"\[#+-+\]")
            self.run_nc("cancel", job)
            self.assertEqual(terminal.wait(), 1)
        finally:
            terminal.close()


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
