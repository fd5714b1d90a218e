"""Jobs that outlive the daemon: what becomes of them after kill -9 (BEHAVIOUR, "State")."""

import contextlib
import json
import os
import subprocess
import unittest

from harness import call, eventually, main, text_of
from harness.eras import Eras
from harness.jobs import Jobs
from harness.modern_client import ANSWERS
from harness.upgrading import Upgrading
from harness.with_state import WithState

FOREVER = {"steps": 100000, "delayMs": 50}


class DurableJobs(WithState, Jobs):
    def again(self, server, daemon, *options):
        """Another daemon after a crash of this one."""
        daemon.crash()
        return self.start(server, *options)

    def calls(self, server):
        return [json.loads(entry["body"])["params"] for entry in self.posted(server, "tools/call")]

    def failed_unknown(self, job):
        ended = self.collect(job)
        self.assertEqual(ended["state"], "failed")
        error = ended["response"]["error"]["data"]
        self.assertEqual((error["kind"], error["delivered"]), ("closed", "unknown"))


class Ended(DurableJobs):
    def test_they_can_be_collected_after_a_crash_byte_for_byte(self):
        server, daemon = self.begin()
        submitted = self.submit("echo", {"message": "hello"}, key="k")
        self.assertIs(submitted["durable"], True)
        job = submitted["job"]
        before = self.collect(job)
        failed = self.job("no such tool")
        self.collect(failed)
        listed = self.listed()
        self.again(server, daemon)
        after = self.collect(job)
        self.assertEqual(after["response"], before["response"])
        self.assertEqual(self.collect(failed)["state"], "failed")
        no_age = lambda jobs: [{**one, "ageMs": 0} for one in jobs]
        self.assertEqual(no_age(self.listed()), no_age(listed))
        self.assertEqual(self.submit("echo", {"message": "hello"}, key="k")["job"], job)
        self.assertEqual(len(self.calls(server)), 2)


class NotEnded(DurableJobs):
    """BEHAVIOUR, "State: jobs after a restart"."""

    def test_one_that_was_never_started_is_started(self):
        server, daemon = self.begin("--client-inflight", "1")
        first = self.job("slow", FOREVER)
        waiting = self.job("echo", {"message": "later"}, key="k")
        server.log("tools/call", wait=1)
        self.again(server, daemon)
        self.assertEqual(text_of(self.collect(waiting)["response"]), "later")
        self.failed_unknown(first)
        self.assertEqual([one["name"] for one in self.calls(server)], ["slow", "echo"])

    def test_one_that_may_have_acted_fails_unknown_and_is_never_sent_again(self):
        server, daemon = self.begin()
        job = self.job("slow", FOREVER, key="k")
        server.log("tools/call", wait=1)
        daemon = self.again(server, daemon)
        self.failed_unknown(job)
        self.assertEqual(self.submit("slow", FOREVER, key="k")["job"], job)
        self.again(server, daemon)
        self.failed_unknown(job)
        self.assertEqual(len(self.calls(server)), 1)


class Resumed(DurableJobs):
    def setUp(self):
        super().setUp()
        self.server, self.daemon = self.begin(upstream=("--event-ids",))

    def test_an_answer_is_fetched_from_its_stream(self):
        job = self.job("slow", {"steps": 20, "delayMs": 100})
        eventually(lambda: "progress" in self.collect(job, wait=0), "the first progress")
        self.again(self.server, self.daemon)
        ended = self.collect(job)
        self.assertEqual(text_of(ended["response"]), "done after 20 steps")
        self.assertEqual(len(self.calls(self.server)), 1)
        self.assertEqual(self.posted(self.server, "notifications/cancelled"), [])

    def test_through_crashes_and_upgrades(self):
        job = self.job("slow", {"steps": 60, "delayMs": 100})
        for _ in range(2):
            eventually(lambda: "progress" in self.collect(job, wait=0), "the first progress")
            self.daemon = self.again(self.server, self.daemon)
            self.daemon.upgrade()
        self.assertEqual(text_of(self.collect(job)["response"]), "done after 60 steps")
        self.assertEqual(len(self.calls(self.server)), 1)

    def test_a_question_that_was_open_is_asked_again_and_answered(self):
        job = self.job("ask", {"question": "which?"})
        self.state_is(job, "input_required")
        self.again(self.server, self.daemon)
        self.state_is(job, "input_required")
        self.assertEqual(self.collect(job)["question"]["params"]["message"], "which?")
        self.result_of("answer", {"job": job, "result": {"action": "decline"}})
        self.assertEqual(json.loads(text_of(self.collect(job)["response"])), {"action": "decline"})


