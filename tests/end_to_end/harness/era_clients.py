"""One client of each era on each way in, all with the same verbs, so that a table of what happens can be run with each.

    tools() names · call(tool, arguments, token, level) (text, what came before it) · ask(kinds) (the response, how it was asked)
    begin(tool, arguments) a call that is not waited for · cancel(call) · die() · subscribe(uri) · gathered(count) notifications"""

import json
import socket
import struct

from .frames import answer, call, initialize, notification
from .modern_client import ANSWERS, ModernClient, ModernFace
from .socket_client import Client

CAPABLE = {"elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {}}
ANSWERED = {"elicitation/create": "elicitation", "sampling/createMessage": "sampling", "roots/list": "roots"}


def text_or_error(response):
    return response["result"]["content"][0]["text"] if "result" in response else response["error"]


def dies(plain):
    """Closes as a process that is killed: at once, with nothing said."""
    plain.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    plain.close()


class LegacyOnSocket:
    era = "legacy"

    def __init__(self, path):
        self.client = Client(path)
        self.ids = iter(range(1, 10000))

    def open(self):
        opened = self.client.send(initialize(0, CAPABLE)).answer(0)
        self.client.send(notification("notifications/initialized"))
        return opened

    def ask_for(self, method, params=None):
        return self.client.request(method, params, next(self.ids))

    def tools(self):
        names, cursor = [], {}
        while cursor is not None:
            result = self.ask_for("tools/list", cursor)["result"]
            names += [tool["name"] for tool in result["tools"]]
            cursor = {"cursor": result["nextCursor"]} if "nextCursor" in result else None
        return names

    def call(self, tool, arguments=None, token=None, level=None):
        if level:
            self.ask_for("logging/setLevel", {"level": level})
        before = len(self.client.others)
        response = self.client.call(tool, arguments, next(self.ids), token)
        return text_or_error(response), self.client.others[before:]

    def ask(self, kinds, rounds=1):
        id = next(self.ids)
        self.client.send(call("ask", {"kinds": kinds, "rounds": rounds}, id))
        asked = 0
        while True:
            message = self.client.line()
            if message.get("id") == id and "method" not in message:
                return message, f"{asked} requests"
            if "id" in message:
                asked += 1
                self.client.send(answer(message["id"], ANSWERS[ANSWERED[message["method"]]]))

    def begin(self, tool, arguments):
        id = next(self.ids)
        self.client.send(call(tool, arguments, id))
        return id

    def cancel(self, id):
        self.client.send(notification("notifications/cancelled", {"requestId": id}))

    def die(self):
        dies(self.client.socket)

    def subscribe(self, uri):
        assert "result" in self.ask_for("resources/subscribe", {"uri": uri})

    def gathered(self, count):
        """The notifications that came, with those before answers that were waited for."""
        found = [one for one in self.client.others if "id" not in one]
        while len(found) < count:
            found.append(self.client.line())
        return found

    def close(self):
        self.client.close()


class LegacyOnFace:
    era = "legacy"

    def __init__(self, face):
        self.face, self.ids, self.stream, self.session = face, iter(range(1, 10000)), None, None

    def open(self):
        self.session = self.face.session(CAPABLE)

    def ask_for(self, method, params=None):
        return self.face.ask(method, params, next(self.ids), self.session).json()

    tools = LegacyOnSocket.tools

    def call(self, tool, arguments=None, token=None, level=None):
        if level:
            self.ask_for("logging/setLevel", {"level": level})
        source = self.face.post_stream(call(tool, arguments, next(self.ids), token), self.session)
        messages = source.rest()
        source.close()
        return text_or_error(messages[-1]), messages[:-1]

    def ask(self, kinds, rounds=1):
        source = self.face.post_stream(call("ask", {"kinds": kinds, "rounds": rounds}, next(self.ids)), self.session)
        asked = 0
        while True:
            message = source.message()
            if "method" not in message:
                source.close()
                return message, f"{asked} requests"
            if "id" in message:
                asked += 1
                assert self.face.post(answer(message["id"], ANSWERS[ANSWERED[message["method"]]]), self.session).status == 202

    def begin(self, tool, arguments):
        id = next(self.ids)
        self.connection = self.face.send_post(call(tool, arguments, id), self.session)
        return id

    def cancel(self, id):
        assert self.face.post(notification("notifications/cancelled", {"requestId": id}), self.session).status == 202

    def die(self):
        dies(self.connection)

    def subscribe(self, uri):
        assert "result" in self.ask_for("resources/subscribe", {"uri": uri})

    def gathered(self, count):
        self.stream = self.stream or self.face.stream(self.session)
        return self.stream.messages(count)

    def close(self):
        if self.stream:
            self.stream.close()
        if self.session:
            self.face.request("DELETE", "/mcp", session=self.session)
            self.session = None


class _Modern:
    era = "modern"

    def open(self):
        assert "result" in self.client.ask("server/discover", capabilities=CAPABLE)

    def ask_for(self, method, params=None):
        return self.client.ask(method, params)

    tools = LegacyOnSocket.tools

    def call(self, tool, arguments=None, token=None, level=None):
        self.client.others = []
        response = self.client.call_tool(tool, arguments, token=token, log_level=level)
        return text_or_error(response), self.client.others

    def ask(self, kinds, rounds=1):
        response, asked = self.client.with_answers("ask", {"kinds": kinds, "rounds": rounds}, CAPABLE)
        return response, f"{asked} rounds"

    def begin(self, tool, arguments):
        return self.client.begin("tools/call", {"name": tool, "arguments": arguments})

    def subscribe(self, uri):
        self.listening = self.client.listen(toolsListChanged=True, resourceSubscriptions=[uri])
        self.uri = uri

    def gathered(self, count, uri="demo://one"):
        listen = self.client.listen(toolsListChanged=True, resourceSubscriptions=[uri])
        return [listen.next() for _ in range(count)]

    def assert_clean(self):
        self.client.assert_clean()

    def close(self):
        self.client.close()


class ModernOnSocket(_Modern):
    def __init__(self, path):
        self.client = ModernClient(path)

    def cancel(self, id):
        self.client.cancel(id)

    def die(self):
        dies(self.client.socket)


class ModernOnFace(_Modern):
    def __init__(self, face):
        self.client = ModernFace(face)

    def begin(self, tool, arguments):
        """The head of its response comes with the first byte of it, so it is not waited for."""
        message = self.client.made("tools/call", {"name": tool, "arguments": arguments})
        body = json.dumps(message).encode()
        head = {**self.client.face.headers(accept="application/json, text/event-stream"), "Content-Type": "application/json",
                "Host": self.client.face.authority, "Content-Length": len(body), **self.client.headers(message)}
        self.connection = self.client.face.connect()
        self.connection.sendall(("POST /mcp HTTP/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in head.items())
                                 + "\r\n").encode() + body)
        return self.connection

    def cancel(self, connection):
        connection.close()

    def die(self):
        dies(self.connection)
