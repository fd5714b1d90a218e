"""SIGUSR2: another image of the program takes the place of the daemon in its process (BEHAVIOUR, "Upgrade in place")."""

import os
import shutil
import signal
import threading

from harness import Client, eventually, initialize, main, request, text_of
from harness.binaries import binary
from harness.gathering import data_of
from harness.jobs import Jobs
from harness.local_server import LocalServer
from harness.upgrading import Upgrading

REFUSED = "upgrade failed; continuing with the old version"


class Loop(threading.Thread):
    """A client in closed loop: what it was answered that is no result."""

    def __init__(self, path, number):
        super().__init__(daemon=True)
        self.client, self.number = Client(path), number
        self.ended, self.calls, self.wrong = False, 0, []

    def run(self):
        try:
            while not self.ended:
                said = f"{self.number}-{self.calls}"
                answer = self.client.call("echo", {"message": said}, id=self.calls)
                if "result" not in answer or text_of(answer) != said:
                    self.wrong.append(answer)
                self.calls += 1
        except (AssertionError, OSError) as error:
            self.wrong.append(repr(error))

    def stop(self):
        self.ended = True
        self.join()
        self.client.close()


class UnderLoad(Upgrading):
    def test_three_upgrades_under_eight_clients_cost_nobody_a_request(self):
        server, daemon = self.opened("--grace", "5s")
        clients = [Loop(daemon.socket_path, number) for number in range(8)]
        for client in clients:
            client.start()
        for _ in range(3):
            before = [client.calls for client in clients]
            self.upgrade()
            for client, calls in zip(clients, before):
                eventually(lambda: client.calls > calls + 2 or client.wrong, "calls after the upgrade")
        for client in clients:
            client.stop()
        self.assertEqual([client.wrong for client in clients], [[]] * 8)
        self.assertEqual(daemon.status()["pid"], daemon.pid)
        self.assertEqual(len(server.log("initialize")), 1)

    def test_it_ends_in_order_afterwards(self):
        server, daemon = self.opened()
        self.upgrade(2)
        self.assertEqual(daemon.terminate(), 0)
        self.assertFalse(os.path.exists(daemon.socket_path))
        self.assertFalse(os.path.exists(daemon.socket_path + ".lock"))
        self.assertEqual(len(server.log(http_method="DELETE")), 1)


class Kept(Upgrading):
    def test_a_half_sent_line_is_completed(self):
        self.opened()
        client = self.client()
        line = Client._line(request("tools/call", {"name": "echo", "arguments": {"message": "halved"}}, 7))
        client.send_raw(line[:20])
        self.default_daemon.status()
        self.upgrade()
        client.send_raw(line[20:])
        self.assertEqual(text_of(client.answer(7)), "halved")

    def test_what_was_not_written_is_written(self):
        _, daemon = self.opened()
        client = self.client()
        said = "x" * 3_000_000
        client.send(request("tools/call", {"name": "echo", "arguments": {"message": said}}, 1))
        daemon.status_when(lambda status: status["requests"]["inFlight"] == 0 and
                           any(one["queuedBytes"] > 1_000_000 for one in status["clients"]), "a queue")
        self.upgrade()
        self.assertEqual(text_of(client.answer(1)), said)

    def test_the_ring_goes_on(self):
        server, daemon = self.opened()
        reader = self.client()
        self.gather(server, "read")
        reader.line()
        self.untaken(0)
        reader.close()
        self.others(0)
        self.gather(server, "a", "b")
        before = daemon.status()
        self.upgrade(2)
        after = daemon.status()
        self.assertEqual(after["instance"], before["instance"])
        self.assertEqual(after["ring"], before["ring"])
        self.assertEqual(data_of(self.client().lines(2)), ["a", "b"])
        server.streams(1)
        self.gather(server, "c")

    def test_who_only_peeks_goes_on_so(self):
        server, _ = self.opened()
        client = self.client()
        client.send('{"jsonrpc":"2.0","method":"bridge/peek"}')
        client.request("bridge/status", id="s")
        self.upgrade()
        server.streams(1)
        self.gather(server, "a")
        self.untaken(1)
        self.assertEqual(client.fence(), [])

    def test_the_session_stays_and_is_spoken_in(self):
        server, daemon = self.opened()
        client = self.client()
        handshake = client.send(initialize(1)).answer(1)
        self.upgrade()
        self.assertEqual(client.send(initialize(2)).answer(2)["result"], handshake["result"])
        self.assert_still_serves(client)
        self.assertEqual(len(server.log("initialize")), 1)
        ids = {entry["headers"].get("mcp-session-id") for entry in server.log("tools/call")}
        self.assertEqual(len(ids), 1)
        self.assertNotEqual(ids, {None})
        self.assertEqual(daemon.status()["upstream"]["state"], "open")

    def test_what_takes_longer_than_the_grace_ends_unknown(self):
        server, _ = self.opened("--grace", "100ms")
        client = self.client()
        client.send(request("tools/call", {"name": "slow", "arguments": {"steps": 1000, "delayMs": 100}}, 1))
        self.in_flight(1)
        # What waits behind it is begun afterwards.
        self.upgrade()
        self.assert_error(client.answer(1), -32000, 1, "closed", "unknown")
        self.assertEqual(len(server.log("notifications/cancelled", wait=1)), 1)
        self.assert_still_serves(client)

    def test_nothing_secret_is_seen_from_outside(self):
        server = self.upstream()
        daemon = self.start_daemon(server, "--header", "X-Given: g1ven", environment={"MCP_SERVER_TOKEN": "t0p-s3cret"})
        client = self.client()
        self.assert_still_serves(client)
        self.upgrade(2)
        self.assert_still_serves(client)
        headers = server.log("tools/call")[-1]["headers"]
        self.assertEqual((headers["authorization"], headers["x-given"]), ("Bearer t0p-s3cret", "g1ven"))
        for file in ("environ", "cmdline"):
            with open(f"/proc/{daemon.pid}/{file}", "rb") as shown:
                data = shown.read()
            for secret in (b"t0p-s3cret", b"g1ven"):
                self.assertNotIn(secret, data)
        self.assertIn(b"--header\0X-Given:", data)


