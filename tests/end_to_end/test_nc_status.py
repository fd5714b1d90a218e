"""mcp-nc status: what it shows, on a terminal and elsewhere, and whether the daemon is ready (BEHAVIOUR, "Session:
ready")."""

import fcntl
import json
import os
import re
import signal
import struct
import termios

from harness import Case, call, eventually, main
from harness.binaries import binary
from harness.terminal import Terminal

ENTER, LEAVE, HOME = "\x1b[?1049h", "\x1b[?1049l", "\x1b[H"


class Ready(Case):
    def assert_not_ready(self, why):
        """Not once and not a moment later: nothing forgets a failed try."""
        for _ in range(5):
            out, err = self.run_nc("status", "--ready", code=4)
            self.assertEqual(out, "")
            self.assertIn(why, err)

    def assert_ready(self):
        self.assertTrue(self.run_nc("status", "--ready")[0].startswith("ready: "))

    def test_until_something_has_failed_it_is(self):
        server = self.upstream()
        url = server.url
        server.stop()
        self.start_daemon(url)
        self.assert_ready()

    def test_a_failed_try_that_nobody_waits_for_any_more_is_not_forgotten(self):
        server = self.upstream()
        port = server.port
        server.stop()
        daemon = self.start_daemon(f"http://127.0.0.1:{port}/mcp", "--connect-wait", "300ms")
        self.run_nc("call", "echo", "message=x", code=4)
        self.assert_not_ready("connect")
        self.assertEqual(daemon.status()["upstream"]["state"], "waiting")
        self.upstream("--port", str(port))
        self.run_nc("call", "echo", "message=x")
        self.assert_ready()
        self.assertEqual(daemon.status()["upstream"]["state"], "open")

    def test_nor_while_it_is_being_tried_again(self):
        server = self.upstream()
        server.fault({"status": 503}, method="initialize")
        server.fault({"hang": True}, method="initialize")
        daemon = self.start_daemon(server)
        client = self.client()
        client.send(call("echo", {"message": "x"}, 1))
        server.log("initialize", wait=2)
        self.assertEqual(daemon.status()["upstream"]["state"], "opening")
        self.assert_not_ready("the upstream is opening")

    def test_a_refusal_holds_until_a_session_opens(self):
        server, _ = self.bridge()
        server.fault({"status": 403}, method="initialize")
        self.run_nc("call", "echo", "message=x", code=4)
        self.assert_not_ready("refused")
        self.run_nc("call", "echo", "message=x")
        self.assert_ready()

    def test_a_refused_initialize_of_a_clients_counts_too(self):
        server, _ = self.bridge()
        server.fault('{"status":200,"body":{"jsonrpc":"2.0","id":$ID,"error":{"code":-32602,"message":"no"}}}', method="initialize")
        self.client().request("initialize", {"protocolVersion": "1999-01-01", "capabilities": {},
                                             "clientInfo": {"name": "x", "version": "1"}})
        self.assert_not_ready("refused")
        self.client().fence()
        self.assert_ready()


class Shown(Case):
    def test_into_a_pipe_it_is_plain(self):
        server, daemon = self.bridge("--ring", "20")
        self.run_nc("call", "echo", "message=x")
        self.run_nc("request", "no/such", code=1)
        server.emit({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}, count=25)
        self.newest(25)
        waiting = self.nc("call", "slow", "steps:=1000", "delayMs:=50", "--keep")
        # The bridge's own look at the changed list is in flight before the call is.
        daemon.status_when(lambda status: (status["requests"]["total"], status["requests"]["inFlight"]) == (3, 1), "the call is under way")
        out, err = self.run_nc("status", environment={"LC_ALL": "C.UTF-8", "TERM": "xterm"})
        self.assertEqual(err, "")
        self.assertTrue(out.isascii() and "\x1b" not in out, out)
        for pattern in (rf"(?m)^daemon +mcp-bridged \S+, pid {daemon.pid}, up \d",
                        rf"(?m)^upstream +open for \d+ m?s  {re.escape(server.url)} \(http\)$",
                        r"(?m)^server +demo-upstream \S+, legacy, protocol 2025-11-25$",
                        r"(?m)^session +never interrupted, server stream open$",
                        r"(?m)^ring +\[#{24}\]  20 of 20, sequence 6 to 25$",
                        r"(?m)^  untaken +\[#{24}\]  20 wait for a client$",
                        r"(?m)^  dropped +\[#{5}-{19}\]  5 of 25, 20 %$",
                        r"(?m)^requests +3 in all, 1 error \(33 %\), 1 in flight, 0 queued, 0 parked$",
                        r"(?m)^latency +p50 .*, p99 .*, added by the bridge \(p50\) ",
                        rf"(?m)^ +\d+  unix +{waiting.pid} +\d+ +\d+ m?s +1 +0 B  mcp-nc$"):
            self.assertRegex(out, pattern)
        waiting.signal(signal.SIGTERM)
        waiting.wait()

    def test_what_went_wrong_is_shown(self):
        server = self.upstream()
        url = server.url
        server.stop()
        self.start_daemon(url, "--connect-wait", "300ms")
        self.run_nc("call", "echo", "message=x", code=4)
        out, _ = self.run_nc("status")
        self.assertRegex(out, r"(?m)^upstream +waiting, the last try failed  http")
        self.assertRegex(out, r"(?m)^last error +\d+ m?s ago, connect: ")


