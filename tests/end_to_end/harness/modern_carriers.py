"""How requests reach the scripted server: HTTP connections, and lines of a child's stdin."""

import asyncio
import json

from . import legacy_sessions
from .modern_exchange import HttpExchange, LineExchange, text
from .modern_protocol import CANCELLED, VERSION
from .modern_rules import Refused, modern, values


class Received:
    def __init__(self, message, headers, carrier, era):
        self.message, self.headers, self.carrier, self.era = message, headers, carrier, era
        self.method, self.id = message.get("method"), message.get("id")
        self.params = message.get("params") or {}

    def header(self, name):
        return next(iter(values(self.headers, name)), None)

    def __repr__(self):
        return f"{self.era} {json.dumps(self.message)[:300]}"


class Carrier:
    def __init__(self, server, reader, writer):
        self.server, self.reader, self.writer = server, reader, writer
        self.buffer = bytearray()
        self.more = asyncio.Event()
        self.closed = asyncio.Event()

    async def _pump(self):
        try:
            while data := await self.reader.read(1 << 16):
                self.buffer.extend(data)
                self.more.set()
        except (ConnectionError, asyncio.CancelledError):
            pass
        self.closed.set()
        self.more.set()

    async def _until(self, there):
        """Waits for bytes; False at the end of the connection."""
        while not there():
            if self.closed.is_set():
                return False
            self.more.clear()
            await self.more.wait()
        return True

    async def write(self, data):
        try:
            self.writer.write(data)
            await self.writer.drain()
        except (ConnectionError, RuntimeError):
            self.closed.set()

    def abort(self):
        self.writer.transport.abort()
        self.closed.set()
        self.more.set()

    def _journal(self, message, headers=()):
        """What it is judged as: `modern` where the server is one or the message says so."""
        server = self.server
        era = "modern" if server.mode == "modern" or (server.mode == "dual" and modern(message)) else "legacy"
        server.received_all.append(Received(message, headers, type(self).__name__, era))
        return era

    async def _serve(self, exchange, era):
        """Judges and answers; what a fault says instead is done by `_fault`."""
        server, rules = self.server, self.server.rules
        try:
            if era == "modern":
                rules.meta(exchange.message)
                rules.begins(exchange.message)
            fault = server.faulty(exchange.method, era)
            if fault and await self._fault(exchange, fault):
                return
            await server.serve(exchange)
        except Refused as refused:
            server.refused.append((exchange.method, refused.code))
            await exchange.fail(refused.code, refused.message, refused.data, refused.status)
        finally:
            if era == "modern":
                rules.ends(exchange.message)

    async def _fault(self, exchange, fault):
        """Whether the fault was the answer."""
        if fault.get("close"):
            await exchange.close_sudden()
        elif fault.get("silent"):
            await exchange.gone.wait()
        elif fault.get("sudden"):
            await exchange.comment("begun")
            await exchange.close_sudden()
        elif "result" in fault:
            await exchange.end({"jsonrpc": "2.0", "id": exchange.id, "result": fault["result"]}, fault.get("status"))
        elif "error" in fault:
            await exchange.end({"jsonrpc": "2.0", "id": exchange.id, "error": fault["error"]}, fault.get("status"))
        elif "raw" in fault:
            await exchange.end(fault["raw"].replace("$ID", json.dumps(exchange.id)), fault.get("status"))
        else:
            return await self._plain(exchange, fault)
        return True


