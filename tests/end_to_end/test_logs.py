"""The log: text and JSON, priorities for the journal, correlation, and what a peer cannot do to it (BEHAVIOUR, "Logs
and metrics")."""

import datetime
import fcntl
import json
import os
import re
import signal

from harness import Case, answer, call, eventually, main, request
from harness.binaries import binary

TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

# stderr of the daemon is a file here; for the journal it is a socket, but what counts is that the variable names it.
JOURNAL = """#!/bin/sh
JOURNAL_STREAM=$(stat -L -c %d:%i /dev/fd/2)
export JOURNAL_STREAM
exec "{}" "$@"
"""


def traced(id, trace=TRACE):
    return request("tools/call", {"name": "echo", "arguments": {"message": "x"}, "_meta": {"traceparent": trace}}, id)


class Json(Case):
    def lines(self, daemon):
        """Those that are whole."""
        return [json.loads(line) for line in daemon.stderr().splitlines(keepends=True) if line.endswith("\n")]

    def events(self, daemon, event):
        return [line for line in self.lines(daemon) if line["event"] == event]

    def test_each_line_is_an_object_with_the_same_names(self):
        server, daemon = self.bridge("--log-format", "json", "--log-level", "debug")
        client = self.client()
        client.fence()
        server.control("POST", "sessions/drop")
        client.fence()
        client.send("no JSON", answer("never asked"), 'x"\n\u2028\\')
        client.fence()
        daemon.terminate()
        lines = self.lines(daemon)
        for line in lines:
            self.assertEqual(list(line)[:4], ["time", "level", "event", "message"])
            self.assertEqual(datetime.datetime.fromisoformat(line["time"].replace("Z", "+00:00")).utcoffset(),
                             datetime.timedelta(0))
            self.assertIn(line["level"], ("debug", "info", "warning", "error"))
            self.assertLessEqual(set(line) - {"time", "level", "event", "message"},
                                 {"client", "request", "upstream", "method", "traceparent", "outcome", "duration_ms"})
        events = [line["event"] for line in lines]
        for event in ("started", "client connected", "session opened", "request started", "request ended",
                      "session lost", "session reopened", "unknown answer of a client", "ending", "ended"):
            self.assertIn(event, events)

    def test_a_request_can_be_followed(self):
        server, daemon = self.bridge("--log-format", "json", "--log-level", "debug")
        client = self.client()
        client.send(traced("first"))
        client.answer("first")
        client.send(traced(7))
        client.answer(7)
        daemon.logged('"request ended"', 2)
        started, ended = self.events(daemon, "request started"), self.events(daemon, "request ended")
        upstream = [int(entry["id"]) for entry in server.log("tools/call")]
        for lines in (started, ended):
            self.assertEqual([line["request"] for line in lines], ["first", "7"])
            self.assertEqual([line["upstream"] for line in lines], upstream)
            self.assertEqual({line["traceparent"] for line in lines}, {TRACE})
            self.assertEqual({line["method"] for line in lines}, {"tools/call"})
            self.assertEqual({line["client"] for line in lines}, {self.events(daemon, "client connected")[0]["client"]})
        self.assertEqual({line["outcome"] for line in ended}, {"ok"})
        self.assertTrue(all(0 <= line["duration_ms"] < 30000 for line in ended))

    def test_a_failed_one_is_told_without_debugging_too(self):
        server, daemon = self.bridge("--log-format", "json", "--request-timeout", "300ms")
        server.fault({"hang": True}, method="tools/call")
        client = self.client()
        client.send(traced("slow one"))
        client.answer("slow one")
        failed, = self.events(daemon, "request failed")
        self.assertEqual((failed["request"], failed["method"]), ("slow one", "tools/call"))
        self.assertEqual(failed["upstream"], int(server.log("tools/call")[0]["id"]))
        self.assertIn("timeout", failed["message"])
        self.assertEqual(self.events(daemon, "request started"), [])


