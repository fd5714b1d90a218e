"""Who did what (BEHAVIOUR, "Audit"): each request a line, also when the file cannot be written."""

import hashlib
import json
import os
import resource
import signal

from harness import eventually, main, request
from harness.eras import Eras
from harness.jobs import Jobs

TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


class Audits(Eras):
    def audited(self, *options, mode="modern", **how):
        os.chmod(self.folder, 0o755)
        self.file = self.path("audit.log")
        return self.bridged(mode, "--audit", self.file, *options, **how)

    def lines(self, path=None):
        with open(path or self.file, encoding="utf-8") as file:
            return [json.loads(line) for line in file.read().splitlines()]

    def line_of(self, count=1, **wanted):
        """The lines with these members, once there are so many."""
        def there():
            found = [line for line in self.lines() if all(line.get(name) == value for name, value in wanted.items())]
            return found if len(found) >= count else None
        return eventually(there, lambda: f"{count} lines with {wanted}: {self.lines()}")


class Lines(Audits):
    def test_a_call_of_each_era(self):
        for mode in ("modern", "legacy"):
            for era in ("legacy", "modern"):
                with self.subTest(server=mode, client=era):
                    self.audited(mode=mode)
                    if os.path.exists(self.file):
                        os.truncate(self.file, 0)
                    one = self.speaker(era, "socket")
                    one.call("echo", {"message": "x"})
                    line = self.line_of(tool="echo")[0]
                    self.assertEqual((line["method"], line["outcome"]), ("tools/call", "ok"))
                    self.assertRegex(line["time"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
                    self.assertEqual(line["client"]["uid"], os.geteuid())
                    self.assertEqual(line["client"]["pid"], os.getpid())
                    self.assertTrue(line["client"]["command"].startswith("python"))
                    self.assertGreater(line["bytesIn"], 50)
                    self.assertGreater(line["bytesOut"], 50)
                    self.assertGreater(line["ms"], 0)
                    self.assertEqual(line["argumentsSha256"], hashlib.sha256(b'{"message":"x"}').hexdigest())
                    self.assertNotIn("arguments", line)

    def test_the_outcomes(self):
        server, _ = self.audited("--policy", self.write("p", '{"rules":[{"tools":["!hold","echo","fail","hold","nothing"],"rate":"6/1h"}]}'))
        client = self.client()
        client.call("echo", {"message": "x"}, 1)
        client.request("tools/call", {"name": "fail", "arguments": {}, "_meta": {"traceparent": TRACE}}, 2)
        client.call("denied", {}, 3)
        client.request("unheard/of", {}, 4)
        client.send(request("tools/call", {"name": "hold", "arguments": {"key": "k"}}, 5))
        server.wait_held("k")
        client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 5}})
        self.line_of(tool="hold", outcome="cancelled")
        for id in range(10, 14):
            client.call("echo", {"message": "x"}, id)
        found = {line.get("tool", line["method"]): line["outcome"] for line in self.lines()}
        self.assertEqual(found["fail"], "tool_error")
        self.line_of(tool="fail", traceparent=TRACE)
        self.assertEqual(found["denied"], "denied")
        self.assertEqual(found["unheard/of"], "error")
        limited = self.line_of(tool="echo", outcome="rate_limited")[0]
        self.assertEqual(limited["code"], -32000)

    def test_a_job_has_a_line_for_its_submission_and_one_for_its_call(self):
        self.audited()
        client = self.client()
        submitted = client.request("bridge/submit", {"method": "tools/call", "params": {"name": "echo", "arguments": {"message": "x"}}})
        job = submitted["result"]["job"]
        client.request("bridge/collect", {"job": job, "waitMs": 10000}, 2)
        first = self.line_of(method="bridge/submit")[0]
        call = self.line_of(method="tools/call")[0]
        self.assertEqual((first["job"], call["job"]), (job, job))
        self.assertEqual((first["tool"], call["tool"]), ("echo", "echo"))
        self.assertEqual(call["client"]["pid"], os.getpid())

    def test_arguments_are_cut_and_without_secrets(self):
        self.audited("--audit-arguments", environment={"MCP_SERVER_TOKEN": "very-secret-token"})
        client = self.client()
        client.call("echo", {"message": "very-secret-token"}, 1)
        client.call("echo", {"message": "y" * 9000}, 2)
        first, second = self.line_of(2, tool="echo")
        self.assertEqual(first["arguments"], {"message": "***"})
        self.assertIsInstance(second["arguments"], str)
        self.assertLessEqual(len(second["arguments"]), 4096)

    def test_a_request_of_a_client_that_left_has_its_end(self):
        server, _ = self.audited()
        client = self.client()
        client.send(request("tools/call", {"name": "hold", "arguments": {"key": "k"}}))
        server.wait_held("k")
        client.close()
        server.release("k")
        self.line_of(tool="hold", outcome="ok")

    def test_a_caller_of_the_http_face(self):
        self.audited(face=True)
        for era in ("modern", "legacy"):
            self.speaker(era, "face").call("echo", {"message": era})
        for line in self.line_of(2, tool="echo"):
            self.assertEqual(line["client"], {"http": True, "remote": "127.0.0.1"})


