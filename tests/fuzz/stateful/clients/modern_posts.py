"""A client of MCP 2026-07-28 on the HTTP frontend: each POST stands for itself, and has headers that say what it is."""

import asyncio

from plan import make_plan, read_plan

from . import frames
from .face_posts import FacePosts
from .modern_client import ModernReader, arguments_of, framed, names_too_much, responses_to, wanted


class ModernPosts(FacePosts):
    def __init__(self, name, world, choices):
        super().__init__(name, world, choices)
        self.reader = ModernReader(name, self.ledger, one_stream=False, side="face")
        self.listening = None

    async def live(self):
        await asyncio.sleep(self.choices.pause(0.3))
        await self.use_grant()
        try:
            for _ in range(self.choices.pick({2: 3, 6: 3, 15: 1})):
                action = self.choices.pick({"call": 8, "broken": 2, "plain": 2, "wait": 2, "sleep": 3, "listen": 0.3})
                await getattr(self, "_" + action)()
                await self.revoke_grant()
            await self._wait()
        finally:
            self.is_over()
            if self.listening:
                self.listening.cancel()
                await asyncio.gather(self.listening, return_exceptions=True)

    # What it sends.

    def headers_of(self, made):
        call, _ = made[0]
        named = call.plan.get({"tools/call": "tool", "resources/read": "uri"}.get(call.method))
        return {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": call.method, **({"Mcp-Name": named} if named else {})}

    def _framed(self, call, params, capable=False):
        return call, framed(call, call.method, params, capable)

    def _new(self, method, key=None, plan=None):
        self.calls += 1
        return self.with_grant(self.ledger.call(self.name, frames.raw_id(self.choices, self.calls), method, key, plan, self.side))

    def new_call(self):
        call = self._new("tools/call", f"{self.name}-{self.calls + 1}", make_plan(self.choices, self.world.kind))
        frames.give_token(call, self.choices, self.calls)
        return self._framed(call, arguments_of(call), self.choices.chance(0.6))

    # What it does.

    async def _call(self):
        self.post_in_background([self.new_call()], self.choices.choice(["json", "stream", "both"]))

    async def _broken(self):
        self.post_in_background([self.new_call()], self.choices.choice(["json", "stream"]), breaks=self.choices.random() * 0.1)

    async def _plain(self):
        method = self.choices.choice(["server/discover", "resources/read", "tools/list"])
        key = f"{self.name}-{self.calls + 1}" if method == "resources/read" else None
        plan = read_plan(self.choices) if key else None
        params = {"uri": plan["uri"], "echo": key} if key else {}
        self.post_in_background([self._framed(self._new(method, key, plan), params)], "both")

    async def _sleep(self):
        await asyncio.sleep(self.choices.random() * 0.1)

    async def _wait(self):
        await self.posts_done()
        while self.reader.questions:
            self._answer_results()
            await self.posts_done()

    def _answer_results(self):
        """Goes on with what it was asked: with all answers, with none, or not at all."""
        while self.reader.questions:
            asked, result = self.reader.questions.pop()
            how = self.choices.pick({"answer": 8, "nothing": 1, "ignore": 1})
            if how == "ignore":
                continue
            call = self._new("tools/call")
            call.key, call.plan = asked.key, asked.plan
            made = self._framed(call, {**arguments_of(asked), **responses_to(result, self, 0, how == "answer")}, True)
            call.partial = True  # some of its progress came before
            call.goes_on = True
            self.post_in_background([made], "stream")

    async def _listen(self):
        """Closing its stream is all that ends it; what was not read by then is lost."""
        if self.listening is None:
            self.ledger.unread_streams.append(self.name)
            self.listening = asyncio.ensure_future(self._listens())

    async def _listens(self):
        reader = ModernReader(f"{self.name}l", self.ledger, side=self.side)
        call = self._new("subscriptions/listen")
        call.cancelled = True
        filter = wanted(self.choices)
        call.names_too_much = names_too_much(filter)
        made = self._framed(call, filter)
        reader.listens = call
        reader.sent(call)
        request = self.request("POST", self.path, {"Accept": "application/json, text/event-stream", **self.headers_of([made])},
                               made[1])
        try:
            await request.send()
            status = await request.status()
            if status != 200 or not request.is_stream():
                self.note(f"listens in vain: {status}")
                return
            async for _, data in request.messages():
                reader.message(data)
        except (ConnectionError, OSError):
            pass
        finally:
            request.close(politely=self.choices.chance(0.5))
