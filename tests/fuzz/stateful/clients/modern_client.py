"""A client of MCP 2026-07-28 on the Unix socket: nothing but its requests says who it is."""

import asyncio

from plan import WIDE, make_plan, read_plan

from . import frames
from .reading import Reader
from .unix_client import UnixClient

META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "fuzz", "version": "1"}}


def framed(call, method, params, capable=False):
    """A request that says who asks, and what may be asked in return."""
    call.capable = capable
    text = frames.dumps({**META, "io.modelcontextprotocol/clientCapabilities": frames.CAPABILITIES if capable else {}})
    if call.token is not None:
        text = text[:-1] + f',"progressToken":{call.token}}}'
    params = frames.dumps(params)
    return frames.request(call.raw_id, method, params[:-1] + (',' if params != "{}" else '') + f'"_meta":{text}}}')


def arguments_of(call):
    return {"name": call.plan["tool"], "arguments": {"key": call.key, "plan": call.plan}}


def responses_to(result, client, attempt, answers):
    """What a client says to the questions of a result: all answers, or none; they are known to the ledger either way."""
    given = {}
    for key, question in result["inputRequests"].items():
        known = client.ledger.questions[question["params"]["question"]]
        marker = f"{client.name}/{known.number}/{attempt}"
        known.given[marker] = client.name
        if answers:
            given[key] = {"marker": marker}
    return {"inputResponses": given, "requestState": result["requestState"]}


MOST_NAMED = 1000  # by one listen


def wanted(choices):
    """What a client listens to: few resources, many, or too many."""
    named = [f"fuzz://{choices.randrange(60)}" for _ in range(9)]
    more = choices.pick({0: 12, 150: 2, MOST_NAMED: 0.5, MOST_NAMED + 1: 0.5})
    first = choices.randrange(1000)
    named += [f"{WIDE}{first + number}" for number in range(more - len(named))]
    return {"notifications": {"toolsListChanged": True, "resourceSubscriptions": named}}


def names_too_much(filter):
    return len(filter["notifications"]["resourceSubscriptions"]) > MOST_NAMED


class ModernReader(Reader):
    """It is told of the session by its listen, of which it has one at most."""

    def __init__(self, who, ledger, one_stream=True, side="socket"):
        super().__init__(who, ledger, one_stream, side)
        self.listens = None     # the call
        self.acknowledged = False
        self.questions = []     # (call, result) of those that were answered with questions

    def _judged(self, call, message, data):
        result = message.get("result")
        if result is None and call is self.listens:
            self.listens = None
            if message["error"]["code"] == -32602 and not call.names_too_much:
                self.violation(f"{call} is refused: {data[:300]!r}", call.raw_id)
        if result is None or call.method.startswith("bridge/"):
            return super()._judged(call, message, data)
        if result.get("resultType") == "input_required":
            if call.method != "tools/call" or not call.capable:
                self.violation(f"{call} is asked what it did not declare", call.key)
            self.questions.append((call, result))
            return ("asked", None)
        if result.get("resultType") != "complete":
            self.violation(f"{call} has a result of the type {result.get('resultType')!r}", call.key)
        return super()._judged(call, message, data)

    def _question(self, message, data):
        self.violation(f"is sent a request: {data[:300]!r}")

    def _serial(self, params):
        # What came before its first request was given back.
        if self.listens is None:
            return
        if not self.acknowledged:
            self.violation(f"notification {params['serial']} before the acknowledgement", f'"serial":{params["serial"]},')
        super()._serial(params)

    def _notification(self, message, data):
        if message["method"] == "notifications/subscriptions/acknowledged":
            self.acknowledged = True
            if self.listens is not None and self.listens.names_too_much:
                self.violation(f"{self.listens} names too much and is acknowledged", self.listens.raw_id)
        elif message["method"] == "notifications/message" and self.listens is not None:
            self.violation(f"a log message that was not asked for: {data[:300]!r}")
        else:
            super()._notification(message, data)


