"""Quiet: nothing in flight, nobody connected, and the daemon as small as it was."""

import asyncio

from world import open_files

MEGABYTE = 1 << 20
# Connections to the upstream that may be kept for the next request, and the stream of the session.
IDLE_CONNECTIONS = 17


async def until_quiet(world, patience=20.0):
    """The status then; (status, problem) if it does not come."""

    def quiet(status):
        requests = status["requests"]
        return (not requests["inFlight"] and not requests["queued"] and not requests["parked"] and
                len(status["clients"]) == 1 and not status["clients"][0]["queuedBytes"])

    return await until(world.status, quiet, patience)


async def until(look, condition, patience):
    loop = asyncio.get_running_loop()
    end, pause = loop.time() + patience, 0.01
    while True:
        state = await look()
        if condition(state):
            return state, None
        if loop.time() > end:
            return state, f"not within {patience} s: {state}"
        await asyncio.sleep(pause)
        pause = min(pause * 1.5, 0.3)


class Footprint:
    """Descriptors and anonymous memory of the daemon at one moment."""

    def __init__(self, daemon):
        self.descriptors = daemon.fds()
        self.anonymous = daemon.status_field("RssAnon") * 1024

    def __str__(self):
        return f"{self.descriptors} descriptors, {self.anonymous / MEGABYTE:.1f} MiB"


async def until_small(world, start, judge_memory, patience=15.0):
    """The problem if the footprint does not come back to what it was at `start`."""

    async def look():
        return Footprint(world.daemon)

    status = await world.status()
    kept = status["ring"]["bytes"] + status["jobs"]["bytes"]  # and what the allocator keeps between them
    memory = start.anonymous + 8 * MEGABYTE + kept + kept // 4
    footprint, problem = await until(
        look, lambda now: now.descriptors <= start.descriptors + IDLE_CONNECTIONS and
        (not judge_memory or now.anonymous <= memory), patience)
    if not problem:
        return None
    return f"was {start}, is {footprint} with {status['ring']['bytes']} bytes in the ring, {status['jobs']['bytes']} of jobs: {sorted(open_files(world.daemon.pid))}"
