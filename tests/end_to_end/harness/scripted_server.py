"""An HTTP server whose answers are bytes that the test writes itself: what no library would send."""

import json
import socket
import threading
import time


class Asked:
    """One request as it came."""

    def __init__(self, head, body):
        self.at = time.monotonic()
        self.head = head
        self.body = body
        lines = head.decode("latin-1").split("\r\n")
        self.http_method, self.path, _ = lines[0].split(" ", 2)
        self.headers = {}
        for line in lines[1:]:
            name, _, value = line.partition(":")
            self.headers[name.lower()] = value.strip()
        try:
            self.message = json.loads(body) if body else {}
        except ValueError:
            self.message = {}
        self.method = self.message.get("method")
        self.id = self.message.get("id")


def response(status, headers=(), body=b"", reason="x"):
    body = body.encode() if isinstance(body, str) else body
    lines = [f"HTTP/1.1 {status} {reason}".encode(), f"Content-Length: {len(body)}".encode()]
    for name, value in headers:
        lines.append(name.encode() + b": " + (value.encode() if isinstance(value, str) else value))
    return b"\r\n".join(lines) + b"\r\n\r\n" + body


def json_response(message, headers=(), status=200):
    body = message if isinstance(message, (str, bytes)) else json.dumps(message)
    return response(status, [("Content-Type", "application/json"), *headers], body)


class Last(bytes):
    """What is sent before the connection is closed."""


class InTwo(bytes):
    """Of what is sent, the last bytes come once `rest` is set."""

    def __new__(cls, said, rest):
        self = super().__new__(cls, said)
        self.rest = rest
        return self

    def send(self, connection):
        connection.sendall(self[:-200])
        self.rest.wait()
        connection.sendall(self[-200:])


def chunked(body, headers, trailers, status=200):
    """The body in one chunk, with a trailer section behind it (RFC 9112, section 7.1.2)."""
    body = body.encode() if isinstance(body, str) else body
    head = [f"HTTP/1.1 {status} x", "Transfer-Encoding: chunked", *(f"{name}: {value}" for name, value in headers)]
    tail = "".join(f"{name}: {value}\r\n" for name, value in trailers)
    return "\r\n".join(head).encode() + f"\r\n\r\n{len(body):x}\r\n".encode() + body + f"\r\n0\r\n{tail}\r\n".encode()


def answer_to(asked, version="2025-11-25"):
    """What a good server says, as a JSON-RPC message."""
    if asked.method == "initialize":
        result = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}
    else:
        result = {"content": [{"type": "text", "text": "done"}]}
    return {"jsonrpc": "2.0", "id": asked.id, "result": result}


def good(asked):
    """What a good server without sessions and server stream answers, as bytes."""
    if asked.http_method != "POST":
        return response(405)
    return response(202) if asked.id is None else json_response(answer_to(asked))


class ScriptedServer:
    """`answer(asked)`: the bytes to send; None: nothing, the connection stays open; b"": it is closed."""

    def __init__(self, answer=good):
        self.answer = answer
        self.lock = threading.Lock()
        self.asked = []
        self.raw = []  # of each connection, all that came
        self.connections = []
        self.closing = False
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.port = self.listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}/mcp"
        self.threads = [threading.Thread(target=self._accept, daemon=True)]
        self.threads[0].start()

    def close(self):
        self.closing = True
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        with self.lock:
            connections = list(self.connections)
        for connection in connections:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        for thread in self.threads:
            thread.join()

    def requests(self, method=None, http_method=None):
        with self.lock:
            return [one for one in self.asked
                    if (method is None or one.method == method) and (http_method is None or one.http_method == http_method)]

    def all_bytes(self):
        with self.lock:
            return b"".join(bytes(one) for one in self.raw)

    def _accept(self):
        while not self.closing:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            with self.lock:
                self.connections.append(connection)
                self.raw.append(bytearray())
                thread = threading.Thread(target=self._serve, args=(connection, self.raw[-1]), daemon=True)
                self.threads.append(thread)
            thread.start()

    def _serve(self, connection, raw):
        buffer = bytearray()

        def more():
            try:
                data = connection.recv(1 << 16)
            except OSError:
                return False
            buffer.extend(data)
            raw.extend(data)
            return bool(data)

        with connection:
            while True:
                while b"\r\n\r\n" not in buffer:
                    if not more():
                        return
                    if buffer[:1] == b"\x16":  # TLS
                        connection.sendall(response(400))
                        return
                head, _, _ = bytes(buffer).partition(b"\r\n\r\n")
                length = 0
                for line in head.split(b"\r\n"):
                    if line.lower().startswith(b"content-length:"):
                        length = int(line.split(b":")[1])
                while len(buffer) < len(head) + 4 + length:
                    if not more():
                        return
                asked = Asked(head, bytes(buffer[len(head) + 4:len(head) + 4 + length]))
                del buffer[:len(head) + 4 + length]
                with self.lock:
                    self.asked.append(asked)
                said = self.answer(asked)
                if said == b"":
                    return
                if said is not None:
                    try:
                        said.send(connection) if isinstance(said, InTwo) else connection.sendall(said)
                    except OSError:
                        return
                if isinstance(said, Last):
                    return
