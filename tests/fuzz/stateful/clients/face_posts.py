"""What all clients of the HTTP frontend have in common: POSTs whose answers come as a body, as a stream, or later."""

import asyncio

from plan import make_plan
from policy import Grant, draw_lists

from . import frames
from .answering import Answering
from .face import ACCEPT, FaceRequest
from .reading import Reader


class FacePosts(Answering):
    path = "/mcp"

    def __init__(self, name, world, choices):
        self.name, self.world, self.choices = name, world, choices
        self.ledger = world.ledger
        self.reader = Reader(name, self.ledger, one_stream=False, side="face")
        # On a Unix socket the rule of the uid would count, not that of HTTP.
        at_socket = not world.policy_file and choices.of("door").chance(0.4)
        self.door = world.face_path if at_socket else world.face_port
        self.session = None
        self.left = False
        self.over = False  # nothing more has to be answered
        self.calls = 0
        self.posts = set()
        self.side, self.grant = "face", None
        # A sequence of its own: the other choices of a seed are the same without grants.
        self.of_grants = choices.of("grant")

    def note(self, what):
        self.ledger.note(self.name, what)

    def headers(self, extra=None):
        return {**({"Mcp-Session-Id": self.session} if self.session else {}),
                **({"Authorization": f"Bearer {self.grant.string}"} if self.grant else {}), **(extra or {})}

    # Grants.

    async def use_grant(self):
        """Before the first request, or not at all."""
        if not self.of_grants.chance(0.25):
            return
        lists = draw_lists(self.of_grants)
        if not lists:
            return
        grant = Grant(lists)
        grant.string, grant.id = await self.world.issue(lists)
        # The rule of the issuer, a client of the socket, holds.
        self.grant, self.side, self.reader.side = grant, "socket", "socket"

    async def revoke_grant(self):
        if self.grant is None or self.grant.may_have_ended or not self.of_grants.chance(0.05):
            return
        self.grant.may_have_ended = True
        await self.world.revoke(self.grant.id)
        self.grant.has_ended = True
        self.note("its grant was revoked")
        # Those of POSTs are answered; the session's stream cannot be resumed.
        self._excuse([call for call in self.ledger.calls if call.client == self.name], "its grant was revoked")

    def may_be_refused(self):
        return self.grant is not None and self.grant.may_have_ended

    def with_grant(self, call):
        call.grant, call.grant_has_ended = self.grant, self.grant is not None and self.grant.has_ended
        return call

    def headers_of(self, made):
        """Those that say what these are."""
        return {}

    def request(self, method, path, headers=None, body=None):
        buffer = 4096 if self.choices.chance(0.1) else None
        return FaceRequest(self.door, method, path, self.headers(headers), body, buffer)

    # Frames.

    def new_call(self):
        self.calls += 1
        call = self.with_grant(self.ledger.call(self.name, frames.raw_id(self.choices, self.calls), "tools/call",
                                                f"{self.name}-{self.calls}", make_plan(self.choices, self.world.kind), self.side))
        frames.give_token(call, self.choices, self.calls)
        return call, frames.request(call.raw_id, "tools/call", frames.call_params(call))

    def new_plain(self, method, params=None):
        self.calls += 1
        call = self.with_grant(self.ledger.call(self.name, frames.raw_id(self.choices, self.calls), method, side=self.side))
        return call, frames.request(call.raw_id, method, params)

    # POSTs.

    def post_in_background(self, made, accept, put_off=False, breaks=None):
        task = asyncio.ensure_future(self.post(made, accept, put_off, breaks))
        self.posts.add(task)

    async def post(self, made, accept, put_off=False, breaks=None):
        """Sends `made`, (call, frame) pairs; reads what comes. `breaks`: seconds after which it is broken off."""
        calls = [call for call, _ in made]
        for call in calls:
            call.wants_progress = accept == "stream" and breaks is None and not put_off and not call.partial
            self.reader.sent(call)
        body = made[0][1] if len(made) == 1 else b"[" + b",".join(frame for _, frame in made) + b"]"
        self.note(f"POST ({accept}{', put off' if put_off else ''}{', breaks' if breaks is not None else ''}) "
                  f"{body[:300].decode()}")
        request = self.request("POST", self.path, {"Accept": ACCEPT[accept], **self.headers_of(made),
                                                   **({"Prefer": "respond-async"} if put_off else {})}, body)
        try:
            if breaks is None:
                await asyncio.wait_for(self._exchange(request, calls), self.world.patience)
            else:
                await asyncio.wait_for(self._exchange(request, calls), breaks)
        except asyncio.TimeoutError:
            if breaks is None:
                missing = [call for call in calls if not call.answers]
                self.reader.violation(f"POST without its end after {self.world.patience} s: {[str(c) for c in missing]}",
                                      *[call.key for call in missing])
            self.note(f"breaks off the POST of {[call.raw_id for call in calls]}")
            self._excuse(calls, "the POST was broken off")
            request.close(politely=self.choices.chance(0.5))
            await self.after_break(request)
        except (ConnectionError, OSError) as error:
            self.note(f"the POST of {[call.raw_id for call in calls]} broke: {error}")
            self._excuse(calls, "the connection broke")
        finally:
            request.close()

    async def after_break(self, request):
        """A session may go on with its stream."""

    async def _exchange(self, request, calls):
        await request.send()
        status = await request.status()
        if status == 202:
            await request.body()
            self._put_off(calls)
        elif status == 200 and request.is_stream():
            async for _, data in request.messages():
                self.take(data)
            self._all_answered(calls)
        elif status == 200:
            body = await request.body()
            self.take(body)
            self._all_answered(calls)
        else:
            self._refused(calls, status, await request.body())
        return request

    def _put_off(self, calls):
        """Answered on another stream; whether there is one until then is not said here."""
        for call in calls:
            call.wants_progress = False
            call.put_off = True

    def _all_answered(self, calls):
        missing = [call for call in calls if not call.answers and not call.cancelled]
        if missing and not self.over:
            self.reader.violation(f"a POST ended in order without an answer to {[str(call) for call in missing]}",
                                  *[call.key for call in missing])

    def _refused(self, calls, status, body):
        self.note(f"< {status} {body[:200].decode(errors='replace')}")
        if status not in (400, 404, 502, 503, 504) and not (status == 401 and self.may_be_refused()):
            self.reader.violation(f"status {status} to a POST", self.name)
        for call in calls:
            if not call.answers:
                call.answers.append(("status", status))
                self._forget(call)

    def _forget(self, call):
        waiting = self.reader.outstanding.get(call.raw_id, [])
        if call in waiting:
            waiting.remove(call)
        if not waiting:
            self.reader.outstanding.pop(call.raw_id, None)

    @staticmethod
    def _excuse(calls, why):
        for call in calls:
            call.excused = call.excused or why
            call.wants_progress = False

    def take(self, data):
        self.reader.message(data)
        self.answer_questions()

    async def send_answer(self, data):
        """An answer to a question, or a notification: 202."""
        request = self.request("POST", self.path, {}, data)
        try:
            await request.send()
            status = await request.status()
            if status not in (202, 200, 404, 400, 503) and not (status == 401 and self.may_be_refused()):
                self.reader.violation(f"status {status} to {data[:200]!r}")
        except (ConnectionError, OSError):
            pass
        finally:
            request.close()

    def is_over(self):
        """What is not answered now never will be: the client has gone, or its answers have nowhere to go."""
        self.left = self.over = True
        self._excuse([call for call in self.ledger.calls if call.client == self.name], "the client was over")

    async def all_answered(self, otherwise):
        """Waits for what comes on another stream. `otherwise`: what is said of the calls that were not answered."""
        end = asyncio.get_running_loop().time() + self.world.patience
        while missing := self.reader.missing():
            if asyncio.get_running_loop().time() > end:
                self.reader.violation(f"{otherwise} {[str(call) for call in missing]}", *[call.key for call in missing])
                return
            await asyncio.sleep(0.005)

    async def posts_done(self):
        while self.posts:
            done = self.posts
            self.posts = set()
            for result in await asyncio.gather(*done, return_exceptions=True):
                if isinstance(result, Exception):
                    raise result