class Orphans(DurableJobs):
    """--orphans keep: what connected clients had in flight are jobs after the crash."""

    def begun(self, *upstream):
        server, daemon = self.begin("--orphans", "keep", upstream=upstream)
        client = self.client()
        client.send(call("echo", {"message": "answered"}, 1))
        client.answer(1)
        client.send(call("slow", {"steps": 20, "delayMs": 100}, 2, token="t"))
        client.line()
        return server, self.again(server, daemon, "--orphans", "keep")

    def test_their_answers_are_fetched_where_streams_are_resumed(self):
        server, _ = self.begun("--event-ids")
        job, = self.listed()
        self.assertEqual((job["method"], job["pid"]), ("tools/call", os.getpid()))
        self.assertEqual(text_of(self.collect(job["job"])["response"]), "done after 20 steps")
        self.assertEqual(self.posted(server, "notifications/cancelled"), [])

    def test_else_they_have_failed_unknown_also_in_the_next_life(self):
        server, daemon = self.begun()
        job, = self.listed()
        self.failed_unknown(job["job"])
        server.log("notifications/cancelled", wait=1)
        self.again(server, daemon, "--orphans", "keep")
        self.failed_unknown(job["job"])


class AtAModernServer(DurableJobs, Eras):
    def test_what_was_asked_in_a_result_is_answered_after_a_crash(self):
        server = self.server("modern")
        daemon = self.start(server, "--client-capabilities", '{"elicitation":{}}')
        job = self.job("ask", {"kinds": ["elicitation", "url"]})
        self.state_is(job, "input_required")
        kinds = []
        while (found := self.collect(job))["state"] == "input_required":
            kind = found["question"]["params"].get("mode", "form").replace("form", "elicitation")
            kinds.append(kind)
            daemon = self.again(server, daemon)
            self.state_is(job, "input_required")
            self.result_of("answer", {"job": job, "result": ANSWERS[kind]})
        self.assertEqual((found["state"], sorted(kinds)), ("completed", ["elicitation", "url"]))
        self.assertEqual(json.loads(text_of(found["response"])),
                         {"answers": [{kind: ANSWERS[kind] for kind in ("elicitation", "url")}]})


class AfterAKilledDaemon(DurableJobs):
    def test_the_next_one_says_so_and_what_became_of_the_jobs(self):
        server, daemon = self.begin("--client-inflight", "2")
        for _ in range(2):
            self.submit("slow", FOREVER)
        waits_for_a_slot = self.submit("echo", {"message": "x"})["job"]
        server.log("tools/call", wait=2)
        daemon = self.again(server, daemon)
        said = daemon.logged("the previous daemon ended without shutting down (killed, out of memory, or a crash); ")
        self.assertIn("of 3 jobs under way 1 continue and 2 have failed (delivered: unknown)\n", said)
        self.collect(waits_for_a_slot)
        daemon = self.again(server, daemon)
        daemon.logged("is restored; no job was under way\n")

    def test_of_one_that_was_told_to_end_nothing_is_said(self):
        server, daemon = self.begin()
        self.ended()
        for _ in range(2):
            daemon.stop()
            daemon = self.start(server)
            self.ended()
            self.assertNotIn("previous daemon", daemon.stderr())

    def test_without_a_state_the_socket_that_was_left_tells_it(self):
        server = self.upstream()
        self.start_daemon(server).crash()
        daemon = self.start_daemon(server, old_inode=os.stat(self.path("s")).st_ino)
        daemon.logged(" ended without shutting down (killed, out of memory, or a crash); its jobs and notifications are lost")
        daemon.stop()
        self.assertNotIn("previous daemon", self.start_daemon(server).stderr())


