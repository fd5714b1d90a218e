"""One request that a scripted server answers, over HTTP or on a line, in either era."""

import asyncio
import json

from .modern_protocol import CACHEABLE, CAPABILITIES, LOG_LEVEL, MESSAGE, PROGRESS, SERVER_INFO
from .modern_rules import modern

INFO = {"name": "scripted", "version": "1"}


class Exchange:
    """`gone` is set when the client has cancelled it, by closing or by saying so; nothing is sent afterwards."""

    def __init__(self, server, message, session=None):
        self.server, self.message, self.session = server, message, session
        self.id, self.method = message.get("id"), message.get("method")
        self.params = message.get("params") or {}
        self.meta = self.params.get("_meta") or {}
        self.modern = modern(message)
        self.gone = asyncio.Event()
        self.over = False

    @property
    def capabilities(self):
        return self.meta.get(CAPABILITIES, {}) if self.modern else self.session.capabilities if self.session else {}

    @property
    def log_level(self):
        return self.meta.get(LOG_LEVEL) if self.modern else self.session.log_level if self.session else None

    # What is said.

    async def notify(self, method, params):
        if not self.over and not self.gone.is_set():
            await self._say({"jsonrpc": "2.0", "method": method, "params": params})

    async def progress(self, done, total):
        if "progressToken" in self.meta:
            await self.notify(PROGRESS, {"progressToken": self.meta["progressToken"], "progress": done, "total": total})

    async def log(self, level, data):
        if self.server.logs(self.log_level, level, self.modern):
            await self.notify(MESSAGE, {"level": level, "data": data})

    async def answer(self, result):
        if self.modern:
            result = {"resultType": "complete", **result}
            result["_meta"] = {SERVER_INFO: INFO, **result.get("_meta", {})}
            if self.method in CACHEABLE and result["resultType"] == "complete":
                result = {"ttlMs": 0, "cacheScope": "private", **result}
        await self.end({"jsonrpc": "2.0", "id": self.id, "result": result})

    async def fail(self, code, message, data=None, status=None):
        error = {"code": code, "message": message, **({} if data is None else {"data": data})}
        await self.end({"jsonrpc": "2.0", "id": self.id, "error": error}, status)

    async def end(self, message, status=None):
        if not self.over and not self.gone.is_set():
            self.over = True
            await self._end(message, status)


class HttpExchange(Exchange):
    """Its answer is a JSON body, or a stream once something else was said before."""

    def __init__(self, server, message, connection, session=None):
        super().__init__(server, message, session)
        self.connection = connection
        self.streaming = False

    async def begin(self, headers=()):
        if not self.streaming:
            self.streaming = True
            lines = ["HTTP/1.1 200 OK", "Content-Type: text/event-stream", "Cache-Control: no-cache",
                     "X-Accel-Buffering: no", "Transfer-Encoding: chunked",
                     *(f"{name}: {value}" for name, value in headers)]
            await self.connection.write(("\r\n".join(lines) + "\r\n\r\n").encode())

    async def _say(self, message):
        await self.begin()
        await self._chunk(b"data: " + text(message).encode() + b"\n\n")

    async def comment(self, words="alive"):
        await self.begin()
        await self._chunk(f": {words}\n\n".encode())

    async def _chunk(self, data):
        await self.connection.write(b"%x\r\n%s\r\n" % (len(data), data))

    async def _end(self, message, status):
        if self.streaming:
            await self._say(message)
            await self.connection.write(b"0\r\n\r\n")
        else:
            await self.connection.respond(status or 200, message, self.server.answer_headers(self))

    async def close_sudden(self):
        self.over = True
        self.connection.abort()

    async def close_bare(self):
        """The stream ends in good order, without an answer."""
        self.over = True
        await self.begin()
        await self.connection.write(b"0\r\n\r\n")


class LineExchange(Exchange):
    def __init__(self, server, message, link, session=None):
        super().__init__(server, message, session)
        self.link = link

    async def _say(self, message):
        await self.link.write(text(message).encode() + b"\n")

    async def _end(self, message, status):
        await self._say(message)

    async def comment(self, words="alive"):
        pass

    async def close_sudden(self):
        self.over = True
        self.link.abort()

    close_bare = close_sudden


def text(message):
    return message if isinstance(message, str) else json.dumps(message, separators=(",", ":"))
