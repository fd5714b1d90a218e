"""A subscriber of /mcp/stream: takes nothing and is dropped rather than waited for."""

import asyncio
import json

from .face import STREAM, FaceRequest


class Watcher:
    def __init__(self, name, world, choices):
        self.name, self.world, self.choices = name, world, choices

    async def live(self):
        request = FaceRequest(self.world.face_port, "GET", "/mcp/stream", {"Accept": STREAM}, receive_buffer=4096)
        try:
            await request.send()
            status = await request.status()
            if status != 200:
                self.world.ledger.violation(f"{self.name}: status {status} to GET /mcp/stream")
                return
            await asyncio.wait_for(self._read(request), self.choices.random())
        except (OSError, asyncio.TimeoutError):
            pass
        finally:
            request.close(politely=self.choices.chance(0.5))

    async def _read(self, request):
        pause = self.choices.chance(0.3)
        async for _, data in request.messages():
            uri = (json.loads(data).get("params") or {}).get("uri")
            if uri and not self.world.ledger.policy.allows("face", "resources", uri):
                self.world.ledger.violation(f"{self.name}: is told of {uri}, which its policy hides", self.name)
            if pause:
                await asyncio.sleep(0.05)
