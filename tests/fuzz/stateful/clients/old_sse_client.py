"""A client of the face's HTTP+SSE (2024-11-05): one stream, and POSTs that are answered on it."""

import asyncio

from .face import STREAM
from .face_posts import FacePosts


class OldSseClient(FacePosts):
    async def live(self):
        await asyncio.sleep(self.choices.pause(0.3))
        stream = self.request("GET", "/sse", {"Accept": STREAM})
        try:
            await stream.send()
            status = await stream.status()
            if status != 200:
                self.reader.violation(f"status {status} to GET /sse")
                return
            reading = asyncio.ensure_future(self._read(stream))
            try:
                await self._work()
            finally:
                self.is_over()
                reading.cancel()
                await asyncio.gather(reading, return_exceptions=True)
        finally:
            # What is unread now was acknowledged by the kernel.
            self.ledger.unread_streams.append(self.name)
            stream.close(politely=self.choices.chance(0.5))

    async def _read(self, stream):
        self.endpoint = asyncio.get_running_loop().create_future()
        async for name, data in stream.messages():
            if name == "endpoint":
                self.endpoint.set_result(data.decode())
            else:
                self.take(data)

    async def _work(self):
        await asyncio.sleep(0)
        self.path = await asyncio.wait_for(self.endpoint, self.world.patience)
        for _ in range(self.choices.randrange(1, 8)):
            await asyncio.sleep(self.choices.pause(0.05))
            await self.post([self.new_call()], "json")
        await self.all_answered("no answer on the stream to")
