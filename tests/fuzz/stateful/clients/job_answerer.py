"""Answers what is asked about jobs once nobody of those who wait for them has: some other process of the user."""

import asyncio
import json

from .face import JSON, FaceRequest

PAUSE = 0.5


class JobAnswerer:
    def __init__(self, name, world):
        self.name, self.world = name, world

    async def live(self):
        """Until it is cancelled. What is asked for a while stays open, as long as somebody else may answer it."""
        seen = set()
        while True:
            await asyncio.sleep(PAUSE)
            if not (await self.world.status())["jobs"]["inputRequired"]:
                continue
            asked = {(door, job) for door in (self.world.face_port, self.world.face_path) for job in await self._asked(door)}
            for door, job in asked & seen:
                await self._answer(door, job)
            seen = asked

    async def _asked(self, door):
        """The jobs that wait for an answer and that a caller at this door sees: each door has its own users."""
        jobs = (await self._call(door, "bridge/jobs", {})).get("result", {}).get("jobs", [])
        return [job["job"] for job in jobs if job["state"] == "input_required"]

    async def _answer(self, door, job):
        collected = (await self._call(door, "bridge/collect", {"job": job, "waitMs": 0})).get("result", {})
        question = collected.get("question")
        if question is None:
            return
        number = question["params"]["question"]
        marker = f"{self.name}/{number}"
        self.world.ledger.questions[number].given[marker] = self.name
        await self._call(door, "bridge/answer", {"job": job, "questionId": collected["questionId"], "result": {"marker": marker}})

    async def _call(self, door, method, params):
        """The whole response; empty if the connection breaks."""
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
        request = FaceRequest(door, "POST", "/mcp", {"Accept": JSON}, body)
        try:
            await request.send()
            await request.status()
            return json.loads(await request.body())
        except OSError:
            return {}
        finally:
            request.close()