class ModernClient(UnixClient):
    def __init__(self, name, world, choices):
        super().__init__(name, world, choices)
        self.reader = ModernReader(name, self.ledger)

    async def live(self):
        await asyncio.sleep(self.choices.pause(0.3))
        await self.connect()
        try:
            if self.of_grants.chance(0.25):
                await self._use_grant()
            await self._discover()
            for _ in range(self.choices.pick({1: 3, 4: 4, 12: 3, 30: 1})):
                if self.closed.is_set():
                    break
                if self.grant and self.of_grants.chance(0.05):
                    await self._revoke()
                await self._act()
                await self._retry()
            await self._leave()
        except (ConnectionError, BrokenPipeError):
            self.note("was disconnected")
        finally:
            self.end()

    async def _leave(self):
        # At a half-close a listen goes on, and so does its connection.
        await self._stop_listening()
        await super()._leave()

    async def _act(self):
        action = self.choices.pick({"calls": 12, "reads": 4, "discover": 1, "control": 2, "cancel": 2, "bad": 1, "sleep": 4,
                                    "wait": 4, "stop_reading": 1, "listen": 2, "stop_listening": 1, "stray_answer": 0.5,
                                    "removed": 0.5, "wrong_state": 0.5})
        await getattr(self, "_" + action)()

    def _new_call(self, raw=None):
        call = self.new("tools/call", True, make_plan(self.choices, self.world.kind), raw)
        frames.give_token(call, self.choices, self.calls)
        return call, framed(call, "tools/call", arguments_of(call), self.choices.chance(0.6))

    async def _ask(self, method, params, key=False):
        call = self.new(method, key)
        await self.send([framed(call, method, params)], [call])
        return call

    async def _discover(self):
        await self._ask("server/discover", {})

    async def _reads(self):
        call = self.new("resources/read", True, read_plan(self.choices))
        await self.send([framed(call, "resources/read", {"uri": call.plan["uri"], "echo": call.key})], [call])

    async def _control(self):
        await self._ask(self.choices.choice(["bridge/status", "bridge/notifications", "bridge/metrics", "bridge/nonsense"]), {})

    async def _removed(self):
        """What there is in older revisions only."""
        await self._ask(self.choices.choice(["ping", "initialize", "resources/subscribe", "tasks/list"]), {})

    # Listening.

    async def _listen(self):
        if self.reader.listens is not None:
            return
        await self.until(lambda: not self.reader.outstanding or self.closed.is_set(), 1)
        call = self.new("subscriptions/listen")
        call.cancelled = True  # it has no answer but at the daemon's end
        self.reader.listens = call
        filter = wanted(self.choices)
        call.names_too_much = names_too_much(filter)
        await self.send([framed(call, "subscriptions/listen", filter)], [call])

    async def _stop_listening(self):
        if self.reader.listens is not None:
            await self.send([b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}'
                              % self.reader.listens.raw_id.encode()])

    # Questions in results.

    async def _retry(self):
        """Answers some of what it was asked: with all answers, with none, or not at all."""
        while self.reader.questions:
            asked, result = self.reader.questions.pop()
            how = self.choices.pick({"answer": 8, "nothing": 1, "ignore": 1, "twice": 1})
            if how == "ignore":
                continue
            await asyncio.sleep(self.choices.pause(0.1))
            for attempt in range(2 if how == "twice" else 1):
                await self._go_on_with(asked, responses_to(result, self, attempt, how != "nothing"), how == "twice")

    async def _go_on_with(self, asked, answers, is_stray):
        call = self.new("tools/call")
        call.key, call.plan = asked.key, asked.plan
        call.ambiguous = is_stray
        call.wants_progress = False  # some of it came before
        call.goes_on = True
        await self.send([framed(call, "tools/call", {**arguments_of(asked), **answers}, True)], [call])

    async def _wrong_state(self):
        call = self.new("tools/call", True, make_plan(self.choices, self.world.kind))
        call.ambiguous = True
        await self.send([framed(call, "tools/call", {**arguments_of(call), "requestState": "bridge-0"}, True)], [call])