class Connection(Carrier):
    async def serve(self):
        pump = asyncio.ensure_future(self._pump())
        try:
            while await self._until(lambda: b"\r\n\r\n" in self.buffer):
                head, _, _ = bytes(self.buffer).partition(b"\r\n\r\n")
                del self.buffer[:len(head) + 4]
                lines = head.decode("latin-1").split("\r\n")
                verb, path, _ = lines[0].split(" ", 2)
                headers = [(name, value.strip(" \t")) for name, _, value in (line.partition(":") for line in lines[1:])]
                length = int((values(headers, "content-length") or ["0"])[0])
                if not await self._until(lambda: len(self.buffer) >= length):
                    return
                body = bytes(self.buffer[:length])
                del self.buffer[:length]
                await self._request(verb, path, headers, body)
                if self.writer.transport.is_closing():
                    return
        finally:
            pump.cancel()
            self.writer.close()

    async def respond(self, status, body=b"", headers=()):
        if isinstance(body, dict):
            body, headers = text(body), [("Content-Type", "application/json"), *headers]
        body = body.encode() if isinstance(body, str) else body
        lines = [f"HTTP/1.1 {status} x", f"Content-Length: {len(body)}", *(f"{name}: {value}" for name, value in headers)]
        await self.write(("\r\n".join(lines) + "\r\n\r\n").encode() + body)

    async def _plain(self, _, fault):
        await self.respond(fault["status"], fault.get("body", b""), fault.get("headers", ()))
        return True

    async def refuse(self, status, code, words, id=None, data=None):
        error = {"code": code, "message": words, **({} if data is None else {"data": data})}
        await self.respond(status, {"jsonrpc": "2.0", **({} if id is None else {"id": id}), "error": error})

    async def _request(self, verb, path, headers, body):
        server = self.server
        if path != "/mcp":
            # Login documents are asked for where a server says 401; this one has none.
            await self.respond(404, b"not here")
            return
        if verb != "POST":
            await self._other(verb, headers)
            return
        try:
            message = json.loads(body)
        except ValueError:
            server.rules.violation(f"no JSON: {body[:200]!r}")
            await self.refuse(400, -32700, "Parse error")
            return
        era = self._journal(message, headers) if isinstance(message, dict) else "modern"
        if era == "legacy" or (server.forgiving and not modern(message)):
            await (self._legacy if era == "legacy" else self._too_old)(message, headers)
            return
        if not server.rules.frame(message, over_http=True):
            if isinstance(message, dict) and "method" in message and "id" in message:
                await self._too_old(message, headers)
            else:
                await self.refuse(400, -32600, "Invalid Request")
            return
        try:
            server.rules.http(headers, message)
        except Refused as refused:
            server.refused.append((message["method"], refused.code))
            await self.refuse(refused.status, refused.code, refused.message, message.get("id"))
            return
        if "id" not in message:
            await self.respond(202)
            return
        await self._run(HttpExchange(server, message, self), era)

    async def _too_old(self, message, _):
        """What a server of this revision alone answers to one that is older."""
        if "id" not in message:
            await self.respond(202 if self.server.forgiving else 400)
            return
        await self.refuse(400, -32022, f"Unsupported protocol version; this server speaks {VERSION}", message["id"],
                          {"supported": [VERSION], "requested": (message.get("params") or {}).get("protocolVersion", "")})

    async def _run(self, exchange, era):
        """Serves while looking whether the client closes."""
        async def watches():
            await self.closed.wait()
            exchange.gone.set()

        watch = asyncio.ensure_future(watches())
        try:
            await self._serve(exchange, era)
        finally:
            watch.cancel()

    # The older revisions.

    def _session(self, headers):
        return self.server.sessions.get((values(headers, "mcp-session-id") or [""])[0])

    async def _other(self, verb, headers):
        server, session = self.server, self._session(headers)
        server.received_all.append(Received({"method": verb}, headers, "Connection", "legacy"))
        if server.mode == "modern":
            if not server.forgiving:
                server.rules.violation(f"{verb}: this revision has POST only")
            await self.respond(405)
        elif session is None:
            await self.refuse(404, -32001, "Session not found")
        elif verb == "DELETE":
            del server.sessions[session.id]
            await self.respond(200)
        elif verb == "GET":
            stream = Stream(self)
            await stream.begin()
            session.stream = stream
            await self.closed.wait()
            if session.stream is stream:
                session.stream = None
        else:
            await self.respond(405)

    async def _legacy(self, message, headers):
        server = self.server
        method, session = message.get("method"), self._session(headers)
        if method == "server/discover":
            pass  # the probe: answered, or refused, as the server is
        elif method == "initialize":
            session = legacy_sessions.Session(message)
            server.sessions[session.id] = session
        elif session is None:
            await self.refuse(404, -32001, "Session not found", message.get("id"))
            return
        if method is None:
            answered = session.answered(message)
            await self.respond(202 if answered else 400)
        elif "id" not in message:
            await self._told(session, message)
            await self.respond(202)
        else:
            exchange = HttpExchange(server, message, self, session)
            exchange.modern = False
            session and session.__dict__.setdefault("open", {}).update({json.dumps(message["id"]): exchange})
            await self._run(exchange, "legacy")

    async def _told(self, session, message):
        if message["method"] == "notifications/initialized":
            session.initialized = True
        if message["method"] == CANCELLED:
            exchange = session.__dict__.get("open", {}).get(json.dumps(message["params"].get("requestId")))
            if exchange is not None and not exchange.over:
                exchange.gone.set()
                self.server.cancelled.append("said " + exchange.method)
                exchange.connection.abort()


