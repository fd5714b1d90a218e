"""Clients that the server asks something: who declared what, and who was asked."""

import json

from .case import Case
from .frames import initialize, notification, request

ALL = {"sampling": {}, "elicitation": {}, "roots": {}}


class Questions(Case):
    def capable(self, capabilities=None, daemon=None, client=None):
        """A client that has initialized with these capabilities."""
        client = client or self.client(daemon)
        client.send(initialize("init", ALL if capabilities is None else capabilities))
        client.answer("init")
        client.send(notification("notifications/initialized"))
        client.fence()
        client.others = []
        return client

    def answering(self, *methods):
        """A client that has said by `bridge/answers` what it answers, and nothing else."""
        client = self.client()
        client.send(notification("bridge/answers", {"methods": list(methods)}))
        return client

    def asks(self, server, id="srv-1", method="sampling/createMessage", params=None):
        server.ask(request(method, params or {"messages": [], "maxTokens": 1}, id))

    def asked(self, client, method="sampling/createMessage"):
        message = client.line()
        self.assertEqual(message.get("method"), method, message)
        return message

    def refused(self, server, id="srv-1", nth=1):
        """The server has been told that nobody answers it."""
        message = json.loads(server.answers(wait=nth)[nth - 1]["body"])
        self.assertEqual((message["id"], message["error"]["code"]), (id, -32601))