class Asker(Case):
    def test_the_daemon_says_who_asks(self):
        self.bridge()
        caller = json.loads(self.run_nc("whoami", "--json")[0])
        self.assertEqual(list(caller), ["uid", "pid", "client"])
        self.assertEqual(caller["uid"], os.getuid())
        words = self.run_nc("whoami")[0]
        self.assertRegex(words, rf"^uid     {os.getuid()}\npid     [1-9]\d*\nclient  \d+\n$")
        self.assertGreater(int(words.split()[-1]), caller["client"])

    def test_it_is_one_of_the_clients(self):
        self.bridge()
        status = json.loads(self.run_nc("status", "--json")[0])
        self.assertEqual([one["command"] for one in status["clients"] if one["id"] == status["you"]], ["mcp-nc"])


class OnATerminal(Case):
    def setUp(self):
        super().setUp()
        self.server, self.daemon = self.bridge()
        self.run_nc("call", "echo", "message=x")
        self.terminals = []

    def tearDown(self):
        for terminal in self.terminals:
            terminal.close()
        super().tearDown()

    def terminal(self, *arguments, rows=24, columns=80):
        terminal = Terminal(["env", "LC_ALL=C.UTF-8", binary("MCP_NC"), "-s", self.daemon.socket_path, *arguments], self.marker)
        self.terminals.append(terminal)
        self.resize(terminal, rows, columns)
        return terminal

    @staticmethod
    def resize(terminal, rows, columns):
        fcntl.ioctl(terminal.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    @staticmethod
    def shown(terminal):
        return terminal.shown.decode(errors="replace")

    def frames(self, terminal):
        """What was drawn each time, from the top left on."""
        return self.shown(terminal).split(HOME)[2:]

    @staticmethod
    def text(frame):
        return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", frame).replace("\r", "")

    def watching(self, **size):
        terminal = self.terminal("status", "--watch", **size)
        terminal.expect(r"\x1b\[H.*upstream.*COMMAND")
        return terminal

    def test_once_it_has_colours_and_bars_and_leaves_no_trace(self):
        terminal = self.terminal("status")
        self.assertEqual(terminal.wait(), 0)
        text = self.shown(terminal)
        self.assertIn("\x1b[32m● ", text)
        self.assertIn("░", text)
        self.assertNotIn(ENTER, text)

    def test_it_updates_in_place(self):
        terminal = self.watching()
        self.assertEqual(self.shown(terminal).count(ENTER), 1)
        self.run_nc("call", "echo", "message=x")
        terminal.expect(r"requests\S* +2 in all")
        terminal.type("\x03")
        self.assertEqual(terminal.wait(), 0)
        text = self.shown(terminal)
        self.assertEqual((text.count(ENTER), text.count(LEAVE)), (1, 1))
        frames = self.frames(terminal)
        self.assertGreaterEqual(len(frames), 2)
        for frame in frames[1:]:
            # Drawn over, line by line: what is erased is only what is left of a longer line.
            self.assertNotIn("\x1b[2J", frame)
            for line in frame.replace("\r", "").split("\n"):
                self.assertEqual(line.find("\x1b[K"), len(line) - 3 if "\x1b[K" in line else -1, repr(line))
        self.assertRegex(text, r"(?s)\x1b\[\?25l.*\x1b\[\?25h")

    def test_each_signal_gives_the_terminal_back(self):
        for number, codes in ((signal.SIGINT, (0,)), (signal.SIGTERM, (143,)), (signal.SIGHUP, (-1,)), (signal.SIGQUIT, (-3,))):
            with self.subTest(number):
                terminal = self.watching()
                before = termios.tcgetattr(terminal.master)
                terminal.popen.send_signal(number)
                self.assertIn(terminal.wait(), codes)
                self.assertTrue(self.shown(terminal).rstrip().endswith(LEAVE) or LEAVE in self.shown(terminal)[-40:])
                self.assertEqual(termios.tcgetattr(terminal.master), before)

    def test_a_daemon_that_ends_leaves_its_message_on_the_usual_screen(self):
        terminal = self.watching()
        self.daemon.terminate()
        self.assertEqual(terminal.wait(), 3)
        self.assertIn("mcp-nc: ", self.shown(terminal).split(LEAVE)[1])

    def test_stopped_and_continued_it_gives_the_screen_back_in_between(self):
        terminal = self.watching()
        terminal.popen.send_signal(signal.SIGTSTP)
        terminal.expect(re.escape(LEAVE) + ".*" + re.escape(ENTER) + ".*upstream")
        terminal.type("\x03")
        self.assertEqual(terminal.wait(), 0)

    def test_a_resized_window_is_drawn_anew_and_nothing_is_wider_or_longer(self):
        terminal = self.watching(rows=24, columns=100)
        for rows, columns in ((10, 40), (40, 160), (5, 20)):
            drawn = len(self.frames(terminal))
            self.resize(terminal, rows, columns)
            self.assertTrue(eventually(lambda: terminal.read() or len(self.frames(terminal)) > drawn, "another frame"))
            last = {}

            def fits():
                terminal.read()
                whole = [frame for frame in self.frames(terminal)[drawn:]]
                if not whole:
                    return False
                lines = self.text(whole[-1]).split("\n")
                last["frame"] = whole[-1]
                return len([line for line in lines if line]) <= rows and max(map(len, lines)) < columns

            eventually(fits, lambda: f"a frame of {rows} x {columns}: {last}")
        terminal.type("\x03")
        self.assertEqual(terminal.wait(), 0)

    def test_into_a_pipe_watching_is_plain_text_again_and_again(self):
        watching = self.nc("status", "--watch")
        eventually(lambda: watching.stdout().count(b"daemon ") >= 2, "a second status")
        watching.signal(signal.SIGTERM)
        self.assertEqual(watching.wait(), 143)
        self.assertNotIn(b"\x1b", watching.stdout())


if __name__ == "__main__":
    main()
