"""A state that outlives the daemon: what is there after kill -9 (BEHAVIOUR, "State")."""

import json
import os
import resource
import stat

from harness import call, eventually, main, request
from harness.eras import Eras
from harness.gathering import data_of, log_message
from harness.local_server import LocalServer
from harness.old_sse_server import OldSseServer
from harness.with_state import WithState


class Ring(WithState):
    def test_what_nobody_has_taken_is_delivered_after_a_crash_and_the_numbers_go_on(self):
        server, daemon = self.begin()
        self.gather(server, "a", "b")
        before = daemon.control("bridge/notifications")
        daemon.crash()
        daemon = self.start(server)
        after = daemon.control("bridge/notifications")
        self.assertEqual(after["instance"], before["instance"])
        self.assertEqual(after["notifications"], before["notifications"])
        self.assertFalse(daemon.control("bridge/notifications", {"since": 2, "instance": before["instance"]})["gap"])
        server.streams(1)
        self.gather(server, "c")
        self.assertEqual(daemon.status()["ring"]["newest"], 3)
        self.assertEqual(data_of(self.client().lines(3)), ["a", "b", "c"])

    def test_what_a_client_has_read_is_not_delivered_again(self):
        server, daemon = self.begin()
        client = self.client()
        self.gather(server, "a", "b")
        self.assertEqual(data_of(client.lines(2)), ["a", "b"])
        self.untaken(0)
        self.gather(server, "c")
        self.assertEqual(data_of(client.lines(1)), ["c"])
        self.untaken(0)
        daemon.crash()
        daemon = self.start(server)
        self.assertEqual((self.ring()["entries"], self.ring()["untaken"]), (3, 0))
        self.assertEqual([m for m in self.client().fence()], [])

    def test_a_client_is_told_of_nothing_that_is_not_written(self):
        server, daemon = self.begin()
        for round_number in range(5):
            client = self.client()
            server.emit(log_message(f"{round_number}"))
            # What was read just before a crash may come again.
            while data_of([client.line()]) != [f"{round_number}"]:
                pass
            daemon.crash()
            daemon = self.start(server)
            kept = daemon.control("bridge/notifications", {"limit": 1000})["notifications"]
            self.assertEqual(data_of([kept[-1]["message"]]), [f"{round_number}"])
            server.streams(1)

    def test_a_smaller_ring_takes_over_what_it_has_room_for(self):
        server, daemon = self.begin()
        self.gather(server, *"abcde")
        daemon.crash()
        self.start(server, "--ring", "2")
        ring = self.ring()
        self.assertEqual((ring["dropped"], ring["entries"], ring["oldest"]), (3, 2, 4))

    def test_the_log_is_bounded_by_what_is_kept(self):
        server, daemon = self.begin("--ring", "10")
        for _ in range(6):
            self.gather(server, *["x" * 60_000 for _ in range(20)])
        eventually(lambda: os.path.getsize(self.log_file()) <= 3 * 620_000 + (1 << 20), "a log that was written anew")
        self.assertGreater(daemon.metrics().sum("mcp_bridge_state_rewrites_total"), 1)
        daemon.crash()
        daemon = self.start(server, "--ring", "10")
        ring = self.ring()
        self.assertEqual((ring["newest"], ring["entries"], ring["dropped"]), (120, 10, 110))


