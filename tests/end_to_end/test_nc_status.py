"""mcp-nc status: what it shows, on a terminal and elsewhere, and whether the daemon is ready (BEHAVIOUR, "Session:
ready")."""

import fcntl
import json
import os
import re
import signal
import struct
import termios

from harness import Case, eventually, main

ENTER, LEAVE, HOME = "\x1b[?1049h", "\x1b[?1049l", "\x1b[H"


class Ready(Case):
    def assert_not_ready(self, why):
        for _ in range(2):  # nothing forgets a failed try
            out, err = self.run_nc("status", "--ready", code=4)
            self.assertEqual(out, "")
            self.assertIn(why, err)

    def assert_ready(self):
        self.assertTrue(self.run_nc("status", "--ready")[0].startswith("ready: "))

    def test_until_something_has_failed_it_is_and_a_failed_try_is_not_forgotten(self):
        server = self.upstream()
        port = server.port
        server.stop()
        self.start_daemon(f"http://127.0.0.1:{port}/mcp", "--connect-wait", "1s")
        self.assert_ready()
        self.run_nc("call", "echo", "message=x", code=4)
        self.assert_not_ready("connect")
        self.upstream("--port", str(port))
        self.run_nc("call", "echo", "message=x")
        self.assert_ready()

    def test_a_refusal_holds_until_a_session_opens(self):
        server, _ = self.bridge()
        server.fault({"status": 403}, method="initialize")
        self.run_nc("call", "echo", "message=x", code=4)
        self.assert_not_ready("refused")
        self.run_nc("call", "echo", "message=x")
        self.assert_ready()


class Asker(Case):
    def test_the_daemon_says_who_asks(self):
        self.bridge()
        caller = json.loads(self.run_nc("whoami", "--json")[0])
        self.assertEqual(list(caller), ["uid", "pid", "client"])
        self.assertEqual(caller["uid"], os.getuid())
        words = self.run_nc("whoami")[0]
        self.assertRegex(words, rf"^uid     {os.getuid()}\npid     [1-9]\d*\nclient  \d+\n$")
        self.assertGreater(int(words.split()[-1]), caller["client"])


class OnATerminal(Case):
    def setUp(self):
        super().setUp()
        self.server, self.daemon = self.bridge()
        self.run_nc("call", "echo", "message=x")

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

    def assert_as_new(self, terminal):
        master, slave = os.openpty()
        self.assertEqual(termios.tcgetattr(terminal.master), termios.tcgetattr(master))
        os.close(master)
        os.close(slave)

    def test_q_ends_it_and_the_terminal_is_as_before(self):
        terminal = self.watching().type("xq")
        self.assertEqual(terminal.wait(), 0)
        self.assert_as_new(terminal)

    def watching(self, rows=24, columns=80):
        terminal = self.terminal("status", "--watch")
        self.resize(terminal, rows, columns)
        terminal.expect(r"\x1b\[H.*upstream.*COMMAND")
        return terminal

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
                terminal.popen.send_signal(number)
                self.assertIn(terminal.wait(), codes)
                self.assertTrue(self.shown(terminal).rstrip().endswith(LEAVE) or LEAVE in self.shown(terminal)[-40:])
                self.assert_as_new(terminal)

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
        for rows, columns in ((10, 40), (40, 160)):
            drawn = len(self.frames(terminal))
            self.resize(terminal, rows, columns)

            def fits():
                terminal.read()
                if len(self.frames(terminal)) <= drawn:
                    return False
                lines = self.text(self.frames(terminal)[-1]).split("\n")
                return len([line for line in lines if line]) <= rows and max(map(len, lines)) < columns

            eventually(fits, lambda: f"a frame of {rows} x {columns}: {self.frames(terminal)[-1]}")
        terminal.type("\x03")
        self.assertEqual(terminal.wait(), 0)


if __name__ == "__main__":
    main()
