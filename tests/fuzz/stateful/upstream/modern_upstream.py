"""The scripted upstream of MCP 2026-07-28 over HTTP: one stream for what was subscribed."""

import json

import wire

from .event_log import EventLog
from .http_upstream import HttpUpstream
from .modern_server import META, VERSION, ModernServer, acknowledgement, is_removed, method_not_found
from .server import dumps
from .writing import STREAM, close, pump, reply


class ModernUpstream(ModernServer, HttpUpstream):
    def __init__(self, ledger, choices):
        super().__init__(ledger, choices)
        self.initializes = 0
        self.listens = {}   # the id of each that is open: (its log, its writer)
        self.say = self._tell
        self.lose = lambda: self._forget("restarted")

    # What was subscribed.

    def _tell(self, data):
        for id, (log, _) in self.listens.items():
            message = json.loads(data)
            message["params"]["_meta"] = {META + "subscriptionId": id}
            log.append(dumps(message))
        return bool(self.listens)

    def break_stream(self, politely):
        if self.listens:
            self.note(f"breaks what listens {'politely' if politely else 'by a reset'}")
            self.way_broke(self.session.name)
        for _, writer in list(self.listens.values()):
            close(writer, politely)
        self.listens.clear()  # nobody is told of what comes from now on

    def _forget(self, why):
        self.session_is_over(why)
        for log, _ in self.listens.values():
            log.end()
        self.listens.clear()  # they are at their end, even if their connections are not yet
        self.open_session(None)

    async def _listen(self, message, reader, writer):
        if self.session is None:
            self.open_session(None)
        self.way += 1
        log = EventLog()
        log.append(dumps(acknowledgement(message)))
        self.listens[message["id"]] = (log, writer)
        self.note(f"is listened to as {message['id']}: {message['params']['notifications']}")
        writer.write(wire.answer_head(200, [STREAM, ("Transfer-Encoding", "chunked")]))
        try:
            await pump(log, 0, reader, writer)
        finally:
            self.listens.pop(message["id"], None)
        return False

    # Messages.

    def _is_wrong(self, head, message):
        """Why a message is none of this revision."""
        if head.get("mcp-session-id") or head.get("last-event-id"):
            return "a session's header"
        if head.get("mcp-protocol-version") != VERSION or head.get("mcp-method") != message.get("method"):
            return "headers that do not mirror it"
        return self.wrong_message(message)

    async def _get(self, head, body, reader, writer):
        self.ledger.violation("a GET to a server that has none", "upstream")
        return await reply(writer, 405)

    async def _delete(self, head, body, reader, writer):
        self.ledger.violation("a DELETE to a server that has none", "upstream")
        return await reply(writer, 405)

    async def _refuse_initialize(self, message, writer):
        """What the first legacy client needs, of a server that it does not know: once."""
        self.note("refuses initialize")
        self.initializes += 1
        if self.initializes > 1:
            self.ledger.violation("the upstream was sent initialize again", "upstream")
        return await reply(writer, 404, dumps(method_not_found(message["id"])))

    async def _post(self, head, body, reader, writer):
        message = json.loads(body)
        method = message.get("method")
        if method == "initialize":
            return await self._refuse_initialize(message, writer)
        wrong = self._is_wrong(head, message)
        if wrong:
            self.ledger.violation(f"the upstream was sent {wrong}: {body[:300]!r}", "upstream")
        if "id" not in message:
            return await self._notification(message, writer)
        if is_removed(method):
            if method == "ping":
                self.ledger.violation(f"the upstream was sent {method}", "upstream")
            return await reply(writer, 404, dumps(method_not_found(message["id"])))
        if method == "subscriptions/listen":
            return await self._listen(message, reader, writer)
        if method == "tools/call":
            plan = message["params"]["arguments"]["plan"]
            plan["form"] = {"accepted": "sse", "ids": "sse"}.get(plan["form"], plan["form"])
            plan["refuse"] = {"lost": "503r"}.get(plan["refuse"], plan["refuse"])
            return await self._tools_call(message, reader, writer)
        # Two closed connections in answer to the probe make it a legacy one.
        return await self._reading(message, writer, may_close=method != "server/discover")
