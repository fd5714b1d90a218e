"""A state that outlives the daemon: what is there after kill -9 (BEHAVIOUR, "State")."""

import json
import os
import resource
import stat

from harness import call, eventually, main, request
from harness.eras import Eras
from harness.gathering import data_of, log_message
from harness.local_server import LocalServer
from harness.with_state import WithState


class Ring(WithState):
    """BEHAVIOUR, "State: what is kept"."""

    def test_what_nobody_has_taken_is_delivered_after_a_crash_and_the_numbers_go_on(self):
        server, daemon = self.begin("--sync", "power")
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
        self.assertEqual(data_of(self.client().lines(3)), ["a", "b", "c"])

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

    def test_a_take_is_written_before_it_is_answered(self):
        server, daemon = self.begin()
        for number in range(1, 4):
            self.gather(server, f"{number}")
            instance = daemon.control("bridge/notifications")["instance"]
            taken = daemon.control("bridge/take", {"instance": instance, "seqs": [number]})
            self.assertEqual(taken, {"taken": [number], "unknown": []})
            daemon.crash()
            daemon = self.start(server)
            self.assertEqual(daemon.control("bridge/notifications", {"untaken": True})["notifications"], [])
            server.streams(1)

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


class Session(WithState):
    """BEHAVIOUR, "State: at the start", "State: at the end"."""

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
        ids = [entry["id"] for entry in server.log() if entry["httpMethod"] == "POST" and entry["id"]]
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
    def test_one_whose_session_ends_with_the_connection_is_opened_again(self):
        words = ("--", *self.wayward())
        daemon = self.start(None, *words)
        self.client().fence()
        daemon.crash()
        daemon = self.start(None, *words)
        daemon.status_when(lambda status: status["upstream"]["state"] == "open", "another session")
        self.assertEqual(daemon.status()["upstream"]["reopened"], 1)
        self.client().fence()

    def test_a_modern_server_is_remembered_as_one(self):
        server = self.server("modern")
        daemon = self.start(server)
        self.client().fence()
        daemon.crash()
        daemon = self.start(server)
        daemon.status_when(lambda status: status["upstream"]["state"] == "open", "the probe's answer")
        self.assertEqual(daemon.status()["upstream"]["era"], "modern")
        self.client().fence()


class Folder(WithState):
    def test_it_and_its_files_are_the_daemons_alone(self):
        server, daemon = self.begin("--token-file", self.write("t", "secret-token"), upstream=("--token", "secret-token"))
        self.assertEqual(stat.S_IMODE(os.stat(self.folder_of_state).st_mode), 0o700)
        self.assertEqual(self.files(), ["grants.key", "lock", "state"])
        for name in self.files():
            self.assertEqual(stat.S_IMODE(os.stat(os.path.join(self.folder_of_state, name)).st_mode), 0o600)
        daemon.crash()
        with open(self.log_file(), "rb") as file:
            content = file.read()
        self.assertNotIn(str(server.port).encode(), content)
        self.assertNotIn(b"secret-token", content)

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
        self.assertEqual(len([name for name in self.files() if name.startswith("state.damaged-")]), 1)
        self.assertEqual(daemon.stderr().count("it is damaged"), 1)
        self.assertTrue(daemon.status()["state"]["durable"])

    def test_a_file_that_may_not_grow_costs_a_line_and_is_written_again_when_it_may(self):
        server, daemon = self.begin()
        self.gather(server, "a" * 100_000)
        limit = resource.prlimit(daemon.popen.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(daemon.popen.pid, resource.RLIMIT_FSIZE, (64 << 10, limit[1]))
        self.gather(server, "b")
        daemon.status_when(lambda status: not status["state"]["durable"], "a state that is not written")
        self.assertEqual(self.files(), ["grants.key", "lock", "state.stale"])
        self.assertEqual(daemon.metrics().sum("mcp_bridge_state_durable"), 0)
        self.assertEqual(daemon.stderr().count("state not saved"), 1)
        self.gather(server, "c")
        resource.prlimit(daemon.popen.pid, resource.RLIMIT_FSIZE, limit)
        eventually(lambda: daemon.status()["state"]["durable"], "a state that is written again", 30)
        self.assertEqual(self.files(), ["grants.key", "lock", "state"])
        daemon.crash()
        self.start(server)
        self.assertEqual(data_of(self.client().lines(3)), ["a" * 100_000, "b", "c"])


if __name__ == "__main__":
    main()