class Files(Audits):
    def test_logrotate(self):
        _, daemon = self.audited()
        client = self.client()
        client.call("echo", {"message": "x"}, 1)
        self.line_of(tool="echo")
        os.rename(self.file, self.path("audit.log.1"))
        client.call("echo", {"message": "x"}, 2)
        daemon.signal(signal.SIGHUP)
        daemon.logged("read again")
        client.call("fail", {}, 3)
        self.assertEqual([line["tool"] for line in self.line_of(tool="fail")], ["fail"])
        self.assertEqual(len([line for line in self.lines(self.path("audit.log.1")) if line.get("tool") == "echo"]), 2)

    def test_options_without_an_audit_are_64(self):
        for option in ("--audit-required", "--audit-arguments"):
            self.start_daemon("http://127.0.0.1:9/mcp", option, ready=False).fails(64)

    def test_a_daemon_that_finds_the_socket_taken_touches_no_file(self):
        _, daemon = self.audited()
        other = self.path("another.log")
        self.start_daemon("http://127.0.0.1:9/mcp", "--audit", other, socket=daemon.socket_path, ready=False).fails(73)
        self.assertFalse(os.path.exists(other))

    def test_a_file_that_others_can_read_is_closed_to_them(self):
        self.write("audit.log", "", 0o644)
        self.audited()
        eventually(lambda: os.stat(self.file).st_mode & 0o777 == 0o600, "the mode is 0600")


class FullDisk(Audits):
    """A limit on the size of a file stands for a full disk: what is written beyond it fails likewise."""

    def limited(self, *options, size=2000):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
        return self.audited(*options, before_exec=limit)

    def make_room(self, daemon):
        resource.prlimit(daemon.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))

    def fill(self, client):
        for id in range(100):
            answer = client.call("echo", {"message": "x"}, id)
            if "error" in answer or self.default_daemon.status()["audit"] == "failing":
                return answer
        raise AssertionError("the file never was full")

    def test_calls_go_on_and_it_is_told(self):
        _, daemon = self.limited()
        client = self.client()
        self.fill(client)
        self.assertIn("result", client.call("echo", {"message": "x"}, 1000))
        self.assertEqual(daemon.status()["audit"], "failing")
        self.assertEqual(daemon.metrics().of("mcp_bridge_audit_failing"), [1])
        daemon.logged("cannot write the audit")
        self.make_room(daemon)
        daemon.signal(signal.SIGHUP)
        daemon.logged("audit resumed")
        self.assertEqual(daemon.status()["audit"], "written")
        client.call("fail", {}, 1001)
        self.line_of(tool="fail")

    def test_with_audit_required_requests_are_refused_and_not_sent(self):
        server, daemon = self.limited("--audit-required")
        client = self.client()
        refused = self.fill(client)
        for _ in range(5):
            if "error" in refused:
                break
            refused = client.call("echo", {"message": "x"}, 2000)
        self.assert_error(refused, -32000, refused["id"], "audit", "no")
        sent = len(server.received("tools/call"))
        self.assert_error(client.call("echo", {"message": "x"}, 2001), -32000, 2001, "audit", "no")
        submitted = client.request("bridge/submit", {"method": "tools/call", "params": {"name": "echo", "arguments": {}}}, 2003)
        self.assert_error(submitted, -32000, 2003, "audit", "no")
        self.assertEqual(len(server.received("tools/call")), sent)
        self.make_room(daemon)
        daemon.signal(signal.SIGHUP)
        daemon.logged("audit resumed")
        self.assertIn("result", client.call("echo", {"message": "x"}, 2002))


