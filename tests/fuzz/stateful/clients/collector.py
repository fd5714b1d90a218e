"""The last client of a scenario: takes what nobody has taken, and whatever still is on its way."""

import asyncio
import time

from quiet import until

from . import frames
from .unix_client import UnixClient

# The session's stream is opened again with pauses of up to 30 s.
STREAM_PATIENCE = 45.0


async def collect(world, name):
    """(status, problem): all that was said before has been read, and the ring knows it."""
    client = UnixClient(name, world, world.choices.of(name))
    await client.connect()
    try:
        if problem := await _ping(client, world):
            return {}, problem
        status, problem = await until(world.status, _has_stream, STREAM_PATIENCE)
        if problem:
            return status, problem
        last = world.upstream.notify("updated")
        if last and not await client.until(lambda: last.in_doubt or client.reader.serials & {last.serial}, world.patience):
            return status, f"notification {last.serial}, said when all is quiet, does not come"
        return await until(world.status, lambda now: not now["ring"]["untaken"], world.patience)
    finally:
        client.end()


async def _ping(client, world):
    """What is wrong, or None. A lost session that its server does not call so with 404 is found by a check, of which
    there is not always one at once (BEHAVIOUR, "Session: suspected loss")."""
    end = time.monotonic() + STREAM_PATIENCE
    while True:
        call = client.new("ping")
        await client.send([frames.request(call.raw_id, "ping")], [call])
        if not await client.until(lambda: call.answers, world.patience):
            return "a ping is not answered when all is quiet"
        kind, details = call.answers[0]
        if kind == "result":
            return None
        if kind != "upstream" or "session" not in details["message"].lower() or time.monotonic() > end:
            return f"a ping fails when all is quiet: {call.answers[0]}"
        await asyncio.sleep(0.2)


def _has_stream(status):
    return status["upstream"]["state"] in ("open", "refused") and status["upstream"]["stream"] in ("open", "none", "off")