class Session(WithState):
    def test_it_is_taken_up_after_a_crash_and_the_stream_is_resumed(self):
        server, daemon = self.begin(upstream=("--event-ids",))
        self.gather(server, "before")
        session = self.posted(server, "notifications/initialized")[0]["headers"]["mcp-session-id"]
        daemon.crash()
        server.state(streams=0)
        server.control("POST", "emit", '{"message":%s}' % log_message("meanwhile"), allowed=(200, 409))
        server.forget_log()
        daemon = self.start(server)
        self.newest(2)
        self.assertEqual(data_of(self.client().lines(2)), ["before", "meanwhile"])
        self.assertEqual(self.posted(server, "initialize"), [])
        self.assertEqual(self.posted(server, "ping")[0]["headers"]["mcp-session-id"], session)
        self.assertTrue(server.log(http_method="GET")[0]["headers"]["last-event-id"])
        client = self.client()
        client.send(call("echo", {"message": "on"}, 1))
        client.answer(1)
        self.assertEqual(self.posted(server, "tools/call")[0]["headers"]["mcp-session-id"], session)
        self.assertEqual(daemon.status()["upstream"]["reopened"], 0)

    def test_no_id_is_used_twice(self):
        server, daemon = self.begin()
        client = self.client()
        client.send(call("echo", {"message": "1"}, 1))
        client.answer(1)
        daemon.crash()
        self.start(server)
        client = self.client()
        client.send(call("echo", {"message": "2"}, 1))
        client.answer(1)
        ids = [json.loads(entry["body"])["id"] for entry in server.log() if entry["httpMethod"] == "POST"
               and "id" in json.loads(entry["body"])]
        self.assertEqual(len(ids), len(set(ids)), ids)

    def test_one_that_the_server_has_lost_is_opened_again_and_restored(self):
        server, daemon = self.begin()
        client = self.client()
        client.send(request("resources/subscribe", {"uri": "demo://ticker"}, 1),
                    request("logging/setLevel", {"level": "warning"}, 2))
        client.answer(1)
        client.answer(2)
        daemon.crash()
        server.control("POST", "sessions/drop", "{}")
        server.forget_log()
        daemon = self.start(server)
        daemon.status_when(lambda status: status["upstream"]["state"] == "open", "another session")
        self.assertEqual(len(self.posted(server, "initialize")), 1)
        self.assertEqual([json.loads(e["body"])["params"] for e in self.posted(server, "resources/subscribe")],
                         [{"uri": "demo://ticker"}])
        self.assertEqual([json.loads(e["body"])["params"] for e in self.posted(server, "logging/setLevel")],
                         [{"level": "warning"}])
        self.assertEqual(daemon.status()["upstream"]["reopened"], 1)

    def test_clients_get_the_kept_handshake_while_the_server_is_away(self):
        server, daemon = self.begin()
        kept = daemon.status()["upstream"]["serverInfo"]
        daemon.crash()
        server.stop()
        daemon = self.start(server)
        client = self.client()
        client.send(request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {},
                                           "clientInfo": {"name": "t", "version": "1"}}, 1))
        self.assertEqual(client.answer(1)["result"]["serverInfo"], kept)

    def test_what_clients_had_in_flight_is_cancelled(self):
        server, daemon = self.begin(upstream=("--event-ids",))
        client = self.client()
        client.send(call("slow", {"steps": 1000, "delayMs": 100}, 1))
        entry = server.log("tools/call", wait=1)[0]
        self.in_flight(1)
        daemon.crash()
        self.start(server)
        cancelled = json.loads(server.log("notifications/cancelled", wait=1)[0]["body"])
        self.assertEqual(cancelled["params"]["requestId"], json.loads(entry["body"])["id"])

    def test_at_an_orderly_end_it_is_left_open(self):
        server, daemon = self.begin()
        self.gather(server, "a")
        daemon.stop()
        self.assertEqual(server.log(http_method="DELETE"), [])
        self.assertIn("kept in", daemon.stderr())
        daemon = self.start(server)
        daemon.status_when(lambda status: status["upstream"]["state"] == "open", "the session")
        self.assertEqual(len(self.posted(server, "initialize")), 1)
        self.assertEqual(data_of(self.client().lines(1)), ["a"])
        self.assertEqual(self.posted(server, "notifications/cancelled"), [])

    def test_at_end_end_it_is_ended_and_opened_again(self):
        server, daemon = self.begin("--at-end", "end")
        daemon.stop()
        self.assertEqual(len(server.log(http_method="DELETE")), 1)
        server.forget_log()
        daemon = self.start(server)
        daemon.status_when(lambda status: status["upstream"]["state"] == "open", "another session")
        self.assertEqual(self.posted(server, "ping"), [])
        self.assertEqual(len(self.posted(server, "initialize")), 1)


class OtherServers(WithState, Eras, LocalServer):
    """Whose sessions end with the connection, or that have none: another one is opened at once."""

    def opens_another(self, start):
        daemon = start()
        client = self.client()
        client.call("echo", {"message": "opens the session"})
        client.send(request("logging/setLevel", {"level": "warning"}, 2))
        client.answer(2)
        daemon.crash()
        daemon = start()
        daemon.status_when(lambda status: status["upstream"]["state"] == "open", "another session")
        self.assertEqual(daemon.status()["upstream"]["reopened"], 1)
        self.client().call("echo", {"message": "goes on"})

    def started_with(self, upstream, *words):
        self.started += 1
        return self.start_daemon(upstream, "--state-dir", self.folder_of_state, *words, socket=f"s{self.started}")

    def test_a_local_server(self):
        self.opens_another(lambda: self.started_with(None, "--", *self.wayward()))

    def test_a_server_of_the_older_transport(self):
        server = OldSseServer()
        self.addCleanup(server.stop)
        self.opens_another(lambda: self.started_with(server.url))

    def test_a_modern_server(self):
        server = self.server("modern")
        daemon = self.started_with(server)
        self.client().fence()
        daemon.crash()
        daemon = self.started_with(server)
        daemon.status_when(lambda status: status["upstream"]["state"] == "open", "the probe's answer")
        self.assertEqual(daemon.status()["upstream"]["era"], "modern")
        self.client().fence()


