"""A session of the HTTP frontend: its own stream, broken and resumed; POSTs of every kind; DELETE or just gone."""

import asyncio

from . import frames
from .face import STREAM
from .face_posts import FacePosts


class HttpSession(FacePosts):
    def __init__(self, name, world, choices):
        super().__init__(name, world, choices)
        self.stream = None          # the connection of the session's own stream
        self.last_id = None
        self.declared = choices.chance(0.7)
        self.listens = choices.chance(0.7)
        self.breaks_streams = choices.chance(0.3)

    async def live(self):
        await asyncio.sleep(self.choices.pause(0.3))
        await self.use_grant()
        if not await self._open():
            return
        self.listening = asyncio.ensure_future(self._listen()) if self.listens else None
        try:
            for _ in range(self.choices.pick({2: 3, 6: 3, 15: 1})):
                await self._act()
                await self.revoke_grant()
            await self._leave()
        finally:
            self.is_over()
            if self.listening:
                self.listening.cancel()
                await asyncio.gather(self.listening, return_exceptions=True)

    async def _open(self):
        call, frame = self.new_plain("initialize", {
            "protocolVersion": "2025-11-25", "capabilities": frames.CAPABILITIES if self.declared else {},
            "clientInfo": {"name": "fuzz", "version": "1"}})
        self.reader.sent(call)
        request = self.request("POST", "/mcp", {}, frame)
        try:
            await asyncio.wait_for(self._exchange(request, [call]), self.world.patience)
        except asyncio.TimeoutError:
            self.reader.violation("initialize is not answered")
        except OSError as error:
            self.reader.violation(f"initialize: {error}")
        finally:
            request.close()
        self.session = request.head and request.head.get("mcp-session-id")
        if self.session and self.choices.chance(0.9):
            await self.send_answer(frames.notification("notifications/initialized"))
        return self.session

    async def _act(self):
        action = self.choices.pick({"call": 8, "array": 1, "put_off_call": 2, "broken": 2, "ping": 1, "notify": 1, "cancel": 1,
                                    "break_stream": 2 if self.breaks_streams else 0.01, "sleep": 4, "wait": 2})
        await getattr(self, "_" + action)()

    async def _call(self):
        self.post_in_background([self.new_call()], self.choices.choice(["json", "stream", "both"]))

    async def _array(self):
        self.post_in_background([self.new_call() for _ in range(3)], self.choices.choice(["json", "stream"]))

    async def _put_off_call(self):
        self.post_in_background([self.new_call()], "json", put_off=True)

    async def _broken(self):
        self.post_in_background([self.new_call()], self.choices.choice(["json", "stream"]),
                                breaks=self.choices.random() * 0.1)

    async def _ping(self):
        self.post_in_background([self.new_plain("ping")], "json")

    async def _notify(self):
        self.calls += 1
        await self.send_answer(frames.notification("notifications/fuzz", {"key": f"{self.name}-n{self.calls}"}))

    async def _cancel(self):
        waiting = [call for calls in self.reader.outstanding.values() for call in calls if call.key]
        if waiting:
            call = self.choices.choice(waiting)
            call.cancelled = True
            await self.send_answer(b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}'
                                   % call.raw_id.encode())

    async def _break_stream(self):
        if self.stream:
            self.note("breaks its stream")
            self.stream.close(politely=self.choices.chance(0.5))

    async def _sleep(self):
        await asyncio.sleep(self.choices.random() * 0.1)

    async def _wait(self):
        await self.posts_done()

    # The session's own stream.

    async def _listen(self):
        while not self.over:
            headers = {"Accept": STREAM, **({"Last-Event-ID": self.last_id} if self.last_id else {})}
            self.stream = self.request("GET", "/mcp", headers)
            try:
                await self.stream.send()
                status = await self.stream.status()
                self.note(f"GET from {self.last_id}: {status}")
                if status != 200:
                    # 409: the daemon has not noticed yet that the one before is gone.
                    if status in (401, 404):
                        break
                    await asyncio.sleep(0.02)
                    continue
                async for _, data in self.stream.messages():
                    self.last_id = self.stream.last_id
                    self.take(data)
                if self.over:
                    return
            except OSError:
                pass
            finally:
                self.last_id = self.stream.last_id or self.last_id
                self.stream.close()
            # What the kernel had acknowledged and was not read is in the store, if that is large enough.
            if not self.last_id or self.world.forgets_streams:
                self.ledger.unread_streams.append(self.name)

    async def after_break(self, request):
        """Goes on with the stream of a POST that broke, on a connection of its own."""
        if not request.last_id or not self.session or self.choices.chance(0.5):
            return
        self.note(f"resumes from {request.last_id}")
        again = self.request("GET", "/mcp", {"Accept": STREAM, "Last-Event-ID": request.last_id})
        try:
            await again.send()
            if await again.status() == 200:
                await asyncio.wait_for(self._read_rest(again), self.choices.random() * 2)
        except (OSError, asyncio.TimeoutError):
            pass
        finally:
            again.close()

    async def _read_rest(self, request):
        async for _, data in request.messages():
            self.take(data)

    # Leaving.

    async def _leave(self):
        how = self.choices.pick({"delete": 6, "delete_at_once": 2, "abandon": 1})
        self.note(f"leaves: {how}")
        if how == "delete":
            await self.posts_done()
            await self._put_off_answers()
        if how == "abandon":
            self._abandon()
            return
        self.over = True
        request = self.request("DELETE", "/mcp")
        try:
            await request.send()
            status = await request.status()
            if status not in (200, 202, 204, 404) and not (status == 401 and self.may_be_refused()):
                self.reader.violation(f"status {status} to a DELETE")
        except OSError:
            pass
        finally:
            request.close()
        await self.posts_done()
        await self._stream_ends()

    def _abandon(self):
        self.over = True
        for task in self.posts:
            task.cancel()
        if self.stream:
            self.ledger.unread_streams.append(self.name)
            self.stream.close(politely=False)

    async def _stream_ends(self):
        """The stream of a session that is deleted ends, and is read to its end."""
        if self.listening:
            done, _ = await asyncio.wait([self.listening], timeout=self.world.patience)
            if not done:
                self.reader.violation("the stream of a deleted session does not end")
            elif self.listening.exception():
                raise self.listening.exception()

    async def _put_off_answers(self):
        """They come on the session's stream while there is one."""
        if self.listens and not self.breaks_streams:
            await self.all_answered("put off and not answered:")