class Text(Case):
    def test_a_peer_that_repeats_itself_is_only_counted(self):
        _, daemon = self.bridge()
        client = self.client()
        client.send(*[answer(id) for id in range(500)])
        client.fence()
        daemon.terminate()
        told = daemon.stderr().count("unsolicited response")
        self.assertLessEqual(told, 20)
        rest = sum(int(count) for count in re.findall(r"(\d+) more lines about \"unknown answer of a client\"", daemon.stderr()))
        self.assertEqual(told + rest, 500)

    def test_sighup_changes_level_and_format(self):
        server = self.upstream()
        options = self.write("options", "log-format = text\nlog-level = info\n")
        daemon = self.start_daemon(server, "--options-file", options)
        self.write("options", "log-format = json\nlog-level = debug\n")
        daemon.signal(signal.SIGHUP)
        daemon.logged('"event":"reload"')
        self.client().fence()
        daemon.logged('"event":"request ended"')
        self.assertNotIn("changes only with a restart", daemon.stderr())


class Bodies(Case):
    def test_they_are_logged_only_when_asked_for_and_that_is_warned_about(self):
        _, daemon = self.bridge("--log-level", "debug", "--log-bodies")
        self.assertRegex(daemon.logged("--log-bodies"), "(?m)^.* warning --log-bodies:.*secret")
        client = self.client()
        client.call("echo", {"message": "this can be read"})
        client.call("echo", {"message": "y" * 100_000}, 2)
        text = daemon.logged("from the upstream", 2)
        self.assertEqual(len(re.findall(r'debug from a client \(\d+ bytes\): \{.*this can be read.* client=1\n', text)), 1)
        self.assertEqual(len(re.findall(r'debug from the upstream \(\d+ bytes\): \{.*this can be read.* upstream=\d+\n', text)), 1)
        self.assertLess(max(map(len, text.splitlines())), 5000)

    def test_without_debugging_there_are_none_and_that_is_said(self):
        _, daemon = self.bridge("--log-bodies")
        self.client().call("echo", {"message": "this can be read"})
        daemon.terminate()
        self.assertIn("which is not set", daemon.stderr())
        self.assertNotIn("this can be read", daemon.stderr())


class Journal(Case):
    def start(self, url, *options, script=JOURNAL, **how):
        program = self.write("journalled", script.format(binary("MCP_BRIDGED")), 0o700)
        return self.start_daemon(url, *options, program=program, **how)

    def test_lines_begin_with_their_priority(self):
        server = self.upstream()
        daemon = self.start(server, "--log-level", "debug", "--ring", "1", "--insecure")
        client = self.client()
        client.fence()
        server.fault({"status": 403}, method="initialize")
        server.control("POST", "sessions/drop")
        client.call("echo", {}, 2)
        daemon.terminate()
        lines = daemon.stderr().splitlines()
        self.assertTrue(all(re.match("<[3467]>", line) for line in lines), daemon.stderr())
        for words, priority in (("a client has connected", "<7>"), ("serves", "<6>"), ("--insecure", "<4>"),
                                ("refuses a session", "<3>")):
            self.assertEqual({line[:3] for line in lines if words in line}, {priority}, words)
        # The journal has a clock of its own.
        self.assertNotRegex(daemon.stderr(), r"(?m)^<\d>\d{4}-|^<\d>(info|warning)")

    def test_a_start_that_fails_is_an_error(self):
        said = self.start(None, ready=False).fails(64)
        self.assertRegex(said, r"^<3>mcp-bridged: [^\n]*MCP_SERVER_URL[^\n]*\n$")


class Unread(Case):
    def test_a_stderr_that_nobody_reads_holds_up_nobody_and_what_was_lost_is_said(self):
        read_end, write_end = os.pipe()
        self.addCleanup(os.close, read_end)
        os.set_blocking(read_end, False)
        fcntl.fcntl(write_end, fcntl.F_SETPIPE_SZ, 4096)
        self.start_daemon(self.upstream(), "--log-level", "debug", before_exec=lambda: os.dup2(write_end, 2))
        os.close(write_end)
        client = self.client()
        for number in range(50):
            client.call("echo", {"message": "x"}, number)
        read = [os.read(read_end, 1 << 20)]

        def told():
            client.call("echo")
            try:
                read.append(os.read(read_end, 1 << 20))
            except BlockingIOError:
                pass
            return re.search(rb"\d+ log lines were lost: stderr was not read\n", b"".join(read))

        eventually(told, lambda: f"word of the lost lines: {read}")


if __name__ == "__main__":
    main()