class OtherClients(Upgrading):
    def test_one_after_the_other_goes_on_so(self):
        self.opened("--max-clients", "1")
        first, second = self.client(), self.client()
        self.assert_still_serves(first)
        second.send(request("tools/call", {"name": "echo", "arguments": {"message": "waits"}}, 1))
        self.others(2)
        self.upgrade()
        self.assert_still_serves(first)
        self.assertFalse(second.readable())
        first.close()
        self.assertEqual(text_of(second.answer(1)), "waits")

    def test_who_comes_meanwhile_waits(self):
        self.opened("--grace", "20s")
        client = self.client()
        client.send(request("tools/call", {"name": "slow", "arguments": {"steps": 2, "delayMs": 300}}, 1))
        self.in_flight(1)
        self.default_daemon.signal(signal.SIGUSR2)
        self.default_daemon.logged("no others are started")
        self.assert_still_serves(self.client())
        self.assertEqual(text_of(client.answer(1)), "done after 2 steps")


class WithAState(Upgrading):
    def test_what_is_kept_in_a_folder_goes_on_too(self):
        server, daemon = self.opened("--state-dir", self.path("state"))
        client = self.client()
        self.gather(server, "a")
        client.line()
        self.untaken(0)
        before = daemon.status()
        self.upgrade(2)
        after = daemon.status()
        self.assertEqual((after["instance"], after["ring"]), (before["instance"], before["ring"]))
        self.assertTrue(after["state"]["durable"])
        server.streams(1)
        self.gather(server, "b")
        self.assertEqual(data_of([client.line()]), ["b"])
        self.untaken(0)
        daemon.crash()
        left = os.stat(daemon.socket_path).st_ino
        daemon = self.start_daemon(server, "--state-dir", self.path("state"), old_inode=left)
        self.assertEqual(daemon.status()["instance"], before["instance"])
        self.assertEqual(daemon.status()["ring"]["newest"], 2)
        self.assertEqual(len(server.log("initialize")), 1)


