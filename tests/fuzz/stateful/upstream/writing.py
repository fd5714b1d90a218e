"""How answers and streams go out on a connection, and how it is closed."""

import asyncio
import socket
import struct

import wire

from .outlet import HANGS

JSON = ("Content-Type", "application/json")
STREAM = ("Content-Type", "text/event-stream")
REFUSALS = {"401": (401, []), "403": (403, []), "429": (429, [("Retry-After", "0")]),
            "503r": (503, [("Retry-After", "0")]), "503": (503, []), "500": (500, [])}
# The bridge may send these again, or the status says that nothing was done.
NOT_DONE = ("401", "403", "429", "503r", "lost")


async def reply(writer, status, body=b"", headers=(JSON,)):
    writer.write(wire.answer_head(status, [*headers, ("Content-Length", len(body))]) + body)
    await writer.drain()
    return True


def refusal_of(name):
    status, headers = REFUSALS[name]
    return status, b"no", [("Content-Type", "text/plain"), *headers]


async def pump(log, start, reader, writer, stop_after=None, trickle=False):
    """Writes events up to the log's end; False if the peer went first or it stopped on the way."""

    async def copy():
        written = 0
        async for index, data in log.read(start):
            if stop_after is not None and written >= stop_after:
                return False
            if data is HANGS:
                continue
            # What is asked to go with an id before it has data: an empty event.
            await write(writer, wire.chunk(wire.event(data, log.id_of(index))), trickle)
            written += 1
        if stop_after is not None:
            return False
        writer.write(b"0\r\n\r\n")
        await writer.drain()
        return True

    pumping = asyncio.ensure_future(copy())
    gone = asyncio.ensure_future(reader.read(1))
    try:
        await asyncio.wait([pumping, gone], return_when=asyncio.FIRST_COMPLETED)
        return pumping.done() and not pumping.exception() and pumping.result()
    finally:
        pumping.cancel()
        gone.cancel()
        await asyncio.gather(pumping, gone, return_exceptions=True)


async def write(writer, data, trickle=False):
    """ConnectionError if the connection is no more."""
    if writer.transport.is_closing():
        raise ConnectionResetError
    if trickle:
        for start in range(0, min(len(data), 60)):
            writer.write(data[start:start + 1])
            await asyncio.sleep(0.0005)
        data = data[60:]
    writer.write(data)
    await writer.drain()


def close(writer, politely):
    """By FIN, or by RST."""
    if not politely and not writer.transport.is_closing():
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()
    writer.close()