class Stream:
    """The GET of a session."""

    def __init__(self, connection):
        self.connection = connection

    async def begin(self):
        await self.connection.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
                                    b"4\r\n: a\n\r\n")

    async def event(self, message):
        data = b"data: " + text(message).encode() + b"\n\n"
        await self.connection.write(b"%x\r\n%s\r\n" % (len(data), data))


class Link(Carrier):
    """A child's stdin and stdout. In one process a server of both eras serves the era of its first request."""

    async def serve(self):
        pump = asyncio.ensure_future(self._pump())
        self.session, self.exchanges, tasks = None, {}, set()
        try:
            while await self._until(lambda: b"\n" in self.buffer):
                line, _, _ = bytes(self.buffer).partition(b"\n")
                del self.buffer[:len(line) + 1]
                task = asyncio.ensure_future(self._line(line))
                tasks.add(task)
                task.add_done_callback(tasks.discard)
                await asyncio.sleep(0)
        finally:
            for exchange in self.exchanges.values():
                exchange.gone.set()
            self.server.listens[:] = [one for one in self.server.listens if getattr(one, "link", None) is not self]
            pump.cancel()
            self.writer.close()

    async def _plain(self, exchange, fault):
        await exchange.fail(-32603, f"as HTTP {fault['status']} would say")
        return True

    async def _line(self, line):
        server = self.server
        try:
            message = json.loads(line)
        except ValueError:
            server.rules.violation(f"a line that is no message: {line[:200]!r}")
            return
        era = self._journal(message) if isinstance(message, dict) else "modern"
        if era == "modern" and not (server.forgiving and not modern(message)):
            if not server.rules.frame(message, over_http=False):
                if isinstance(message, dict) and message.get("id") is not None and "method" in message:
                    await LineExchange(server, message, self).fail(-32601, f"Method not found; this server speaks {VERSION}")
                return
        elif message.get("method") is None:
            if self.session is None or not self.session.answered(message):
                server.rules.violation(f"an answer to nothing: {line[:200]!r}")
            return
        if "id" not in message:
            self._told(message, era)
            return
        if era == "modern" and not modern(message):
            await LineExchange(server, message, self).fail(-32022, "Unsupported protocol version")
            return
        if era == "legacy" and message["method"] == "initialize":
            self.session = legacy_sessions.Session(message, self)
            server.sessions[self.session.id] = self.session
        exchange = LineExchange(server, message, self, self.session)
        exchange.modern = exchange.modern and era == "modern"
        self.exchanges[json.dumps(message["id"])] = exchange
        await self._serve(exchange, era)

    def _told(self, message, era):
        if message["method"] != CANCELLED:
            return
        exchange = self.exchanges.get(json.dumps(message.get("params", {}).get("requestId")))
        if exchange is not None and not exchange.over:
            exchange.gone.set()
            if era == "legacy":
                self.server.cancelled.append("said " + exchange.method)


__all__ = ["Connection", "Link", "Received", "SUBSCRIPTION_ID"]
