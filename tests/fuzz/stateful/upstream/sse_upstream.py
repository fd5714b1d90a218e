"""The scripted upstream as a server of HTTP+SSE (2024-11-05)."""

import asyncio
import json

import wire

from .writing import REFUSALS, STREAM, write
from .one_stream import OneStreamUpstream


class SseUpstream(OneStreamUpstream):
    def __init__(self, ledger, choices):
        super().__init__(ledger, choices, "sse")

    async def listen(self):
        self.listener = await asyncio.start_server(self.handle, "127.0.0.1", 0, limit=1 << 24)
        return f"http://127.0.0.1:{self.listener.sockets[0].getsockname()[1]}/sse"

    async def connection(self, reader, writer):
        while (head := await wire.read_head(reader)) is not None:
            body = await reader.readexactly(int(head.get("content-length", 0)))
            method, path, _ = head.first.split(" ")
            if method == "GET" and not head.asks_for_login:
                await self._stream(reader, writer)
                break
            status = 404 if head.asks_for_login else self._post(path, body)
            headers = dict(REFUSALS.values()).get(status, [])
            writer.write(wire.answer_head(status, [*headers, ("Content-Length", 0)]))
            await writer.drain()

    async def _stream(self, reader, writer):
        session = self.open_session()
        self.note(f"GET opens {session.name}")
        writer.write(wire.answer_head(200, [STREAM, ("Connection", "close")]))
        writer.write(wire.event(f"/message?s={session.name}".encode(), name="endpoint"))

        async def pump():
            async for _, data in session.log.read(0):
                await write(writer, wire.event(data))

        pumping, gone = asyncio.ensure_future(pump()), asyncio.ensure_future(reader.read(1))
        await asyncio.wait([pumping, gone], return_when=asyncio.FIRST_COMPLETED)
        pumping.cancel()
        gone.cancel()
        await asyncio.gather(pumping, gone, return_exceptions=True)
        if session is self.session:
            self.end_session("its stream is closed")

    def _post(self, path, body):
        session = self.session
        if path == "/sse":
            return 405
        if session is None or session.lost or not path.endswith("=" + session.name):
            return 404
        message = json.loads(body)
        if message.get("method") == "tools/call":
            arguments = message["params"]["arguments"]
            refusal = arguments["plan"].get("refuse")
            # A second arrival is what the bridge may have sent again.
            if refusal and arguments["key"] not in self.ledger.arrived:
                self.ledger.arrive(arguments["key"])
                self.note(f"refuses {arguments['key']}: {refusal}")
                if refusal == "500":
                    self.ledger.act(arguments["key"])
                return REFUSALS[refusal][0]
        self.take(message, session)
        return 202