class WaitedForThroughARestart(DurableJobs):
    def start(self, server, *options, ready=True):
        return self.start_daemon(server, "--state-dir", self.folder_of_state, *options, ready=ready)

    def waiting(self, *arguments):
        """`mcp-nc wait` whose daemon has heard of it, and is gone then."""
        waiting = self.nc("wait", *arguments)
        self.default_daemon.status_when(lambda status: any(client["command"] == "mcp-nc" for client in status["clients"]), "mcp-nc")
        self.default_daemon.crash()
        eventually(lambda: "waiting until it runs again" in waiting.stderr(), "it notices")
        return waiting

    def test_the_result_is_printed_by_the_next_daemon(self):
        server, _ = self.begin("--client-inflight", "1")
        first = self.submit("slow", FOREVER)["job"]
        waits_for_a_slot = self.submit("echo", {"message": "after the restart"})["job"]
        server.log("tools/call", wait=1)
        waiting = self.waiting(waits_for_a_slot)
        self.start(server)
        self.assertEqual((waiting.wait(), waiting.stdout()), (0, b"after the restart\n"), waiting.stderr())
        self.failed_unknown(first)

    def test_without_a_state_the_next_daemon_says_that_it_does_not_know_the_job(self):
        server = self.upstream()
        self.start_daemon(server)
        waiting = self.waiting(self.submit("slow", FOREVER)["job"])
        self.start_daemon(server)
        self.assertEqual((waiting.wait(), waiting.stdout()), (1, b""))
        self.assertIn("no job ", waiting.stderr())


