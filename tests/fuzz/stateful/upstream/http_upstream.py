"""The scripted upstream over Streamable HTTP."""

import asyncio
import json
import socket

import wire

from .event_log import EventLog
from .writing import JSON, NOT_DONE, STREAM, close, pump, refusal_of, reply, write
from .outlet import HANGS, Outlet
from .server import Server, dumps


class HttpUpstream(Server):
    def __init__(self, ledger, choices):
        super().__init__(ledger, choices, "http")
        self.logs = {}          # prefix: log with event ids
        self.logs_made = 0
        self.stream_writers = []
        self.server_ids = choices.chance(0.5)       # the session's stream can be resumed
        self.has_stream = choices.chance(0.9)
        self.unknown_session = choices.pick({404: 3, 400: 1})
        self.closes_idle = choices.chance(0.3)
        self.say = self._say
        self.lose = lambda: self._lose("restarted")

    async def listen(self):
        self.listener = await asyncio.start_server(self.handle, "127.0.0.1", 0, limit=1 << 24)
        self.port = self.listener.sockets[0].getsockname()[1]
        return f"http://127.0.0.1:{self.port}/mcp"

    # The session's own stream.

    def _say(self, message):
        session = self.session
        if session is None or session.lost or not self.has_stream:
            return False
        if not self.server_ids and not session.log.readers:
            return False
        session.log.append(message)
        return True

    def _lose(self, why):
        if self.session and not self.session.lost:
            self.session_is_over(why)
            self.session.log.end()

    def break_stream(self, politely):
        for writer in list(self.stream_writers):
            self.note(f"breaks the session's stream {'politely' if politely else 'by a reset'}")
            if not self.server_ids:
                self.way_broke(self.session.name)
            close(writer, politely)

    def _new_log(self, with_ids):
        self.logs_made += 1
        log = EventLog(f"e{self.logs_made}" if with_ids else None)
        if with_ids:
            self.logs[log.prefix] = log
            log.append(b"")
        return log

    # Connections.

    async def connection(self, reader, writer):
        writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while (head := await wire.read_head(reader)) is not None:
            body = await reader.readexactly(int(head.get("content-length", 0)))
            method = head.first.split(" ")[0]
            if head.asks_for_login:
                goes_on = await reply(writer, 404)
            else:
                goes_on = await getattr(self, "_" + method.lower())(head, body, reader, writer)
            if not goes_on:
                break
            if self.closes_idle and self.choices.chance(0.1):
                break

    async def _unknown_session(self, writer):
        body = {"jsonrpc": "2.0", "id": None, "error": {"code": -32001, "message": "Session not found"}}
        if self.unknown_session == 400:
            body["error"] = {"code": -32000, "message": "Bad Request: No valid session ID provided"}
        return await reply(writer, self.unknown_session, dumps(body))

    def _knows(self, head):
        return self.session and not self.session.lost and head.get("mcp-session-id") == self.session.name

    async def _delete(self, head, _, __, writer):
        if not self._knows(head):
            return await self._unknown_session(writer)
        self.session_is_over("DELETE")
        self.session.log.end()
        return await reply(writer, 200)

    # GET: the session's stream, or what was broken.

    async def _get(self, head, _, reader, writer):
        if not self.has_stream and not head.get("last-event-id"):
            return await reply(writer, 405)
        if not self._knows(head):
            return await self._unknown_session(writer)
        last = head.get("last-event-id")
        log = self.session.log if last is None else self.logs.get(last.rpartition("-")[0])
        if log is None:
            return await reply(writer, 404)
        of_session = log is self.session.log
        start = log.after(last) if last else (0 if log.prefix else len(log.events))
        self.note(f"GET {'of the session' if of_session else log.prefix} from {start}")
        writer.write(wire.answer_head(200, [STREAM, ("Transfer-Encoding", "chunked")]))
        name = self.session.name
        if of_session:
            self.stream_writers.append(writer)
        try:
            whole = await pump(log, start, reader, writer)
        finally:
            if of_session:
                self.stream_writers.remove(writer)
        if of_session and not whole and not log.prefix:
            self.way_broke(name)
        return False

    # POST.

    async def _post(self, head, body, reader, writer):
        message = json.loads(body)
        method = message.get("method")
        if method is None:
            if not self._knows(head):
                return await self._unknown_session(writer)
            self.response(message)
            return await reply(writer, 202)
        if method == "initialize":
            return await self._initialize(message, writer)
        if not self._knows(head):
            return await self._unknown_session(writer)
        if "id" not in message:
            return await self._notification(message, writer)
        if method == "tools/call":
            return await self._tools_call(message, reader, writer)
        return await self._reading(message, writer)

    async def _initialize(self, message, writer):
        fault = "" if self.quiet else self.choices.pick({"": 12, "close": 1, "503": 1, "503r": 1})
        self.note(f"initialize {fault}")
        if fault == "close":
            return False
        if fault:
            return await reply(writer, *refusal_of(fault))
        self._lose("a new session")
        prefix = None
        if self.server_ids:
            self.logs_made += 1
            prefix = f"e{self.logs_made}"
        session = self.open_session(EventLog(prefix))
        if prefix:
            self.logs[prefix] = session.log
            session.log.append(b"")
        answer = dumps({"jsonrpc": "2.0", "id": message["id"], "result": self.initialize_result()})
        return await reply(writer, 200, answer, [JSON, ("Mcp-Session-Id", session.name)])

    async def _notification(self, message, writer):
        self.note(f"gets {message['method']} {message.get('params')}")
        key = (message.get("params") or {}).get("key")
        if key:
            self.ledger.act(key)
        return await reply(writer, 202)

    async def _reading(self, message, writer, may_close=True):
        fault = "" if self.quiet else self.choices.pick({"": 30, "close": 1, "503": 0.5, "503r": 1, "sse": 4})
        self.note(f"{message['method']} id {message['id']} {fault}")
        if message["method"] == "resources/subscribe":
            await self.subscribe(message)
        if fault == "close" and may_close:
            return False
        answer = dumps({"jsonrpc": "2.0", "id": message["id"], "result": self.plain_result(message)})
        if fault == "sse":
            return await reply(writer, 200, wire.event(answer), (STREAM,))
        if fault and fault != "close":
            return await reply(writer, *refusal_of(fault))
        return await reply(writer, 200, answer)

    async def _tools_call(self, message, reader, writer):
        arguments = message["params"]["arguments"]
        key, plan = arguments["key"], arguments["plan"]
        refusal = plan["refuse"] if self.ledger.arrive(key) == 1 else ""
        if refusal:
            self.note(f"refuses {key}: {refusal}")
            if refusal not in NOT_DONE:
                self.ledger.act(key)
            if refusal == "lost":
                self._lose(f"with {key}")
                return await self._unknown_session(writer)
            return await reply(writer, *refusal_of(refusal))
        log = self._new_log(plan["form"] == "ids")
        outlet = Outlet(log, plan["form"] in ("sse", "ids") and plan["tail"] == "keep")
        if plan["break"] in ("before", "abort_before"):
            self.ledger.act(key)
            self.note(f"closes before it answers {key}")
            close(writer, plan["break"] == "before")
            return False
        self.start(self.call(message, outlet))
        if plan["form"] == "json":
            return await self._body(log, outlet, plan, reader, writer)
        if plan["form"] == "accepted":
            self.start(self._answer_on_stream(log))
            return await reply(writer, 202)
        return await self._stream(key, log, plan, reader, writer)

    async def _answer_on_stream(self, log):
        async for _, data in log.read(0):
            if data is HANGS:
                return
            self._say(data)

    async def _body(self, log, outlet, plan, reader, writer):
        ended = asyncio.ensure_future(log.wait_for_end())
        gone = asyncio.ensure_future(reader.read(1))
        try:
            await asyncio.wait([ended, gone], return_when=asyncio.FIRST_COMPLETED)
            if not ended.done():
                return False
        finally:
            ended.cancel()
            gone.cancel()
            await asyncio.gather(ended, gone, return_exceptions=True)
        body = outlet.body or outlet.garbage
        data = wire.answer_head(200, [JSON, ("Content-Length", len(body))]) + body
        if plan["break"] in ("middle", "abort_middle"):
            await write(writer, data[:len(data) // 2])
            close(writer, plan["break"] == "middle")
            return False
        await write(writer, data, plan["trickle"])
        return True

    async def _stream(self, key, log, plan, reader, writer):
        writer.write(wire.answer_head(200, [STREAM, ("Transfer-Encoding", "chunked")]))
        stop_after = None
        if plan["break"] in ("middle", "abort_middle"):
            # The empty event of a log with ids first: without it nobody could come back.
            stop_after = 1 + len(plan["steps"]) // 2 if log.prefix else len(plan["steps"]) // 2
        whole = await pump(log, 0, reader, writer, stop_after, plan["trickle"])
        if stop_after is not None:
            self.note(f"breaks the stream of {key}")
            close(writer, plan["break"] == "middle")
            return False
        if plan["break"] == "after":
            return False
        return whole
