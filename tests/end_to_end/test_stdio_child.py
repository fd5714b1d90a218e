"""A local server behind the daemon: what passes between them, how it is started and how it is ended (BEHAVIOUR,
"Local server")."""

import contextlib
import json
import os
import signal

from harness import call, eventually, main, notification, request, text_of
from harness.local_server import LocalServer, runs


class Messages(LocalServer):
    def test_calls_go_there_and_back_byte_for_byte_but_for_the_ids(self):
        self.start_local()
        client = self.client()
        client.fence()
        sent = '{"jsonrpc":"2.0" , "id":%s,"method":"tools/call","params":{"name":"seen","n":[1e400,0.10,"h\\u00e9"],"n":1,"arguments":{}}}'
        client.send(sent % '"a\\u0062"')
        answer = json.loads(client.raw_line())
        self.assertEqual(answer["id"], "ab")
        seen = text_of(answer)
        number = seen.split('"id":')[1].split(",")[0]
        self.assertEqual(seen, sent % number + "\n")
        result = '{"result":{"x":[1e400,0.10,"\\u00e9"],"x":{}}  ,"extra":null,"jsonrpc":"2.0","id":%s}'
        client.send(call("raw", {"text": result % "$ID"}, "b"))
        self.assertEqual(client.raw_line().decode(), result % '"b"')

    def test_a_frame_of_several_megabytes_passes_both_ways(self):
        self.start_local()
        message = "x" * 3_000_000
        self.assertEqual(self.tool("echo", {"message": message}), message)
        self.assertEqual(len(self.tool("big", {"bytes": 7_000_000})), 7_000_000)

    def test_progress_goes_to_the_one_who_asked_and_everything_else_to_everybody(self):
        self.start_local()
        asking, other = self.client(), self.client()
        other.fence()
        asking.send(call("progress", {"steps": 2}, 5, token="t"))
        asking.answer(5)
        self.assertEqual([message["params"]["progressToken"] for message in asking.others], ["t", "t"])
        updated = {"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": "x:y"}}
        asking.call("emit", {"message": updated}, 6)
        self.assertEqual(other.line(), updated)
        self.assertEqual(other.fence(), [])

    def test_a_request_of_the_server_is_answered_by_a_client(self):
        self.start_local(options=["--client-capabilities", '{"roots":{}}'])
        client = self.client()
        client.send(notification("bridge/answers", {"methods": ["roots/list"]}))
        client.send(call("emit", {"message": {"jsonrpc": "2.0", "id": 0, "method": "roots/list"}}))
        asked = client.line()
        self.assertEqual(asked["method"], "roots/list")
        client.answer(1)
        client.send({"jsonrpc": "2.0", "id": asked["id"], "result": {"roots": []}})
        client.fence()

    def test_what_is_no_message_on_its_stdout_is_logged_and_skipped(self):
        daemon = self.start_local("--banner")
        client = self.client()
        self.assertEqual(self.tool("garbage", {"text": "G" * 500}, client), "printed")
        like_a_message = '{"jsonrpc":"2.0", broken here ' + "H" * 500
        self.assertEqual(self.tool("garbage", {"text": like_a_message}, client), "printed")
        log = daemon.stderr()
        self.assertIn("Welcome to the wayward server \\u001b[31mv1", log)
        self.assertIn("G" * 200, log)
        self.assertNotIn("G" * 201, log)
        self.assertIn("what is no message: " + like_a_message[:200] + "\n", log)

    def test_a_line_over_the_limit_is_skipped_and_the_next_one_is_read(self):
        daemon = self.start_local(options=["--max-frame", "64K"])
        client = self.client()
        id_behind = '{"result":{"content":[{"type":"text","text":"%s"}]},"jsonrpc":"2.0","id":$ID}' % ("x" * 1000)
        client.send(call("big", {"bytes": 200_000}, 1), call("echo", {"message": "after"}, 2))
        self.assert_error(client.line(), -32000, 1, "too_large", "unknown")
        self.assertEqual(text_of(client.answer(2)), "after")
        client.send(call("raw", {"text": id_behind, "times": 200}, 3))
        self.assert_error(client.line(), -32000, 3, "too_large", "unknown")
        daemon.logged("was over --max-frame")

    def test_its_stderr_is_in_the_log_and_a_flood_of_it_is_not(self):
        daemon = self.start_local()
        self.assertEqual(self.tool("flood-stderr", {"lines": 20_000}), "flooded")
        self.assertIn("flood 0 xxx", daemon.logged("flood 0 "))
        self.assertLess(daemon.stderr().count("flood "), 100)

    def test_one_that_does_not_read_blocks_nobody_but_its_callers(self):
        daemon = self.start_local(options=["--client-inflight", "200", "--client-buffer", "64M"])
        client = self.client()
        client.send(call("stop-reading", {}, "deaf"))
        self.assertEqual(client.line()["params"]["data"], "deaf")
        for n in range(40):
            client.send(call("echo", {"message": "x" * 1_000_000}, n))
        # 16 MiB wait for it, and the pipe holds a little; the rest is refused at once.
        refused = client.line()
        self.assert_error(refused, -32000, refused["id"], "overloaded", "no")
        self.assertGreater(refused["id"], 14)
        self.assertEqual(daemon.status()["upstream"]["state"], "open")
        client.send(notification("notifications/whatever"))
        self.assertTrue(daemon.running())


