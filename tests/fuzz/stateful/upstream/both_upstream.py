"""The scripted upstream of both eras over HTTP: a session for legacy clients, and requests of 2026-07-28 beside it."""

import json

from .http_upstream import HttpUpstream
from .modern_server import META, ModernServer
from .modern_upstream import ModernUpstream
from .server import Server


def is_modern(message):
    return META + "protocolVersion" in ((message.get("params") or {}).get("_meta") or {})


class BothUpstream(ModernUpstream):
    """What it says by itself it says in the legacy session if there is one, else on what listens: one source each."""

    def __init__(self, ledger, choices):
        super().__init__(ledger, choices)
        self.legacy_keys = set()  # of calls that came in the session
        self.say = lambda data: (HttpUpstream._say if self._has_log() else ModernUpstream._tell)(self, data)
        self.lose = lambda: self._lose("restarted")

    def _has_log(self):
        return self.session is not None and self.session.log is not None

    def _lose(self, why):
        if self._has_log():
            HttpUpstream._lose(self, why)
        else:
            self.session_is_over(why)

    def break_stream(self, politely):
        (HttpUpstream if self._has_log() else ModernUpstream).break_stream(self, politely)

    def notify(self, kind):
        if self.session is not None and self.session.log is not None:
            return Server.notify(self, kind)
        return super().notify(kind)

    async def _post(self, head, body, reader, writer):
        message = json.loads(body)
        carrier = ModernUpstream if is_modern(message) else HttpUpstream
        if carrier is HttpUpstream and head.get("mcp-method"):
            self.ledger.violation(f"a legacy message has headers that mirror it: {body[:300]!r}", "upstream")
        return await carrier._post(self, head, body, reader, writer)

    async def _get(self, head, body, reader, writer):
        return await HttpUpstream._get(self, head, body, reader, writer)

    async def _delete(self, head, body, reader, writer):
        return await HttpUpstream._delete(self, head, body, reader, writer)

    def plain_result(self, message):
        return ModernServer.plain_result(self, message) if is_modern(message) else Server.plain_result(self, message)

    async def call(self, message, outlet):
        if is_modern(message):
            await super().call(message, outlet)
        else:
            self.legacy_keys.add(message["params"]["arguments"]["key"])
            await Server.call(self, message, outlet)

    async def ask(self, method, outlet, key):
        if key in self.legacy_keys:
            await Server.ask(self, method, outlet, key)