@unittest.skipUnless(os.geteuid() == 0, "mounts a small disk: only root may")
class FullDisk(DurableJobs, Upgrading):
    """What was durable outlives a disk that is full, for as long as it is, and daemons that come and go meanwhile
    (BEHAVIOUR, "State: when it cannot be written")."""

    def setUp(self):
        super().setUp()
        disk = self.path("disk")
        os.mkdir(disk)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k,mode=0700", "none", disk], check=True)
        self.addCleanup(subprocess.run, ["umount", "-l", disk], check=True)
        self.folder_of_state = os.path.join(disk, "state")
        self.filler = os.path.join(disk, "filler")

    def fill(self):
        with open(self.filler, "ab", buffering=0) as file, contextlib.suppress(OSError):
            while True:
                file.write(b"x" * 512)

    def overflow(self, server, *data):
        """A full disk, and more for it; the state that the daemon tells then."""
        self.fill()
        self.gather(server, "x" * 8000, *data)
        return self.default_daemon.status_when(lambda status: not status["state"]["durable"], "a state that is not saved")["state"]

    def test_nothing_that_was_durable_is_lost(self):
        server, daemon = self.begin()
        done = self.submit("echo", {"message": "done"}, key="step-1")
        self.assertIs(done["durable"], True)
        self.assertEqual(self.collect(done["job"])["state"], "completed")
        self.gather(server, "kept")
        self.assertEqual(self.overflow(server)["error"], "No space left on device")
        self.assertEqual(self.files(), ["grants.key", "lock", "state.stale"])
        self.assertEqual(daemon.metrics().sum("mcp_bridge_state_durable"), 0)
        daemon.logged("state not saved: No space left on device")
        self.assertIn("not saved: No space left on device", self.run_nc("status")[0])
        self.assertEqual(self.run_nc("status", "--ready")[0], "ready: open\n")
        self.assertIn("the job is not saved: No space left on device", self.run_nc("call", "--detach", "echo", "message=y")[1])
        # Two daemons that can write nothing either, then one that can.
        for room in (False, False, True):
            with self.subTest(room=room):
                daemon.crash()
                if room:
                    os.remove(self.filler)
                daemon = self.start(server)
                self.assertIs(daemon.status()["state"]["durable"], room)
                again = self.submit("echo", {"message": "done"}, key="step-1")
                self.assertEqual((again["job"], again["state"]), (done["job"], "completed"))
                self.assertEqual(text_of(self.collect(done["job"])["response"]), "done")
                kept = daemon.control("bridge/notifications")["notifications"]
                self.assertIn("kept", [entry["message"]["params"]["data"] for entry in kept])
        self.assertEqual(self.files(), ["grants.key", "lock", "state"])
        self.assertEqual(sum("done" in json.dumps(call) for call in self.calls(server)), 1)

    def test_an_upgrade_meanwhile_loses_nothing_that_came_since(self):
        server, daemon = self.begin()
        self.gather(server, "before")
        self.overflow(server, "since")
        done = self.submit("echo", {"message": "done"}, key="step-1")["job"]
        self.collect(done)
        instance = daemon.status()["instance"]
        self.upgrade()
        self.gather(server, "after")
        kept = [entry["message"]["params"]["data"][:10] for entry in daemon.control("bridge/notifications")["notifications"]]
        self.assertEqual(kept, ["before", "x" * 10, "since", "after"])
        self.assertEqual(self.submit("echo", {"message": "done"}, key="step-1")["job"], done)
        self.assertEqual(daemon.status()["instance"], instance)
        os.remove(self.filler)
        daemon.status_when(lambda status: status["state"]["durable"], "a state that is saved again")
        daemon.crash()
        self.assertEqual(self.start(server).status()["instance"], instance)

    def test_an_upgrade_that_finds_room_saves_the_jobs_that_had_not_begun(self):
        options = ("--client-inflight", "1", "--grace", "300ms")
        server, daemon = self.begin(*options)
        self.submit("slow", FOREVER)
        server.log("tools/call", wait=1)
        self.overflow(server)
        waiting = self.submit("echo", {"message": "waiting"}, key="step-2")["job"]
        os.remove(self.filler)
        self.upgrade()
        self.assertEqual(self.collect(waiting)["state"], "completed")
        daemon.crash()
        self.start(server, *options)
        again = self.submit("echo", {"message": "waiting"}, key="step-2")
        self.assertEqual((again["job"], again["state"]), (waiting, "completed"))

    def test_a_daemon_that_ended_in_order_was_not_killed(self):
        server, daemon = self.begin()
        job = self.submit("slow", FOREVER)["job"]
        server.log("tools/call", wait=1)
        self.overflow(server)
        daemon.stop()
        daemon = self.start(server)
        self.failed_unknown(job)
        self.assertNotIn("previous daemon ended without", daemon.stderr())
        daemon.logged("of a daemon that could no longer save")


class StateThatIsNotGoneOnWith(DurableJobs):
    def test_of_a_stale_one_nothing_is_started_and_what_had_not_ended_has_failed(self):
        server, daemon = self.begin("--client-inflight", "1")
        self.job("slow", FOREVER)
        waiting = self.job("echo", {"message": "later"})
        done = self.collect(waiting, wait=0)
        self.assertEqual(done["state"], "working")
        server.log("tools/call", wait=1)
        daemon.crash()
        os.rename(self.log_file(), self.log_file() + ".stale")
        self.start(server)
        self.failed_unknown(waiting)
        self.assertEqual(len(self.calls(server)), 1)
        self.assertIs(self.submit("echo", {"message": "new"})["durable"], True)


if __name__ == "__main__":
    main()
