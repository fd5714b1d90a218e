"""The events of one stream: appended by whoever has something to say, written by whoever holds the connection."""

import asyncio


class EventLog:
    """With a `prefix` its events have ids (`prefix-N`), and any number of connections can go on with it."""

    def __init__(self, prefix=None):
        self.prefix = prefix
        self.events = []
        self.ended = False
        self.readers = 0
        self._changed = asyncio.Event()

    def append(self, data):
        self.events.append(data)
        self._wake()

    def end(self):
        self.ended = True
        self._wake()

    def _wake(self):
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    async def wait_for_end(self):
        async for _ in self.read(len(self.events)):
            pass

    def id_of(self, index):
        return f"{self.prefix}-{index + 1}" if self.prefix else None

    def after(self, event_id):
        """The index behind an id of this log; None for one of another."""
        prefix, _, number = event_id.rpartition("-")
        return int(number) if prefix == self.prefix else None

    async def read(self, start):
        """(index, data) from `start` on, as they come, up to the end."""
        self.readers += 1
        try:
            index = start
            while True:
                changed = self._changed
                while index < len(self.events):
                    yield index, self.events[index]
                    index += 1
                if self.ended:
                    return
                await changed.wait()
        finally:
            self.readers -= 1
