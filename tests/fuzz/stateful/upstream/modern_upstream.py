"""The scripted upstream of MCP 2026-07-28: no session, questions in results, one stream for what was subscribed."""

import json
import time

import wire

from .event_log import EventLog
from .http_upstream import HttpUpstream
from .server import READ_BY_THEN, dumps
from .writing import STREAM, close, pump, reply

VERSION = "2026-07-28"
META = "io.modelcontextprotocol/"
CAPABILITY_FOR = {"elicitation/create": "elicitation", "sampling/createMessage": "sampling", "roots/list": "roots"}


class ModernUpstream(HttpUpstream):
    def __init__(self, ledger, choices):
        super().__init__(ledger, choices)
        self.listens = {}   # the id of each that is open: (its log, its writer)
        self.used_states = set()  # a client may retry twice; a server that acts is to take one of them
        self.say = self._tell
        self.lose = lambda: self._forget("restarted")

    # What was subscribed.

    def notify(self, kind):
        return super().notify("updated" if kind == "log" else kind)

    def _tell(self, data):
        for id, (log, _) in self.listens.items():
            message = json.loads(data)
            message["params"]["_meta"] = {META + "subscriptionId": id}
            log.append(dumps(message))
        return bool(self.listens)

    def break_stream(self, politely):
        if self.listens:
            self.note(f"breaks what listens {'politely' if politely else 'by a reset'}")
            self.ledger.doubt(self.session.name, time.monotonic() - READ_BY_THEN)
        for _, writer in list(self.listens.values()):
            close(writer, politely)
        self.listens.clear()  # nobody is told of what comes from now on

    def _forget(self, why):
        self.session_is_over(why)
        for log, _ in self.listens.values():
            log.end()
        self.open_session(None)

    async def _listen(self, message, reader, writer):
        if self.session is None:
            self.open_session(None)
        log = EventLog()
        log.append(dumps({"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged",
                          "params": {"notifications": message["params"]["notifications"],
                                     "_meta": {META + "subscriptionId": message["id"]}}}))
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
        meta = (message.get("params") or {}).get("_meta") or {}
        method = message.get("method")
        if method is None:
            return "a response"
        if head.get("mcp-session-id") or head.get("last-event-id"):
            return "a session's header"
        if head.get("mcp-protocol-version") != VERSION or head.get("mcp-method") != method:
            return "headers that do not mirror it"
        if "id" in message and (meta.get(META + "protocolVersion") != VERSION or META + "clientCapabilities" not in meta):
            return "no _meta"
        return None

    async def _get(self, head, body, reader, writer):
        self.ledger.violation("a GET to a server that has none", "upstream")
        return await reply(writer, 405)

    async def _delete(self, head, body, reader, writer):
        self.ledger.violation("a DELETE to a server that has none", "upstream")
        return await reply(writer, 405)

    async def _post(self, head, body, reader, writer):
        message = json.loads(body)
        method = message.get("method")
        wrong = self._is_wrong(head, message)
        if wrong:
            self.ledger.violation(f"the upstream was sent {wrong}: {body[:300]!r}", "upstream")
        if "id" not in message:
            return await self._notification(message, writer)
        if method in ("initialize", "ping") or method.startswith(("resources/sub", "resources/unsub", "logging/", "tasks/")):
            if method == "initialize" or method == "ping":
                self.ledger.violation(f"the upstream was sent {method}", "upstream")
            error = {"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "Method not found"}}
            return await reply(writer, 404, dumps(error))
        if method == "subscriptions/listen":
            return await self._listen(message, reader, writer)
        if method == "tools/call":
            plan = message["params"]["arguments"]["plan"]
            plan["form"] = {"accepted": "sse", "ids": "sse"}.get(plan["form"], plan["form"])
            plan["refuse"] = {"lost": "503r"}.get(plan["refuse"], plan["refuse"])
            return await self._tools_call(message, reader, writer)
        return await self._reading(message, writer)

    def plain_result(self, message):
        if message["method"] == "server/discover":
            found = {"supportedVersions": [VERSION], "serverInfo": {"name": "fuzz", "version": "2"},
                     "capabilities": {**self.initialize_result()["capabilities"], "tools": {"listChanged": True}}}
        else:
            found = super().plain_result(message)
        return {"resultType": "complete", "ttlMs": 0, "cacheScope": "private", **found}

    # Calls, and what they ask.

    async def call(self, message, outlet):
        self._of_this_revision(message, outlet)
        params = message["params"]
        key, plan = params["arguments"]["key"], params["arguments"]["plan"]
        if "requestState" in params:
            if params["requestState"] != self._state(key) or key in self.used_states:
                outlet.answer({"jsonrpc": "2.0", "id": message["id"],
                               "error": {"code": -32602, "message": "unknown state", "data": {"key": key}}})
                return
            self.used_states.add(key)
            self._answered(params.get("inputResponses") or {})
        elif self._asks(message, key, plan, outlet):
            return
        await super().call(message, outlet)

    @staticmethod
    def _state(key):
        return f"state of {key} \u00e9\\/\""

    @staticmethod
    def _of_this_revision(message, outlet):
        """Each result says what it is, and nobody is told log messages who did not ask for them."""
        answer, say = outlet.answer, outlet.message
        wants_logs = META + "logLevel" in message["params"]["_meta"]

        def typed(response):
            if "result" in response:
                response["result"].setdefault("resultType", "complete")
            answer(response)

        def filtered(notification):
            if wants_logs or notification["method"] != "notifications/message":
                say(notification)

        outlet.answer, outlet.message = typed, filtered

    def _asks(self, message, key, plan, outlet):
        """Whether it was answered with questions that its client has declared to answer."""
        declared = message["params"]["_meta"][META + "clientCapabilities"]
        asked = {}
        for step in plan["steps"]:
            if step[0] == "ask" and CAPABILITY_FOR.get(step[1]) in declared:
                question = self.ledger.question(step[1], key)
                question.moot = True  # whoever was asked may leave it
                asked[f"q\"{question.number}"] = {"method": step[1], "params": {"question": question.number}}
        if asked:
            self.note(f"asks in the result of {key}: {list(asked)}")
            outlet.answer({"jsonrpc": "2.0", "id": message["id"], "result": {
                "resultType": "input_required", "inputRequests": asked, "requestState": self._state(key)}})
        return bool(asked)

    def _answered(self, responses):
        for id, result in responses.items():
            question = self.ledger.questions[int(id.partition('"')[2])]
            self.note(f"is answered {question.number}: {result}")
            # What nobody answered is an elicitation that the user has cancelled.
            question.responses.append({"error": result} if result == {"action": "cancel"} else {"result": result})

    async def ask(self, method, outlet, key):
        """There are no requests of the server."""
