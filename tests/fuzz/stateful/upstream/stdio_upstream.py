"""The scripted upstream as a local server: the daemon's child passes its stdin and stdout on to here."""

import asyncio
import json
import os
import sys

from .writing import write
from .one_stream import OneStreamUpstream

RELAY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../end_to_end/harness/stdio_relay.py")


class StdioUpstream(OneStreamUpstream):
    def __init__(self, ledger, choices):
        super().__init__(ledger, choices, "stdio")

    async def listen(self, path):
        self.listener = await asyncio.start_unix_server(self.handle, path, limit=1 << 24)
        return [sys.executable, "-S", "-E", RELAY, path]

    async def connection(self, reader, writer):
        session = self.open_session()
        self.note(f"a child runs: {session.name}")
        writing = asyncio.ensure_future(self._write(session, writer))
        try:
            while line := await reader.readline():
                # What came before the end of a run is not read after it.
                if session.lost:
                    break
                self.take(json.loads(line), session)
        finally:
            if not session.lost and session is self.session:
                self.end_session("the child has ended")
            session.log.end()
            await asyncio.gather(writing, return_exceptions=True)

    @staticmethod
    async def _write(session, writer):
        try:
            async for _, data in session.log.read(0):
                await write(writer, data + b"\n")
        except ConnectionError:
            pass
        finally:
            writer.close()
