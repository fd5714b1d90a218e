"""The clients of the crash test: each records what it was told, up to the moment at which the daemon dies under it."""

import asyncio
import json

from peers import make_plan

CONNECTION_LIMIT = 1 << 24


class Line:
    """A connection to the daemon's socket; its reads end with None when the daemon is no more."""

    def __init__(self, world, name):
        self.world, self.name, self.ledger = world, name, world.ledger
        self.reader = self.writer = None
        self.last_serial = 0

    async def __aenter__(self):
        """Waits for a daemon that accepts."""
        while True:
            try:
                self.reader, self.writer = await asyncio.open_unix_connection(self.world.socket_path,
                                                                              limit=CONNECTION_LIMIT)
                return self
            except OSError:
                await asyncio.sleep(0.005)

    async def __aexit__(self, *_):
        # For the daemon, what this process has received was read: record all of it, and receive no more.
        self.writer.transport.pause_reading()
        self.reader.feed_eof()
        while await self.read() is not None:
            pass
        self.writer.close()

    async def send(self, *messages):
        try:
            for message in messages:
                self.writer.write(json.dumps({"jsonrpc": "2.0", **message}, separators=(",", ":")).encode() + b"\n")
            await self.writer.drain()
        except ConnectionError:
            pass  # the next read says so

    async def read(self):
        """The next answer; what else comes is recorded. None: the connection is no more."""
        while True:
            try:
                line = await self.reader.readline()
            except ConnectionError:
                line = b""
            if not line.endswith(b"\n"):
                return None
            message = json.loads(line)
            if "method" not in message:
                return message
            self._notification(message)

    async def request(self, method, params=None, id=1):
        await self.send({"id": id, "method": method, **({"params": params} if params is not None else {})})
        return await self.read()

    def _notification(self, message):
        serial = (message.get("params") or {}).get("serial")
        if serial is None:
            return
        self.ledger.note(self.name, f"is told of {serial}")
        if serial <= self.last_serial:
            self.ledger.violation(f"{self.name} is told of {serial} after {self.last_serial}", f" {serial}")
        self.last_serial = serial
        self.ledger.notifications[serial].takers.append(self.name)


async def repeat(world, name, life):
    """One life after the other, each with a number of its own, until the load ends."""
    number = 0
    choices = world.choices.of(name)
    while not world.load_ends.is_set():
        number += 1
        async with Line(world, f"{name}-{number}") as line:
            await life(line, choices)
        await asyncio.sleep(choices.pause(0.05))


async def caller(line, choices):
    """Some calls at once; each is answered, or the daemon died with it."""
    calls = {}
    for id in range(1, choices.pick({1: 4, 3: 2, 8: 1}) + 1):
        plan = make_plan(choices, line.world.kind)
        calls[id] = line.ledger.call(line.name, str(id), "tools/call", f"{line.name}/{id}", plan)
    await line.send(*[{"id": id, "method": "tools/call", "params": {
        "name": "act", "arguments": {"key": call.key, "plan": call.plan}}} for id, call in calls.items()])
    for _ in calls:
        message = await line.read()
        if message is None:
            return
        call = calls[message["id"]]
        call.answers.append(message)
        line.ledger.note(line.name, f"is answered {call.key}: {json.dumps(message)[:200]}")


async def listener(line, choices):
    """Reads for a while, then leaves in order: what it was given it has read."""
    await line.request("ping")
    try:
        await asyncio.wait_for(line.read(), choices.random() * 0.3)
    except asyncio.TimeoutError:
        pass
    try:
        line.writer.write_eof()
        await line.read()
    except OSError:
        pass


async def watcher(line, choices):
    """Looks into the ring: whatever stands there was accepted."""
    world = line.world
    since = max(world.accepted, default=0)
    # The last ones again: their numbers have to stay what they were.
    answer = await line.request("bridge/notifications", {"since": max(0, since - choices.pick({0: 5, 20: 1, 900: 0.2}))})
    if answer is None:
        return
    result = answer["result"]
    if world.instance not in (None, result["instance"]):
        line.ledger.violation(f"the instance was {world.instance} and is {result['instance']}")
    world.instance = result["instance"]
    for entry in result["notifications"]:
        serial = entry["message"].get("params", {}).get("serial")
        known = world.accepted.setdefault(entry["seq"], serial)
        if known != serial:
            line.ledger.violation(f"number {entry['seq']} of the ring was notification {known} and is {serial}",
                                  f" {known}", f" {serial}")
    if since > result["newest"]:
        line.ledger.violation(f"the ring had number {since}, and its newest is {result['newest']}")
    await asyncio.sleep(0.02)