class Crashes(Audits):
    def held(self, server, key="k"):
        client = self.client()
        client.send(request("tools/call", {"name": "hold", "arguments": {"key": key}}))
        server.wait_held(key)
        return client

    def test_with_a_state_the_next_daemon_writes_the_end_of_what_was_in_flight(self):
        state = ("--state-dir", self.path("state"))
        for more in ((), ("--audit-required",)):
            with self.subTest(more):
                server, daemon = self.audited(*state, *more)
                os.truncate(self.file, 0)
                self.held(server)
                self.client().call("echo", {"message": "x"})
                self.line_of(tool="echo", outcome="ok")
                daemon.crash()
                daemon = self.before(server, "--audit", self.file, *state, *more)
                ended = self.line_of(tool="hold", outcome="unknown")
                self.assertEqual(len(ended), 1)
                self.assertEqual(ended[0]["client"]["pid"], os.getpid())
                self.assertEqual(len(self.line_of(tool="echo", outcome="ok")), 1)
                # Once: the next one knows that it was told, as soon as a round has saved it.
                self.client().fence()
                daemon.crash()
                self.before(server, "--audit", self.file, *state, *more)
                self.client().call("fail", {})
                self.line_of(tool="fail", outcome="tool_error")
                self.assertEqual(len(self.line_of(tool="hold", outcome="unknown")), 1)
                self.default_daemon.stop()


    def test_a_job_in_flight_has_one_last_line(self):
        more = ("--state-dir", self.path("state"), "--audit-required")
        server, daemon = self.audited(*more)
        submitted = self.client().request("bridge/submit", {"method": "tools/call", "params": {"name": "hold", "arguments": {"key": "k"}}})
        self.assertIn("result", submitted)
        server.wait_held("k")
        self.client().fence()  # a round has saved which era the server is of
        daemon.crash()
        self.before(server, "--audit", self.file, *more)
        self.line_of(method="tools/call", tool="hold", outcome="unknown")
        self.client().call("fail", {})
        self.line_of(tool="fail", outcome="tool_error")
        ended = [line for line in self.lines() if line.get("tool") == "hold" and "outcome" in line]
        self.assertEqual([line["method"] for line in ended], ["bridge/submit", "tools/call"], ended)


class Tasks(Jobs, Audits):
    def test_a_task_of_a_job_has_its_line_when_the_task_ends(self):
        server, _ = self.audited()
        done = self.job("task")
        server.wait_for("tasks/get")
        left = self.job("task")
        eventually(lambda: len(server.tasks.known) == 2, "two tasks")
        self.client().call("fail", {})
        self.line_of(tool="fail")
        self.assertFalse([line for line in self.lines() if line["method"] == "tools/call" and line["tool"] == "task"])
        server.complete_task(next(iter(server.tasks.known)))
        self.assertEqual(self.collect(done)["state"], "completed")
        [line] = self.line_of(method="tools/call", outcome="ok", job=done)
        self.assertEqual(line["tool"], "task")
        self.result_of("cancel", {"job": left})
        self.line_of(method="tools/call", outcome="cancelled", job=left)


if __name__ == "__main__":
    main()
