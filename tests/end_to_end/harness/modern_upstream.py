"""A scripted MCP server of 2026-07-28, of the older revisions, or of both, that judges all it receives.

    server = ModernUpstream()                  # modern only; or mode="dual", mode="legacy", and settable while it runs
    server.url, server.command                 # Streamable HTTP; a child for stdio: both lead into the same server
    server.emit("notifications/tools/list_changed")
    server.fault("tools/call", status=503)     # what the next one is answered instead
    server.probe("-32022 legacy")              # what the next server/discover is answered instead
    server.assert_clean()                      # no rule was broken by what came (modern_rules.py)

It runs in a thread of its own until stop()."""

import asyncio
import json
import os
import sys
import tempfile
import threading
import uuid

from . import legacy_sessions, modern_tools
from .modern_carriers import Connection, Link
from .modern_extensions import Events, Tasks
from .modern_protocol import (ACKNOWLEDGED, ASKED_FOR, CANCELLED, EVENTS, LEGACY_VERSIONS, LEVELS, MAY_ASK, PROTOCOL_VERSION,
                              SUBSCRIPTION_ID, TASKS, UPDATED, VERSION, wants)
from .modern_rules import Refused, Rules
from .waiting import DEADLINE, eventually

RELAY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "stdio_relay.py")


def error(code, text="no", **data):
    return {"code": code, "message": text, **({"data": data} if data else {})}


# What a server may answer to the probe, by name, as the keywords of fault().
PROBES = {
    "503": {"status": 503, "headers": [("Retry-After", "1")], "body": "later"},
    "400": {"status": 400, "body": "Bad Request: Server not initialized"},
    "404": {"status": 404, "body": "not here"},
    "405": {"status": 405, "body": "no"},
    "closed": {"close": True},
    "empty result": {"result": {}},
    "-32600": {"error": error(-32600, "before initialization"), "status": 400},
    "-32601": {"error": error(-32601, "Method not found")},
    "-32602": {"error": error(-32602, "Invalid request parameters")},
    "silence": {"silent": True},
}


