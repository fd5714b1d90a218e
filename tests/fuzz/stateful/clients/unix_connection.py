"""A connection to the Unix socket: what comes is recorded at once, so that who is killed knows what it had read."""

import asyncio
import socket

from .answering import Answering
from .reading import Reader


class UnixConnection(Answering):
    def __init__(self, name, world, choices):
        self.name, self.world, self.choices = name, world, choices
        self.ledger = world.ledger
        self.reader = Reader(name, self.ledger)
        self.loop = asyncio.get_running_loop()
        self.socket = None
        self.closed = asyncio.Event()      # the daemon closed, or we did
        self.changed = asyncio.Event()     # something came
        self.rest = b""
        self.portion = 8192 if choices.chance(0.15) else 1 << 16
        self.writing = asyncio.Lock()
        self.left = False
        self.half_closed = False

    def note(self, what):
        self.ledger.note(self.name, what)

    async def connect(self):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
        if self.choices.chance(0.2):
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        await self.loop.sock_connect(self.socket, self.world.socket_path)
        self.note("connects")
        self._go_on()

    # Sending.

    async def send(self, lines, calls=()):
        data = b"".join(line + b"\n" for line in lines)
        for call in calls:
            self.reader.sent(call)
        async with self.writing:
            await self._send_in_parts(data)

    async def _send_in_parts(self, data):
        self.note(f"> {data[:300].decode(errors='replace')}")
        if self.choices.chance(0.1) and len(data) > 4:
            cut = self.choices.randrange(1, len(data))
            await self._write(data[:cut])
            await asyncio.sleep(self.choices.random() * 0.02)
            data = data[cut:]
        await self._write(data)

    async def _write(self, data):
        try:
            await asyncio.wait_for(self.loop.sock_sendall(self.socket, data), self.world.patience)
        except asyncio.TimeoutError:
            self.ledger.violation(f"{self.name}: the daemon reads nothing for {self.world.patience} s", self.name)
            raise ConnectionError from None

    async def send_answer(self, data):
        try:
            await self.send([data])
        except OSError:
            pass

    # Receiving.

    def _read(self):
        """Called by the loop: what is received is recorded at once, so that a client that is killed knows what it read."""
        try:
            data = self.socket.recv(self.portion)
        except BlockingIOError:
            return
        except ConnectionError:
            data = b""
        if not data:
            self._closed_by_daemon()
            return
        *lines, self.rest = (self.rest + data).split(b"\n")
        for line in lines:
            self.reader.message(line)
        self.answer_questions()
        self._wake()

    def _closed_by_daemon(self):
        self.note("was closed by the daemon")
        self._stop()
        missing = self.reader.missing()
        if self.half_closed and missing:
            self.reader.violation(f"half-closed, and closed without an answer to {[str(call) for call in missing]}",
                                  *[call.key for call in missing])
        self._excuse("the daemon closed the connection")
        self.closed.set()
        self._wake()

    def _go_on(self):
        if not self.left and not self.closed.is_set():
            self.loop.add_reader(self.socket, self._read)

    def _stop(self):
        self.loop.remove_reader(self.socket)

    def _wake(self):
        changed, self.changed = self.changed, asyncio.Event()
        changed.set()

    async def until(self, condition, patience, anew=False):
        """`anew`: with each answer the patience begins anew."""
        end, waiting = self.loop.time() + patience, len(self.reader.outstanding)
        while not condition():
            if anew and len(self.reader.outstanding) < waiting:
                end, waiting = self.loop.time() + patience, len(self.reader.outstanding)
            changed = self.changed
            left = end - self.loop.time()
            if left <= 0:
                return False
            try:
                await asyncio.wait_for(changed.wait(), left)
            except asyncio.TimeoutError:
                return condition()
        return True

    # Leaving.

    def _excuse(self, why):
        for calls in self.reader.outstanding.values():
            for call in calls:
                call.excused = call.excused or why

    def end(self):
        self.left = True
        self._stop()
        self.socket.close()
        self._excuse("the connection was closed")
        self.closed.set()