class Refused(Upgrading):
    def open_folder(self):
        os.mkdir(self.path("open"))
        os.chmod(self.path("open"), 0o777)
        return self.path("open")

    def links_to(self, program):
        return lambda path: os.symlink(program, path)

    def writable(self, path):
        shutil.copy(shutil.which("true"), path)
        os.chmod(path, 0o777)

    def in_an_open_folder(self, path):
        os.symlink(shutil.copy(shutil.which("true"), self.open_folder()), path)

    def by_a_link_in_an_open_folder(self, path):
        link = os.path.join(self.open_folder(), "link")
        os.symlink(shutil.copy(shutil.which("true"), self.path("true")), link)
        os.symlink(link, path)

    def script(self, path):
        with open(path, "w", encoding="ascii") as file:
            file.write("#!/bin/sh\nexit 0\n")
        os.chmod(path, 0o700)

    def test_what_is_not_a_program_that_takes_over_leaves_the_old_one(self):
        _, daemon = self.opened()
        client = self.client()
        for make, why in ((self.links_to(shutil.which("true")), "it has not shown that it read the state"),
                          (self.links_to(shutil.which("false")), "ended with exit code 1"),
                          (lambda path: os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600)), "Permission denied"),
                          (self.links_to(self.path("nowhere")), "No such file"), (self.script, "a script"),
                          (self.writable, "another user can write it"),
                          (self.in_an_open_folder, "another user can replace it, at "),
                          (self.by_a_link_in_an_open_folder, "another user can replace it, at " + self.path("open"))):
            with self.subTest(why):
                shutil.rmtree(self.path("open"), ignore_errors=True)
                self.put_in_its_place(make)
                failed = daemon.stderr().count(REFUSED)
                daemon.signal(signal.SIGUSR2)
                self.assertIn(why, daemon.logged(REFUSED, failed + 1).rpartition(REFUSED)[2])
                self.assert_still_serves(client)
        self.put_in_its_place(self.links_to(binary("MCP_BRIDGED")))
        self.upgrade()
        self.assert_still_serves(client)

    def test_options_that_have_changed_for_good(self):
        server = self.upstream()
        file = self.write("options", "ring = 10\n")
        daemon = self.start_daemon(server, "--options-file", file)
        self.write("options", "ring = 11\n")
        daemon.signal(signal.SIGUSR2)
        self.assertIn("--ring", daemon.logged(REFUSED))
        self.assert_still_serves(self.client())

    def test_a_state_that_nobody_has_handed_over(self):
        _, err = self.run_tool([binary("MCP_BRIDGED"), "--take-over", "0"], code=78)
        self.assertIn("there is no state", err)

    def test_a_second_signal_at_once(self):
        _, daemon = self.opened()
        client = self.client()
        for _ in range(3):
            daemon.signal(signal.SIGUSR2)
        daemon.logged("continues serving")
        self.assert_still_serves(client)
        self.assertEqual(daemon.status()["pid"], daemon.pid)

    def test_an_end_that_is_asked_for_meanwhile_comes_first(self):
        _, daemon = self.opened("--grace", "20s")
        client = self.client()
        client.send(request("tools/call", {"name": "slow", "arguments": {"steps": 3, "delayMs": 300}}, 1))
        self.in_flight(1)
        daemon.signal(signal.SIGUSR2)
        daemon.logged("no others are started")
        self.assertEqual(daemon.terminate(), 0)
        self.assertEqual(text_of(client.answer(1)), "done after 3 steps")


class Child(Upgrading, LocalServer):
    def test_its_process_goes_on_and_is_gone_when_the_daemon_is_killed(self):
        daemon = self.start_local()
        client = self.client()
        pid = self.tool("pid", client=client)
        self.upgrade(3)
        self.assertEqual(self.tool("pid", client=client), pid)
        self.assertEqual(daemon.status()["upstream"]["state"], "open")
        daemon.crash()
        self.assert_gone(int(pid))

    def test_one_that_ends_is_started_again(self):
        self.start_local()
        client = self.client()
        pid = self.tool("pid", client=client)
        self.upgrade()
        os.kill(int(pid), signal.SIGKILL)

        def another():
            answer = client.call("pid")  # one that the dead child was given is answered with an error
            return "result" in answer and text_of(answer) != pid

        eventually(another, "another child")


class DetachedCalls(Upgrading, Jobs):
    def test_ended_jobs_go_along_with_their_keys(self):
        self.opened()
        job = self.ended(key="once")
        listed = self.listed()
        forgotten = self.ended(key="forgotten")
        self.result_of("forget", {"job": forgotten})
        self.upgrade(2)
        self.assertEqual(text_of(self.collect(job)["response"]), "x")
        now = self.listed()
        for before, after in zip(listed, now):
            self.assertLessEqual(before.pop("ageMs"), after.pop("ageMs"))
        self.assertEqual(now, listed)
        self.assertEqual(self.submit("echo", {"message": "x"}, key="once")["job"], job)
        self.assertTrue(self.submit("echo", {"message": "x"}, key="forgotten")["forgotten"])
        # The numbers go on: a new one is not taken for an old one.
        self.assertNotIn(self.ended(), (job, forgotten))


if __name__ == "__main__":
    main()