class ModernUpstream:
    def __init__(self, mode="modern", extensions=(TASKS, EVENTS), port=0):
        self.mode, self.extensions, self.port = mode, extensions, port
        self.capabilities = {"tools": {"listChanged": True}, "prompts": {"listChanged": True}, "logging": {}, "completions": {},
                             "resources": {"listChanged": True, "subscribe": True},
                             "extensions": {name: {} for name in extensions}}
        self.tools = list(modern_tools.TOOLS)
        self.page = 6
        self.rules = Rules()
        self.rules.has(self.tools)
        self.received_all, self.refused, self.cancelled = [], [], []
        self.faults, self.rounds_of = [], {}
        self.listens = []
        self.held, self.gates, self.task_answers = {}, {}, {}
        self.sessions, self.forgotten = {}, 0
        self.tasks, self.events = Tasks(self), Events()
        self.forgiving = False
        self.open = set()
        self.starts = 0
        self.folder = tempfile.mkdtemp(prefix="mcp-mu-")
        self.loop = asyncio.new_event_loop()
        started = threading.Event()
        self.thread = threading.Thread(target=self._run, args=(started,), daemon=True)
        self.thread.start()
        started.wait(DEADLINE)

    # The thread.

    def _run(self, started):
        asyncio.set_event_loop(self.loop)
        path = os.path.join(self.folder, "s")
        self.http = self.loop.run_until_complete(asyncio.start_server(self._connected, "127.0.0.1", self.port, backlog=256))
        self.lines = self.loop.run_until_complete(asyncio.start_unix_server(self._linked, path))
        self.port = self.http.sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}/mcp"
        self.command = [sys.executable, "-S", "-E", RELAY, path]
        started.set()
        self.loop.run_forever()
        for task in asyncio.all_tasks(self.loop):
            task.cancel()
        self.loop.run_until_complete(asyncio.sleep(0))
        self.loop.close()

    async def _connected(self, reader, writer):
        connection = Connection(self, reader, writer)
        self.open.add(connection)
        try:
            await connection.serve()
        finally:
            self.open.discard(connection)

    async def _linked(self, reader, writer):
        self.starts += 1
        link = Link(self, reader, writer)
        self.open.add(link)
        try:
            await link.serve()
        finally:
            self.open.discard(link)
            self.sessions = {id: one for id, one in self.sessions.items() if one.link is not link}

    def _do(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(DEADLINE)

    def running(self):
        return self.thread.is_alive()

    def stop(self):
        if not self.running():
            return

        async def ends():
            self.http.close()
            self.lines.close()
            for one in list(self.open):
                one.abort()
            for exchange in list(self.listens) + list(self.held.values()):
                exchange.gone.set()
            while self.open:
                await asyncio.sleep(0.005)

        self._do(ends())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(DEADLINE)
        for name in os.listdir(self.folder):
            os.unlink(os.path.join(self.folder, name))
        os.rmdir(self.folder)

    # What a test looks at.

    @property
    def violations(self):
        return self.rules.violations

    def assert_clean(self):
        assert not self.violations, "\n".join(self.violations)

    def received(self, method=None, era=None):
        return [one for one in list(self.received_all) if method in (None, one.method) and era in (None, one.era)]

    def wait_for(self, method, count=1, era=None):
        return eventually(lambda: len(self.received(method, era)) >= count and self.received(method, era),
                          lambda: f"{count} {method}, came: {self.received_all[-20:]}")

    def filters(self):
        return [exchange.params.get("notifications") for exchange in list(self.listens)]

    def wait_union(self, **fields):
        """Waits for one listen that asks for all of it."""
        def there():
            filters = self.filters()
            return len(filters) == 1 and all(
                set(filters[0].get(key, ())) == set(value) if isinstance(value, (list, set)) else filters[0].get(key, False) == value
                for key, value in fields.items())
        eventually(there, lambda: f"one listen with {fields}, open: {self.filters()}")

    def wait_reaches(self, method, params=None):
        """Waits until somebody would be told of it."""
        def there():
            return any(wants(one.honoured, method, params or {}) for one in list(self.listens)) or any(
                (one.link or one.stream) and (method != UPDATED or (params or {}).get("uri") in one.subscribed)
                for one in list(self.sessions.values()))
        eventually(there, lambda: f"somebody who listens for {method} {params}: {self.filters()}, {len(self.sessions)} sessions")

    def wait_held(self, *keys):
        eventually(lambda: set(keys) <= set(self.held), lambda: f"{keys} held, held: {list(self.held)}")

    def wait_cancelled(self, method, count=1):
        eventually(lambda: self.cancelled.count(method) >= count, lambda: f"{count} {method} cancelled: {self.cancelled}")

    # What a test does.

    def emit(self, method, params=None):
        """To every listen that asks for it, and to the sessions of the older revisions; how many there were."""
        return self._do(self.publish(method, params or {}))

    def release(self, key):
        self.wait_held(key)
        self.loop.call_soon_threadsafe(self.gates[key].set)

    def fault(self, method, times=1, when=None, **action):
        """`when`: the era of the requests it is for. The action: status, headers, body; or result; or error; or close,
        silent, sudden (a stream that begins and breaks) as True."""
        self.faults.append({"method": method, "times": times, "when": when, **action})

    def probe(self, name, times=1):
        self.fault("server/discover", times, **PROBES[name])

    def clear_faults(self):
        self.faults = []

    def end_listens(self, how):
        """`graceful` (a result), `cancelled` (a notification), `bare` (the stream ends), `sudden` (the connection breaks)."""
        async def ends():
            for exchange in list(self.listens):
                self.listens.remove(exchange)
                if how == "graceful":
                    await exchange.answer({"_meta": {SUBSCRIPTION_ID: exchange.id}})
                elif how == "cancelled":
                    await exchange.notify(CANCELLED, {"requestId": exchange.id, "_meta": {SUBSCRIPTION_ID: exchange.id}})
                    await exchange.close_bare()
                elif how == "bare":
                    await exchange.close_bare()
                else:
                    await exchange.close_sudden()
                exchange.over = True
                exchange.gone.set()
        self._do(ends())

    def forget_sessions(self):
        """As after a restart: the ids of the older revisions' sessions are unknown."""
        async def forgets():
            for session in list(self.sessions.values()):
                if session.stream is not None:
                    session.stream.connection.abort()
            self.sessions = {}
        self.forgotten += len(self.sessions)
        self._do(forgets())

    def restart(self):
        """All connections break, children end, nothing is remembered."""
        async def breaks():
            self.sessions, self.listens = {}, []
            self.rules.in_flight.clear()
            self.rules.tokens.clear()
            for one in list(self.open):
                one.abort()
        self._do(breaks())

    def becomes(self, mode):
        """Another program at the same address: what the client knew of it does not hold any more."""
        self.mode, self.forgiving = mode, True
        self.restart()

    def happen(self, data):
        self._do(self.events.happen(data))

    def complete_task(self, id, words="done later"):
        self._do(self.tasks.complete(id, words))

    # Serving.

    def answer_headers(self, exchange):
        return [("Mcp-Session-Id", exchange.session.id)] if exchange.method == "initialize" else []

    def logs(self, wanted, level, modern):
        return LEVELS.index(level) >= LEVELS.index(wanted) if wanted in LEVELS else not modern

    def faulty(self, method, era):
        for fault in self.faults:
            if fault["method"] in (method, "*") and fault["when"] in (None, era):
                if fault["times"] is not None:
                    fault["times"] -= 1
                    if fault["times"] == 0:
                        self.faults.remove(fault)
                return fault
        return None

    async def publish(self, method, params):
        reached = 0
        for exchange in list(self.listens):
            if wants(exchange.honoured, method, params):
                await exchange.notify(method, {**params, "_meta": {**params.get("_meta", {}), SUBSCRIPTION_ID: exchange.id}})
                reached += 1
        for session in list(self.sessions.values()):
            if method != UPDATED or params.get("uri") in session.subscribed:
                reached += await session.tell({"jsonrpc": "2.0", "method": method, "params": params})
        return reached

    async def serve(self, exchange):
        """Answers one request; raises Refused. The carrier has judged it already."""
        try:
            result = await self._result(exchange)
            if result is not None:
                await exchange.answer(result)
        except Refused as refused:
            self.refused.append((exchange.method, refused.code))
            await exchange.fail(refused.code, refused.message, refused.data, refused.status)
        finally:
            if exchange.gone.is_set() and not exchange.over:
                self.cancelled.append(exchange.method)

    async def _result(self, exchange):
        method, params = exchange.method, exchange.params
        if exchange.modern and exchange.meta.get(PROTOCOL_VERSION) != VERSION:
            supported = [VERSION] + (list(LEGACY_VERSIONS) if self.mode == "dual" else [])
            raise Refused(-32022, "Unsupported protocol version", 400,
                          {"supported": supported, "requested": exchange.meta.get(PROTOCOL_VERSION)})
        if not exchange.modern:
            result = await legacy_sessions.serve(self, exchange)
            if result is not NotImplemented:
                return result
        elif method in MAY_ASK and self.rules.retried(exchange.message):
            pass
        elif exchange.modern and "requestState" in params:
            raise Refused(-32602, "Invalid request state")
        if method == "server/discover":
            self.forgiving = False
            return {"supportedVersions": [VERSION] + (list(LEGACY_VERSIONS) if self.mode == "dual" else []),
                    "capabilities": self.capabilities, "instructions": "Ask nicely."}
        if method == "tools/list":
            return self._page("tools", self.tools, params)
        if method == "resources/list":
            return self._page("resources", modern_tools.RESOURCES, params)
        if method == "prompts/list":
            return self._page("prompts", modern_tools.PROMPTS, params)
        if method == "resources/templates/list":
            return {"resourceTemplates": [{"uriTemplate": "demo://{name}", "name": "any"}]}
        if method == "completion/complete":
            return {"completion": {"values": ["Ada", "Alan"], "total": 2, "hasMore": False}}
        if method == "tools/call":
            return await modern_tools.call(self, exchange)
        if method == "prompts/get":
            return await self._prompt(exchange)
        if method == "resources/read":
            return await self._read(exchange)
        if method == "subscriptions/listen" and exchange.modern:
            return await self._listen(exchange)
        if method.startswith("tasks/") and exchange.modern and TASKS in self.extensions:
            return await self.tasks.serve(exchange)
        if method.startswith("events/") and exchange.modern and EVENTS in self.extensions:
            return await self.events.serve(exchange)
        raise Refused(-32601, "Method not found", 404 if exchange.modern else 200)

    def _page(self, name, items, params):
        start = 0
        if "cursor" in params:
            if not str(params["cursor"]).startswith("page-"):
                raise Refused(-32602, "Invalid cursor", 200)
            start = int(params["cursor"].partition("-")[2])
        part = items[start:start + self.page]
        if name == "tools":
            self.rules.tells(part)
        more = {"nextCursor": f"page-{start + self.page}"} if start + self.page < len(items) else {}
        return {name: part, **more}

    async def _prompt(self, exchange):
        name = exchange.params.get("name")
        if name not in [one["name"] for one in modern_tools.PROMPTS]:
            raise Refused(-32602, f"Unknown prompt: {name}", 200)
        words = f"Hello {exchange.params.get('arguments', {}).get('whom', '')}"
        if name == "ask":
            answers = await self.questions(exchange, ["elicitation"], 1, True)
            if answers is None:
                return None
            words = json.dumps({"answers": answers})
        return {"messages": [{"role": "user", "content": {"type": "text", "text": words}}]}

    async def _read(self, exchange):
        uri = exchange.params.get("uri")
        if uri not in [one["uri"] for one in modern_tools.RESOURCES]:
            raise Refused(-32602 if exchange.modern else -32002, "Resource not found", 200, {"uri": uri})
        words = f"text of {uri}"
        if uri.startswith("ask:"):
            answers = await self.questions(exchange, ["elicitation"], 1, True)
            if answers is None:
                return None
            words = json.dumps({"answers": answers})
        return {"contents": [{"uri": uri, "mimeType": "text/plain", "text": words}]}

    async def _listen(self, exchange):
        asked = exchange.params.get("notifications")
        if not isinstance(asked, dict):
            self.rules.violation(f"subscriptions/listen without a filter: {exchange.params}")
            raise Refused(-32602, "notifications is missing")
        known = {"toolsListChanged", "promptsListChanged", "resourcesListChanged", "resourceSubscriptions"}
        if TASKS in exchange.capabilities.get("extensions", {}):
            known.add("taskIds")
        exchange.honoured = {key: value for key, value in asked.items() if key in known}
        await exchange.notify(ACKNOWLEDGED, {"notifications": exchange.honoured, "_meta": {SUBSCRIPTION_ID: exchange.id}})
        self.listens.append(exchange)
        await exchange.gone.wait()
        if exchange in self.listens:
            self.listens.remove(exchange)
        return None

    # Questions: in a result where the client is modern, as requests where it is not.

    async def questions(self, exchange, kinds, rounds, with_state):
        """The answers by kind, one object a round; None if the exchange ended with a question of its own."""
        for kind in kinds:
            capability = ASKED_FOR[modern_tools.QUESTIONS[kind]["method"]]
            if capability not in exchange.capabilities:
                raise Refused(-32021 if exchange.modern else -32602, f"The client cannot do {capability}", 400 if exchange.modern else 200,
                              {"requiredCapabilities": {capability: {}}})
        if not exchange.modern:
            return await self._ask_on_the_stream(exchange, kinds, rounds)
        responses = exchange.params.get("inputResponses")
        before = self.rounds_of.pop(exchange.params.get("requestState"), None) if with_state else None
        goes_on = responses is not None or before is not None
        answers = (before or []) + ([{kind: (responses or {}).get(kind) for kind in kinds}] if goes_on else [])
        if len(answers) >= rounds:
            return answers
        state = None
        if with_state:
            # Quotes, a line break, a backslash, what is no ASCII and what looks like another encoding: all come back.
            state = f'"s\\{len(answers)}\n ü\U0001f511=?base64?eA==?= {uuid.uuid4().hex}'
            self.rounds_of[state] = answers
        self.rules.asked(exchange.message, state, kinds)
        await exchange.answer({"resultType": "input_required", **({} if state is None else {"requestState": state}),
                               **({"inputRequests": {kind: modern_tools.QUESTIONS[kind] for kind in kinds}} if kinds else {})})
        return None

    async def _ask_on_the_stream(self, exchange, kinds, rounds):
        answers = []
        for _ in range(rounds):
            answers.append({})
            for kind in kinds:
                question = dict(modern_tools.QUESTIONS[kind])
                if kind == "url":
                    question["params"] = {**question["params"], "elicitationId": modern_tools.LEGACY_URL_ID}
                response = await exchange.session.ask(exchange, question)
                if response is None:
                    return None
                if "error" in response:
                    raise Refused(-32603, f"{kind} was refused: {response['error'].get('code')}", 200)
                answers[-1][kind] = response["result"]
        return answers
