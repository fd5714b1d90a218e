"""SIGHUP: what can change is read again, session and clients stay (BEHAVIOUR, "SIGHUP")."""

import os
import re
import signal

from faults import FaultCase, call, eventually, main_parallel, notification
from harness.certificates import Authority
from harness.pages import text_of_page


class Reloaded(FaultCase):
    def start(self, text, *options):
        self.server = self.upstream()
        self.options = self.write("options", text)
        self.daemon = self.start_daemon(self.server, "--options-file", self.options, *options)
        self.asker = self.client()
        self.asker.fence()
        self.server.streams(1)
        self.server.forget_log()

    def reload(self, text):
        """What the daemon says of it."""
        before, reports = len(self.daemon.stderr()), self.reports()
        self.write("options", text)
        self.daemon.signal(signal.SIGHUP)
        eventually(lambda: self.reports() > reports, "a report of SIGHUP")
        return self.daemon.stderr()[before:]

    def reports(self):
        text = self.daemon.stderr()
        return text.count("SIGHUP: token, headers") + text.count("SIGHUP: nothing was changed")

    def nothing_was_disturbed(self):
        self.assertEqual(self.asker.fence(), [])
        self.server.emit(notification("notifications/message", {"level": "info", "data": "same stream"}))
        self.assertEqual(self.asker.line()["params"]["data"], "same stream")
        self.assertEqual([entry["method"] for entry in self.server.log() if entry["method"] != "tools/call"], [])

    def sent_header(self):
        self.asker.fence()
        return self.server.log("tools/call")[-1]["headers"].get("x-version")

    def test_headers_and_times_are_taken(self):
        self.start("header = X-Version: 1\nrequest-timeout = 100s\n")
        self.assertEqual(self.sent_header(), "1")
        said = self.reload("header = X-Version: 2\nrequest-timeout = 300ms\n")
        self.assertNotIn("warning", said)
        self.assertEqual(self.sent_header(), "2")
        self.nothing_was_disturbed()
        self.server.fault({"hang": True}, method="tools/call")
        self.assert_error(self.asker.call("echo", {}, 1), -32000, 1, "timeout", "unknown")

    def test_what_the_page_lists_needs_no_restart(self):
        section = text_of_page("daemon/BEHAVIOUR.md").split("\n## SIGHUP\n", 1)[1].split("\n## ", 1)[0]
        listed = re.findall(r"`--([a-z-]+)`", section)
        self.assertGreater(len(listed), 10)
        values = {"header": ("X-Version: 1", "X-Version: 2"), "stream-retries": ("5", "6"), "orphans": ("finish", "cancel"),
                  "log-level": ("info", "debug"), "log-format": ("text", "json"), "log-bodies": ("off", "on")}
        before, after = ("".join(f"{name} = {values.get(name, ('50s', '60s'))[which]}\n" for name in listed) for which in (0, 1))
        self.start(before)
        said = self.reload(after)
        self.assertNotIn("only with a restart", said)
        self.assertIn("SIGHUP: token, headers", said)

    def test_an_invalid_file_changes_nothing(self):
        self.start("header = X-Version: 1\n")
        for text in ("no such option = 1\n", "header = X-Version\n", "request-timeout = soon\nheader = X-Version: 2\n",
                     "header = X-Version: @/no/such/file\n"):
            with self.subTest(text):
                self.assertIn("error SIGHUP: nothing was changed", self.reload(text))
                self.assertEqual(self.sent_header(), "1")
        os.unlink(self.options)
        self.daemon.signal(signal.SIGHUP)
        self.daemon.logged("nothing was changed", 5)
        self.assertEqual(self.sent_header(), "1")
        self.nothing_was_disturbed()

    def test_files_that_have_become_pipes_hold_up_nothing(self):
        header, token, ca = self.write("header", "1"), self.write("token", "t"), Authority(self.folder, "ca").path
        text = f"header = X-Version: @{header}\ntoken-file = {token}\nca-file = {ca}\n"
        self.start(text)
        for name in (header, token, ca, self.options):
            with self.subTest(name):
                content = self.path("kept")
                os.rename(name, content)
                os.mkfifo(name)
                before = self.reports()
                self.daemon.signal(signal.SIGHUP)
                eventually(lambda: self.reports() > before, "a report of SIGHUP")
                self.daemon.status()
                os.unlink(name)
                os.rename(content, name)
        self.assertEqual(self.daemon.stderr().count("is not a regular file but a pipe"), 4)
        self.reload(text)
        self.assertEqual(self.sent_header(), "1")

    def test_what_needs_a_restart_is_named_and_the_rest_is_taken(self):
        self.start("header = X-Version: 1\nring = 10\n")
        said = self.reload("header = X-Version: 2\nring = 20\nmax-clients = 3\n")
        warned = [line for line in said.splitlines() if "warning" in line]
        self.assertEqual(len(warned), 2, said)
        self.assertIn("--max-clients", warned[0])
        self.assertIn("--ring ", warned[1])
        self.assertEqual(self.daemon.status()["ring"]["capacity"], 10)
        self.assertEqual(self.sent_header(), "2")
        self.nothing_was_disturbed()


if __name__ == "__main__":
    main_parallel(3)
