"""HTTP/1.1 and event streams as bytes: just what two well-known peers on loopback need."""

import asyncio

STATUS = {200: "OK", 202: "Accepted", 204: "No Content", 400: "Bad Request", 401: "Unauthorized", 404: "Not Found",
          405: "Method Not Allowed", 409: "Conflict", 429: "Too Many Requests", 500: "Internal Server Error",
          502: "Bad Gateway", 503: "Service Unavailable"}


class Head:
    """A request's or an answer's first line and its headers, names in lower case."""

    def __init__(self, first, headers):
        self.first, self.headers = first, headers

    def get(self, name, default=None):
        return self.headers.get(name, default)

    @property
    def status(self):
        return int(self.first.split(" ", 2)[1])

    @property
    def asks_for_login(self):
        """Whether the bridge looks, after a 401, for a login, which no server here offers."""
        return self.first.split(" ")[1].startswith("/.well-known/")


async def read_head(reader):
    """None at the end of the connection."""
    try:
        block = await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    lines = block[:-4].decode("latin-1").split("\r\n")
    headers = {}
    for line in lines[1:]:
        name, _, value = line.partition(":")
        headers[name.strip().lower()] = value.strip()
    return Head(lines[0], headers)


async def body_parts(reader, head):
    """The parts of an answer's body as they come; ConnectionError if it is cut."""
    try:
        if head.get("transfer-encoding", "").lower() == "chunked":
            while True:
                size = int((await reader.readuntil(b"\r\n")).split(b";")[0], 16)
                part = await reader.readexactly(size + 2)
                if not size:
                    return
                yield part[:-2]
        elif "content-length" in head.headers:
            left = int(head.get("content-length"))
            while left:
                part = await reader.read(min(left, 1 << 16))
                if not part:
                    raise ConnectionResetError("cut")
                left -= len(part)
                yield part
        else:
            while part := await reader.read(1 << 16):
                yield part
    except asyncio.IncompleteReadError as error:
        raise ConnectionResetError("cut") from error


def answer_head(status, headers):
    lines = [f"HTTP/1.1 {status} {STATUS.get(status, 'Status')}", *(f"{name}: {value}" for name, value in headers)]
    return "\r\n".join(lines).encode() + b"\r\n\r\n"


def chunk(data):
    return b"%x\r\n%s\r\n" % (len(data), data)


def event(data, id=None, name=None):
    lines = []
    if name:
        lines.append(b"event: " + name.encode())
    if id is not None:
        lines.append(b"id: " + id.encode())
    lines += [b"data: " + line for line in data.split(b"\n")] or [b"data: "]
    return b"\n".join(lines) + b"\n\n"


class EventReader:
    """Events out of the parts of a body: (id or None, name, data)."""

    def __init__(self):
        self.buffer = b""
        self.last_id = None

    def feed(self, part):
        self.buffer += part
        found = []
        while b"\n\n" in self.buffer:
            block, _, self.buffer = self.buffer.partition(b"\n\n")
            data, name = [], "message"
            for line in block.split(b"\n"):
                field, _, value = line.partition(b":")
                value = value[1:] if value.startswith(b" ") else value
                if field == b"data":
                    data.append(value)
                elif field == b"id":
                    self.last_id = value.decode()
                elif field == b"event":
                    name = value.decode()
            found.append((self.last_id, name, b"\n".join(data)))
        return found
