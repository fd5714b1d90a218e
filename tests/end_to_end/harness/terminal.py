"""A program on a terminal of its own."""

import fcntl
import os
import pty
import re
import select
import subprocess
import termios
import time

from .processes import marked
from .waiting import DEADLINE


class Terminal:
    """stdin and stderr (and stdout, unless it goes to a pipe) are a pty; `shown` is all that was printed on it."""

    def __init__(self, command, marker, stdout_apart=False):
        self.master, slave = pty.openpty()
        variables = {key: value for key, value in os.environ.items() if not key.startswith("MCP_")}
        variables.update({**marked(marker), "TERM": "xterm", "COLUMNS": "80"})

        def take_terminal():
            # Without a controlling terminal a typed ^C would be no signal.
            os.setsid()
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        self.popen = subprocess.Popen([str(part) for part in command], stdin=slave, stderr=slave, env=variables,
                                      stdout=subprocess.PIPE if stdout_apart else slave, preexec_fn=take_terminal)
        os.close(slave)
        self.shown = b""

    def read(self, wait=0.05):
        ready, _, _ = select.select([self.master], [], [], wait)
        if not ready:
            return False
        try:
            data = os.read(self.master, 1 << 16)
        except OSError:
            return False
        self.shown += data
        return bool(data)

    def expect(self, pattern, deadline=DEADLINE):
        end = time.monotonic() + deadline
        while not re.search(pattern, self.shown.decode(errors="replace"), re.S):
            self.read()
            assert time.monotonic() < end, f"{pattern!r} not in {self.shown!r}"
        return self

    def type(self, text):
        os.write(self.master, text.encode())
        return self

    def wait(self, deadline=DEADLINE):
        """The exit code."""
        end = time.monotonic() + deadline
        while self.popen.poll() is None:
            self.read()
            assert time.monotonic() < end, f"does not end: {self.shown!r}"
        while self.read(0):
            pass
        return self.popen.returncode

    def close(self):
        if self.popen.poll() is None:
            self.popen.kill()
        self.popen.wait()
        if self.popen.stdout:
            self.popen.stdout.close()
        os.close(self.master)
