"""A client of the Unix socket whose whole life is drawn from its seed."""

import asyncio
import socket

from plan import make_plan, read_plan
from policy import Grant, draw_lists

from . import frames
from .any_door import AnyDoor


class UnixClient(AnyDoor):
    def __init__(self, name, world, choices):
        super().__init__(name, world, choices)
        self.calls = 0
        self.grant = None
        # A sequence of its own: the other choices of a seed are the same without grants.
        self.of_grants = choices.of("grant")

    # Life.

    async def live(self):
        await asyncio.sleep(self.choices.pause(0.3))
        await self.connect()
        try:
            if self.of_grants.chance(0.25):
                await self._use_grant()
            if self.choices.chance(0.1):
                await self._peek()
            if self.choices.chance(0.3):
                await self._greet()
            for _ in range(self.choices.pick({1: 3, 4: 4, 12: 3, 30: 1})):
                if self.closed.is_set():
                    break
                if self.grant and self.of_grants.chance(0.05):
                    await self._revoke()
                await self._act()
            await self._leave()
        except (ConnectionError, BrokenPipeError):
            self.note("was disconnected")
        finally:
            self.end()

    async def _act(self):
        action = self.choices.pick({"calls": 12, "reads": 4, "lists": 1, "ping": 1, "control": 2, "notify": 2, "cancel": 2,
                                    "bad": 1, "batch": 1, "sleep": 4, "wait": 3, "stop_reading": 1, "subscribe": 1,
                                    "same_id": 0.7, "stray_answer": 0.7, "level": 0.5, "empty": 0.3})
        await getattr(self, "_" + action)()

    async def _greet(self):
        call = self.new("initialize")
        capabilities = frames.CAPABILITIES if self.choices.chance(0.7) else {}
        await self.send([frames.initialize(call.raw_id, capabilities)], [call])
        if self.choices.chance(0.9):
            await self.send([frames.notification("notifications/initialized")])

    async def _peek(self):
        """Takes nothing from now on, and has taken nothing."""
        self.reader.takes = False
        await self.send([frames.notification("bridge/peek")])

    async def _use_grant(self):
        """One, or a child of one; what follows does not wait for the answer."""
        lists = draw_lists(self.of_grants)
        if not lists:
            return
        grant = Grant(lists)
        grant.string, grant.id = await self.world.issue(lists)
        self.grant = grant
        call = self.new("bridge/use")
        await self.send([frames.request(call.raw_id, "bridge/use", {"grant": grant.string})], [call])

    async def _revoke(self):
        if self.grant.may_have_ended:
            return
        self.grant.may_have_ended = True
        await self.world.revoke(self.grant.id)
        self.grant.has_ended = True
        self.note("its grant was revoked")

    # What it does.

    def new(self, method, key=False, plan=None, raw=None):
        self.calls += 1
        raw = raw or frames.raw_id(self.choices, self.calls)
        name = f"{self.name}-{self.calls}" if key else None
        call = self.ledger.call(self.name, raw, method, name, plan)
        call.grant, call.grant_has_ended = self.grant, self.grant is not None and self.grant.has_ended
        return call

    def _new_call(self, raw=None):
        call = self.new("tools/call", True, make_plan(self.choices, self.world.kind), raw)
        frames.give_token(call, self.choices, self.calls)
        return call, frames.request(call.raw_id, "tools/call", frames.call_params(call))

    async def _calls(self):
        made = [self._new_call() for _ in range(self.choices.pick({1: 5, 3: 2, 10: 1}))]
        await self.send([frame for _, frame in made], [call for call, _ in made])

    async def _reads(self):
        call = self.new("resources/read", True, read_plan(self.choices))
        await self.send([frames.request(call.raw_id, "resources/read", {"uri": call.plan["uri"], "echo": call.key})], [call])

    async def _lists(self):
        call = self.new("tools/list")
        await self.send([frames.request(call.raw_id, "tools/list")], [call])

    async def _ping(self):
        call = self.new("ping")
        await self.send([frames.request(call.raw_id, "ping")], [call])

    async def _control(self):
        method = self.choices.choice(["bridge/status", "bridge/notifications", "bridge/metrics", "bridge/nonsense"])
        call = self.new(method)
        await self.send([frames.request(call.raw_id, method)], [call])

    async def _notify(self):
        self.calls += 1
        key = f"{self.name}-n{self.calls}"
        await self.send([frames.notification("notifications/fuzz", {"key": key})])

    async def _cancel(self):
        waiting = [call for calls in self.reader.outstanding.values() for call in calls
                   if call.method in ("tools/call", "resources/read")]
        if not waiting:
            return
        call = self.choices.choice(waiting)
        for same in self.reader.outstanding[call.raw_id]:
            same.cancelled = True
        await self.send([b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}'
                          % call.raw_id.encode()])

    async def _bad(self):
        raw = self.choices.choice(sorted(self.reader.outstanding) or ["1"])
        await self.send([frames.disguised(self.choices, raw) if self.choices.chance(0.5) else
                         self.choices.choice(frames.BAD_LINES)])

    async def _batch(self):
        made = [self._new_call() for _ in range(self.choices.randrange(1, 4))]
        await self.send([b"[" + b",".join(frame for _, frame in made) + b"]"], [call for call, _ in made])

    async def _same_id(self):
        """An id that is in flight, again."""
        if self.reader.outstanding:
            raw = self.choices.choice(list(self.reader.outstanding))
            call, frame = self._new_call(raw)
            for same in [call, *self.reader.outstanding[raw]]:
                same.ambiguous = True
            await self.send([frame], [call])

    async def _stray_answer(self):
        await self.send([frames.answer(self.choices.randrange(1, 9), {"marker": f"{self.name}/stray"})])

    async def _subscribe(self):
        method = self.choices.choice(["resources/subscribe", "resources/unsubscribe"])
        call = self.new(method)
        await self.send([frames.request(call.raw_id, method, {"uri": f"fuzz://{self.choices.randrange(3)}"})], [call])

    async def _level(self):
        call = self.new("logging/setLevel")
        await self.send([frames.request(call.raw_id, "logging/setLevel", {"level": "info"})], [call])

    async def _empty(self):
        await self.send([b"", b"\r"])

    async def _sleep(self):
        await asyncio.sleep(self.choices.random() * 0.05)

    async def _wait(self):
        """For an answer, but not for long: the next thing comes while others are under way."""
        if self.reader.outstanding:
            await self.until(lambda: len(self.reader.outstanding) == 0, self.choices.random() * 0.2)

    async def _stop_reading(self):
        self.note("stops reading")
        self._stop()
        self.loop.call_later(self.choices.random() * 0.6, self._go_on)

    # Leaving.

    async def _leave(self):
        how = self.choices.pick({"stay": 5, "half_close": 3, "kill": 2, "kill_unread": 2})
        self.note(f"leaves: {how}")
        if how == "kill_unread":
            self._stop()
            await asyncio.sleep(self.choices.random() * 0.1)
        if how.startswith("kill"):
            self._excuse("the client was killed")
            return
        self._go_on()
        if how == "half_close":
            self.half_closed = True
            self.socket.shutdown(socket.SHUT_WR)
            if not await self.until(self.closed.is_set, self.world.patience, anew=True):
                self.ledger.violation(f"{self.name}: half-closed, and not closed after {self.world.patience} s; "
                                      f"waits for {[str(call) for call in self.reader.missing()]}", self.name)
        elif not await self.until(lambda: not self.reader.missing() or self.closed.is_set(), self.world.patience,
                                anew=True):
            missing = self.reader.missing()
            self.ledger.violation(f"{self.name}: no answer after {self.world.patience} s to "
                                  f"{[str(call) for call in missing]}", self.name, *[call.key for call in missing])
        else:
            await self._stay()

    async def _stay(self):
        """Everything was answered: reads on while others are at work."""
        if self.choices.chance(0.5):
            await self.world.wait_for_others(self.closed)