class Folder(WithState):
    def test_it_and_its_files_are_the_daemons_alone(self):
        self.begin()
        self.assertEqual(stat.S_IMODE(os.stat(self.folder_of_state).st_mode), 0o700)
        self.assertEqual(self.files(), ["lock", "state"])
        for name in self.files():
            self.assertEqual(stat.S_IMODE(os.stat(os.path.join(self.folder_of_state, name)).st_mode), 0o600)

    def test_the_address_of_the_server_is_not_in_it(self):
        server, daemon = self.begin()
        daemon.crash()
        with open(self.log_file(), "rb") as file:
            self.assertNotIn(str(server.port).encode(), file.read())

    def test_one_that_others_can_write_or_that_is_none_is_refused(self):
        server = self.upstream()
        os.mkdir(self.folder_of_state)
        os.chmod(self.folder_of_state, 0o770)
        self.assertIn("other users can write to it", self.start(server, ready=False).fails(73))
        os.rmdir(self.folder_of_state)
        os.mkdir(self.path("real"), 0o700)
        os.symlink(self.path("real"), self.folder_of_state)
        self.assertIn("symbolic link", self.start(server, ready=False).fails(73))
        os.remove(self.folder_of_state)
        self.folder_of_state = self.path("no/such/state")
        self.assertIn("cannot be created", self.start(server, ready=False).fails(73))

    def let_no_file_grow(self, daemon):
        """Beyond what its log is: as on a full disk. Returns the limit that was."""
        before = resource.prlimit(daemon.popen.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(daemon.popen.pid, resource.RLIMIT_FSIZE, (64 << 10, before[1]))
        return before

    def aside(self, kind):
        return [name for name in self.files() if name.startswith(f"state.{kind}-")]

    def test_a_damaged_state_is_moved_aside(self):
        server, daemon = self.begin()
        self.gather(server, "a", "b", "c")
        instance = daemon.status()["instance"]
        daemon.crash()
        with open(self.log_file(), "r+b") as file:
            whole = file.read()
            file.seek(whole.index(b'"a"'))
            file.write(b'"X"')
        daemon = self.start(server)
        self.assertEqual(self.ring()["entries"], 0)
        self.assertNotEqual(daemon.status()["instance"], instance)
        self.assertEqual(len(self.aside("damaged")), 1)
        self.assertEqual(daemon.stderr().count("it is damaged"), 1)
        self.assertTrue(daemon.status()["state"]["durable"])

    def test_a_torn_end_is_cut_off(self):
        server, daemon = self.begin()
        self.gather(server, "a", "b")
        daemon.crash()
        with open(self.log_file(), "ab") as file:
            file.write(b"\0" * 100 + b"torn")
        daemon = self.start(server)
        self.assertEqual(self.ring()["entries"], 2)
        self.assertEqual(self.files(), ["lock", "state"])
        server.streams(1)
        self.gather(server, "c")
        daemon.crash()
        self.start(server)
        self.assertEqual(data_of(self.client().lines(3)), ["a", "b", "c"])

    def test_a_file_that_may_not_grow_costs_a_line_and_is_written_again_when_it_may(self):
        server, daemon = self.begin()
        self.gather(server, "a" * 100_000)
        limit = self.let_no_file_grow(daemon)
        self.gather(server, "b")
        daemon.status_when(lambda status: not status["state"]["durable"], "a state that is not written")
        self.assertEqual(self.files(), ["lock", "state.stale"])
        self.assertEqual(daemon.metrics().sum("mcp_bridge_state_durable"), 0)
        self.assertEqual(daemon.stderr().count("state not saved"), 1)
        self.gather(server, "c")
        resource.prlimit(daemon.popen.pid, resource.RLIMIT_FSIZE, limit)
        eventually(lambda: daemon.status()["state"]["durable"], "a state that is written again", 30)
        self.assertEqual(self.files(), ["lock", "state"])
        daemon.crash()
        self.start(server)
        self.assertEqual(data_of(self.client().lines(3)), ["a" * 100_000, "b", "c"])

    def test_what_a_state_kept_before_it_could_not_be_written_is_told_but_is_no_sequel(self):
        server, daemon = self.begin()
        self.gather(server, "a" * 100_000)
        instance = daemon.status()["instance"]
        self.let_no_file_grow(daemon)
        self.gather(server, "b")
        daemon.crash()
        server.forget_log()
        daemon = self.start(server)
        self.assertNotEqual(daemon.status()["instance"], instance)
        self.assertEqual(data_of(self.client().lines(1)), ["a" * 100_000])
        self.assertEqual(self.posted(server, "ping"), [])
        self.assertEqual(self.files(), ["lock", "state"])

    def test_power_writes_the_same(self):
        server, daemon = self.begin("--sync", "power")
        self.gather(server, "a")
        daemon.crash()
        self.start(server, "--sync", "power")
        self.assertEqual(data_of(self.client().lines(1)), ["a"])


if __name__ == "__main__":
    main()
