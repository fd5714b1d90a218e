"""Two FIFOs in a daemon's folder of pipes, with the methods of a socket that a client uses."""

import os
import select
import socket
import stat
import time
import uuid

from .waiting import DEADLINE


class PipeEnds:
    def __init__(self, folder):
        self.name = uuid.uuid4().hex
        self.timeout = None
        owner = os.stat(folder).st_uid
        is_private = owner in (0, os.geteuid())
        made = {end: os.path.join(folder, f".{self.name}.{end}") for end in ("in", "out")}
        for end, path in made.items():
            os.mkfifo(path, 0o600)
            if not is_private:
                os.chmod(path, 0o604 if end == "in" else 0o602)
        self.reading = os.open(made["out"], os.O_RDONLY | os.O_NONBLOCK)
        self.writing = os.open(made["in"], os.O_RDWR | os.O_NONBLOCK)
        self.path = os.path.join(folder, self.name + ".in")
        for end in ("out", "in"):
            os.rename(made[end], os.path.join(folder, f"{self.name}.{end}"))

    def fileno(self):
        return self.reading

    def settimeout(self, seconds):
        self.timeout = seconds

    def _wait(self, descriptor, event):
        poll = select.poll()
        poll.register(descriptor, event)
        if not poll.poll(None if self.timeout is None else self.timeout * 1000):
            raise socket.timeout

    def recv(self, size, flags=0):
        # A pipe that nobody has opened for writing yet reads as ended, but poll() reports nothing.
        self._wait(self.reading, select.POLLIN)
        return b"" if flags & socket.MSG_PEEK else os.read(self.reading, size)

    def sendall(self, data):
        while data:
            self._wait(self.writing, select.POLLOUT)
            try:
                data = data[os.write(self.writing, data):]
            except BlockingIOError:
                time.sleep(0.001)  # less room than for a whole small write

    def shutdown(self, _how):
        """What is in a pipe that no other process has opened is lost with its last descriptor."""
        if self.writing is not None:
            end = time.monotonic() + DEADLINE
            while os.path.exists(self.path) and time.monotonic() < end:
                time.sleep(0.001)
            os.close(self.writing)
            self.writing = None

    def close(self):
        self.shutdown(socket.SHUT_WR)
        if self.reading is not None:
            os.close(self.reading)
            self.reading = None


def is_pipes_folder(path):
    return not path.startswith("@") and os.path.exists(path) and stat.S_ISDIR(os.stat(path).st_mode)
