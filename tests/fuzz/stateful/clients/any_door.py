"""A connection by the Unix socket or by pipes, as it is drawn."""

import asyncio
import fcntl
import os
import select

from harness.pipe_ends import PipeEnds

from .unix_connection import UnixConnection


class AnyDoor(UnixConnection):
    async def connect(self):
        # A sequence of its own: the other choices of a seed are the same at each door.
        if not self.choices.of("door").chance(0.4):
            return await super().connect()
        self.socket = PipeEnds(self.world.socket_path + ".pipes")
        if self.choices.chance(0.2):
            fcntl.fcntl(self.socket.reading, fcntl.F_SETPIPE_SZ, 4096)
        self.note("connects by pipes")
        self._go_on()

    async def _write(self, data):
        if not isinstance(self.socket, PipeEnds):
            return await super()._write(data)
        try:
            await asyncio.wait_for(self._fill_pipe(data), self.world.patience)
        except asyncio.TimeoutError:
            self.ledger.violation(f"{self.name}: the daemon reads nothing for {self.world.patience} s", self.name)
            raise ConnectionError from None

    async def _fill_pipe(self, data):
        """A write never fails, since the client's end is open for reading, too."""
        hang_up = select.poll()
        hang_up.register(self.socket.reading, 0)
        while data:
            if self.left or any(events & select.POLLHUP for _, events in hang_up.poll(0)):
                raise ConnectionResetError
            if self.socket.writing is None:
                raise BrokenPipeError  # half-closed
            try:
                data = data[os.write(self.socket.writing, data):]
            except BlockingIOError:
                await asyncio.sleep(0.002)
