"""The half of the scripted server that knows `initialize` and sessions (2024-11-05 to 2025-11-25)."""

import asyncio
import itertools
import json
import uuid

from .modern_exchange import INFO
from .modern_protocol import LEGACY_VERSIONS
from .modern_rules import Refused


class Session:
    def __init__(self, initialize, link=None):
        params = initialize.get("params", {})
        self.id = uuid.uuid4().hex
        self.version = params.get("protocolVersion")
        if self.version not in LEGACY_VERSIONS:
            self.version = LEGACY_VERSIONS[0]
        self.capabilities = params.get("capabilities", {})
        self.client = params.get("clientInfo", {})
        self.log_level = None
        self.initialized = False
        self.subscribed = set()
        self.stream = None          # the GET, over HTTP
        self.link = link            # the connection, on a line
        self.asked = {}             # id: future of the answer
        self.ids = itertools.count(0)

    async def tell(self, message):
        """What belongs to no request: lost where nobody listens, as most servers do."""
        out = self.link or self.stream
        if out is not None:
            await (out.write(json.dumps(message).encode() + b"\n") if self.link else out.event(message))
        return out is not None

    async def ask(self, exchange, request):
        """Asks on the exchange's own stream; the response, or None if the client has gone."""
        id = next(self.ids)
        self.asked[id] = asyncio.get_running_loop().create_future()
        await exchange._say({"jsonrpc": "2.0", "id": id, **request})
        gone = asyncio.ensure_future(exchange.gone.wait())
        await asyncio.wait([self.asked[id], gone], return_when=asyncio.FIRST_COMPLETED)
        gone.cancel()
        answer = self.asked.pop(id)
        return answer.result() if answer.done() else None

    def answered(self, message):
        """Whether it is the answer to a question of ours."""
        future = self.asked.get(message.get("id"))
        if future is None or future.done():
            return False
        future.set_result(message)
        return True


async def serve(server, exchange):
    """The methods that only the older revisions have; NotImplemented for the others."""
    session, method, params = exchange.session, exchange.method, exchange.params
    if method == "initialize":
        return {"protocolVersion": session.version, "serverInfo": INFO, "instructions": "Ask nicely.",
                "capabilities": {"tools": {"listChanged": True}, "prompts": {"listChanged": True}, "logging": {},
                                 "completions": {}, "resources": {"listChanged": True, "subscribe": True}}}
    if method == "ping":
        return {}
    if method == "logging/setLevel":
        session.log_level = params.get("level")
        return {}
    if method == "resources/subscribe":
        session.subscribed.add(params.get("uri"))
        return {}
    if method == "resources/unsubscribe":
        session.subscribed.discard(params.get("uri"))
        return {}
    if method in ("server/discover", "subscriptions/listen") or method.startswith(("tasks/", "events/")):
        raise Refused(-32601, "Method not found", 200)
    return NotImplemented
