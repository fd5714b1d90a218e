"""One request to the HTTP face on a connection of its own."""

import asyncio
import socket
import struct

import wire

JSON = "application/json"
STREAM = "text/event-stream"
ACCEPT = {"json": JSON, "stream": STREAM, "both": f"{JSON}, {STREAM}"}


class FaceRequest:
    def __init__(self, port, method, path, headers=None, body=None, receive_buffer=None):
        # A path is that of HTTP on a Unix socket.
        self.door = ("127.0.0.1", port) if isinstance(port, int) else port
        self.receive_buffer = receive_buffer
        lines = [f"{method} {path} HTTP/1.1", f"Host: 127.0.0.1:{port}",
                 *(f"{name}: {value}" for name, value in (headers or {}).items())]
        if body is not None:
            lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
        self.data = "\r\n".join(lines).encode() + b"\r\n\r\n" + (body or b"")
        self.events = wire.EventReader()
        self.head = None

    async def send(self):
        """The status; ConnectionError if there is none."""
        family = socket.AF_UNIX if isinstance(self.door, str) else socket.AF_INET
        plain = socket.socket(family, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
        if self.receive_buffer:
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, self.receive_buffer)
        try:
            await asyncio.get_running_loop().sock_connect(plain, self.door)
        except OSError:
            plain.close()
            raise
        self.reader, self.writer = await asyncio.open_connection(sock=plain, limit=1 << 16)
        self.writer.write(self.data)
        await self.writer.drain()
        return self

    async def status(self):
        self.head = await wire.read_head(self.reader)
        if self.head is None:
            raise ConnectionResetError("no answer")
        return self.head.status

    def is_stream(self):
        return self.head.get("content-type", "").startswith(STREAM)

    async def body(self):
        return b"".join([part async for part in wire.body_parts(self.reader, self.head)])

    async def messages(self):
        """The data of each event as it comes, up to the end of the stream; what is broken raises ConnectionError."""
        async for part in wire.body_parts(self.reader, self.head):
            for _, name, data in self.events.feed(part):
                if data:
                    yield name, data

    @property
    def last_id(self):
        return self.events.last_id

    def close(self, politely=True):
        if not hasattr(self, "writer"):
            return
        if not politely and not self.writer.transport.is_closing():
            plain = self.writer.get_extra_info("socket")
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.writer.transport.abort()
        self.writer.close()
