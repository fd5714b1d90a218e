"""A client of the Unix socket, or of a folder of pipes, that speaks one JSON-RPC message a line."""

import json
import select
import socket
import time

from .frames import call, request
from .pipe_ends import PipeEnds, is_pipes_folder
from .waiting import DEADLINE


class Closed(AssertionError):
    """The daemon closed the connection where a line was expected."""


class Client:
    def __init__(self, path, receive_buffer=None):
        self.socket = PipeEnds(path) if is_pipes_folder(path) else self._connected(path, receive_buffer)
        self.buffer = b""
        self.others = []
        self.fences = 0

    @staticmethod
    def _connected(path, receive_buffer):
        connected = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        if receive_buffer:
            connected.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        try:
            connected.connect("\0" + path[1:] if path.startswith("@") else path)
        except OSError:
            connected.close()
            raise
        return connected

    # Sending.

    def send(self, *frames):
        """Each frame as a line: text, bytes, or an object."""
        self.send_raw(b"".join(self._line(frame) for frame in frames))
        return self

    @staticmethod
    def _line(frame):
        if isinstance(frame, (dict, list)):
            frame = json.dumps(frame, separators=(",", ":"))
        return (frame.encode() if isinstance(frame, str) else frame) + b"\n"

    def send_raw(self, data):
        self.socket.settimeout(DEADLINE)
        self.socket.sendall(data)

    # Receiving.

    def raw_line(self, deadline=DEADLINE):
        """The next line without its end, as bytes."""
        end = time.monotonic() + deadline
        parts = [self.buffer]
        while b"\n" not in parts[-1]:
            data = self._receive(end)
            if not data:
                raise Closed(f"closed after {b''.join(parts)[:200]!r}")
            parts.append(data)
        line, _, self.buffer = b"".join(parts).partition(b"\n")
        return line

    def _receive(self, end):
        self.socket.settimeout(max(0.001, end - time.monotonic()))
        try:
            return self.socket.recv(1 << 16)
        except socket.timeout:
            raise AssertionError("no line came") from None

    def line(self, deadline=DEADLINE):
        """The next line as an object."""
        return json.loads(self.raw_line(deadline))

    def lines(self, count):
        return [self.line() for _ in range(count)]

    def answer(self, id=1):
        """The answer to `id`; what comes before it goes to `others`, where an answer that overtook is found."""

        def is_it(message):
            return "method" not in message and message.get("id") == id and isinstance(message["id"], bool) is False

        overtook = next((message for message in self.others if is_it(message)), None)
        if overtook:
            self.others.remove(overtook)
            return overtook
        while True:
            message = self.line()
            if is_it(message):
                return message
            self.others.append(message)

    def request(self, method, params=None, id=1):
        self.send(request(method, params, id))
        return self.answer(id)

    def call(self, tool, arguments=None, id=1, token=None):
        self.send(call(tool, arguments, id, token))
        return self.answer(id)

    def fence(self):
        """All that came before an answer that was asked for now: what is not in it was not sent before."""
        self.fences += 1
        id = f"fence-{self.fences}"
        self.others = []
        self.call("echo", {"message": "fence"}, id)
        before, self.others = self.others, []
        return before

    def readable(self):
        return bool(self.buffer) or bool(select.select([self.socket], [], [], 0)[0])

    def wait_readable(self, deadline):
        """Whether something comes within so many seconds."""
        return bool(self.buffer) or bool(select.select([self.socket], [], [], deadline)[0])

    def rest(self, deadline=DEADLINE):
        """Everything up to the daemon's close."""
        end = time.monotonic() + deadline
        data, self.buffer = self.buffer, b""
        while True:
            try:
                part = self._receive(end)
            except ConnectionResetError:
                return data
            if not part:
                return data
            data += part

    def expect_closed(self, deadline=DEADLINE):
        rest = self.rest(deadline)
        assert rest == b"", f"expected the end, got {rest[:300]!r}"

    # Leaving.

    def half_close(self):
        self.socket.shutdown(socket.SHUT_WR)
        return self

    def close(self):
        self.socket.close()
