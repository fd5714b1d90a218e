"""The scripted upstream of MCP 2026-07-28 as a local server."""

import json

from .modern_server import META, ModernServer, acknowledgement, is_removed, method_not_found
from .one_stream import Outlet
from .server import dumps
from .stdio_upstream import StdioUpstream


class ModernStdioUpstream(ModernServer, StdioUpstream):
    def __init__(self, ledger, choices):
        super().__init__(ledger, choices)
        self.listens = []   # the ids of those that are open, of this run
        self.say = self._tell

    def open_session(self, log=None):
        session = super().open_session(log)
        self.listens = []
        return session

    def _tell(self, data):
        message = json.loads(data)
        told = False
        for id in self.listens:
            message["params"]["_meta"] = {META + "subscriptionId": id}
            told = self.put(self.session, dumps(message)) or told
        return told

    def break_stream(self, politely):
        """Each end that a listen can have: a result, a cancellation, the end of the run."""
        if not politely:
            super().break_stream(politely)
            return
        if self.listens:
            self.note(f"ends what listens: {self.listens}")
            self.way_broke(self.session.name)
        for id in self.listens:
            meta = {META + "subscriptionId": id}
            self.put(self.session, dumps(
                {"jsonrpc": "2.0", "id": id, "result": {"resultType": "complete", "_meta": meta}} if id % 2 else
                {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}))
        self.listens = []

    def take(self, message, session):
        wrong = self.wrong_message(message)
        method = message.get("method")
        # Of one that is slow to answer the first question it is asked as well what it does not know.
        if wrong and method != "initialize":
            self.ledger.violation(f"the upstream was sent {wrong}: {message}", "upstream")
        if method == "notifications/cancelled" and message["params"]["requestId"] in self.listens:
            self.listens.remove(message["params"]["requestId"])
        if "id" in message and method is not None and is_removed(method):
            if method == "ping":
                self.ledger.violation(f"the upstream was sent {method}", "upstream")
            Outlet(self, session).answer(method_not_found(message["id"]))
        elif method == "subscriptions/listen":
            self.note(f"is listened to as {message['id']}: {message['params']['notifications']}")
            self.put(session, dumps(acknowledgement(message)))
            self.listens.append(message["id"])
        else:
            super().take(message, session)
