"""What the carriers have in common whose every message goes on one stream: a child's output, and HTTP+SSE."""

import asyncio

from .event_log import EventLog
from .server import Server, dumps


class Outlet:
    """A request's messages, on the stream of the session in which it came."""

    def __init__(self, server, session):
        self.server, self.session = server, session

    def message(self, message):
        self.server.put(self.session, dumps(message))

    answer = message

    def hang(self):
        pass

    def malformed(self, data):
        self.server.put(self.session, data)


class OneStreamUpstream(Server):
    def __init__(self, ledger, choices, kind):
        super().__init__(ledger, choices, kind)
        self.say = lambda message: self.put(self.session, message)
        self.lose = lambda: self.end_session("restarted")

    def put(self, session, data):
        if session is None or session.lost:
            return False
        session.log.append(data)
        return True

    def end_session(self, why):
        if self.session and not self.session.lost:
            self.session_is_over(why)
            self.session.log.end()

    def break_stream(self, politely):
        self.end_session("its stream breaks")

    def open_session(self, log=None):
        self.end_session("another")
        return super().open_session(log or EventLog())

    def take(self, message, session):
        """One message of the bridge."""
        method = message.get("method")
        outlet = Outlet(self, session)
        if method is None:
            self.response(message)
        elif "id" not in message:
            self.note(f"gets {method} {message.get('params')}")
            key = (message.get("params") or {}).get("key")
            if key:
                self.ledger.act(key)
        elif method == "tools/call":
            self._tools_call(message, outlet, session)
        else:
            self.note(f"{method} id {message['id']}")
            result = self.initialize_result() if method == "initialize" else self.plain_result(message)
            outlet.answer({"jsonrpc": "2.0", "id": message["id"], "result": result})

    def _tools_call(self, message, outlet, session):
        key, plan = message["params"]["arguments"]["key"], message["params"]["arguments"]["plan"]
        self.ledger.arrive(key)
        if plan.get("break") == "crash":
            self.ledger.act(key)
            self.note(f"ends on {key}")
            self.end_session(f"with {key}")
            return
        self.start(self.call(message, outlet))