class Starting(LocalServer):
    def test_it_gets_its_arguments_and_folder_and_no_secret_of_ours(self):
        self.start_local("one", "", "t wo", environment={
            "MCP_SERVER_TOKEN": "s3cret", "MCP_INPUT_X": "s3cret", "NOTIFY_SOCKET": "/nowhere", "LISTEN_FDNAMES": "x",
            "WATCHDOG_USEC": "1", "CREDENTIALS_DIRECTORY": "/x", "MCP_BRIDGE_HEADER": "X-Key: s3cret", "WAYWARD_X": "kept"})
        self.assertEqual(json.loads(self.tool("arguments")), ["one", "", "t wo"])
        self.assertEqual(self.tool("where"), os.path.realpath(self.folder))
        names = ["MCP_SERVER", "MCP_INPUT", "NOTIFY_", "LISTEN_", "WATCHDOG_", "CREDENTIALS_", "MCP_BRIDGE", "WAYWARD_"]
        self.assertEqual(json.loads(self.tool("environment", {"names": names})), {"WAYWARD_X": "kept"})

    def test_it_has_no_descriptor_of_ours_and_its_own_process_group(self):
        daemon = self.start_local()
        pid = self.child_pid()
        self.assertEqual(sorted(os.listdir(f"/proc/{pid}/fd")), ["0", "1", "2"])
        self.assertEqual(os.getpgid(pid), pid)
        with open(f"/proc/{pid}/status", encoding="ascii") as status:
            masks = {line.split()[0]: line.split()[1] for line in status if line.startswith(("SigBlk", "SigIgn"))}
        # Python itself ignores SIGPIPE and SIGXFSZ.
        self.assertEqual((masks["SigBlk:"], masks["SigIgn:"]), ("0" * 16, "0000000001001000"))
        self.assertNotEqual(os.getpgid(daemon.pid), pid)

    def test_with_spawn_start_it_runs_before_anybody_asks_and_with_lazy_only_then(self):
        self.start_local(options=["--spawn", "start"]).logged("runs, pid")
        lazy = self.start_local(options=["--spawn", "lazy"], socket="lazy")
        self.assertEqual(lazy.status()["upstream"]["state"], "idle")
        self.assertNotIn("runs, pid", lazy.stderr())
        self.assertEqual(self.tool("echo", {"message": "now"}), "now")
        lazy.logged("runs, pid")

    def test_a_command_that_cannot_be_run_is_exit_69_and_one_line(self):
        not_a_program = self.write("data", "no program\n", 0o700)
        for command, reason in (("there-is-no-such-program", "no such program"), (self.folder, "Permission denied"),
                                (not_a_program, "Exec format error")):
            said = self.start_daemon(None, "--", command, "s3cret", ready=False, socket=f"s{self.counter}").fails(69)
            self.assertIn(reason, said)
            self.assertNotIn("s3cret", said)

    def test_lazily_a_command_that_cannot_be_run_is_told_to_the_client(self):
        self.start_daemon(None, "--spawn", "lazy", "--connect-wait", "300ms", "--", "there-is-no-such-program")
        error = self.assert_error(self.client().call("echo"), -32000, 1, "connect", "no")
        self.assertIn("no such program", error["message"])
        self.assertNotIn("(pid", self.default_daemon.stderr())

    def test_status_names_the_command_and_none_of_its_arguments(self):
        daemon = self.start_local("s3cret")
        upstream = daemon.status()["upstream"]
        self.assertEqual(upstream["kind"], "stdio")
        self.assertNotIn("s3cret", json.dumps(upstream) + daemon.stderr())
        self.tool("echo", {"message": "x"})
        self.assertEqual(daemon.status()["upstream"]["stream"], "open")


class Ending(LocalServer):
    def ended(self, daemon, code=0):
        self.assertEqual(daemon.terminate(), code)

    def test_at_the_end_its_stdin_is_closed_and_it_ends_by_itself(self):
        daemon = self.start_local()
        pid = self.child_pid()
        self.ended(daemon)
        self.assertFalse(runs(pid))
        self.assertNotIn("ignores", daemon.stderr())

    def test_one_that_ignores_sigterm_too_is_killed_with_all_it_has_started(self):
        daemon = self.start_local("--linger", "--ignore-term")
        pids = [self.child_pid(), int(self.tool("grandchild")), int(self.tool("orphan")), int(self.tool("orphan", {"session": False}))]
        self.assertTrue(all(runs(pid) for pid in pids))
        self.ended(daemon)
        self.assert_gone(*pids)
        daemon.logged("ignores its end")

    def test_a_second_signal_ends_at_once_and_leaves_nothing(self):
        daemon = self.start_local("--linger", "--ignore-term")
        daemon.exit_codes = (128 + signal.SIGTERM,)
        pids = [self.child_pid(), int(self.tool("orphan"))]
        daemon.signal(signal.SIGTERM)
        daemon.logged("ending after signal")
        daemon.signal(signal.SIGTERM)
        daemon.wait()
        self.assert_gone(*pids)

    def test_requests_in_flight_are_answered_at_the_end(self):
        daemon = self.start_local()
        client = self.client()
        client.send(call("silent"))
        self.in_flight(1)
        daemon.signal(signal.SIGTERM)
        self.assert_error(client.answer(1), -32000, 1, "shutdown", "unknown")
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # it may have ended already
            client.send(request("ping", None, 2))
        eventually(lambda: not daemon.running(), "the end")


if __name__ == "__main__":
    main()
