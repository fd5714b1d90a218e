"""The HTTP frontend of a daemon, as a caller sees it: plain requests, event streams, raw bytes."""

import http.client
import json
import re
import socket
import ssl
import time
import urllib.parse

from .frames import call, initialize, request
from .waiting import DEADLINE

JSON = "application/json"
STREAM = "text/event-stream"
BOTH = JSON + ", " + STREAM


class Response:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    def json(self):
        return json.loads(self.body)

    def messages(self):
        """The messages of a body that is an event stream."""
        return [json.loads(event["data"]) for event in parse_events(self.body.decode()) if event.get("data")]


def parse_events(text):
    events, event = [], {}
    for line in text.split("\n"):
        if not line:
            if event:
                events.append(event)
            event = {}
        elif line.startswith(":"):
            events.append({"comment": line[1:].strip()})
        else:
            name, _, value = line.partition(":")
            event[name] = value.strip()
    return events


class EventSource:
    """An event stream that stays open."""

    def __init__(self, face, path, headers, method="GET", body=None, receive_buffer=None):
        self.socket = face.connect(receive_buffer)
        lines = [f"{method} {path} HTTP/1.1", f"Host: {face.authority}", *(f"{k}: {v}" for k, v in headers.items())]
        if body is not None:
            lines.append(f"Content-Length: {len(body)}")
        self.socket.sendall("\r\n".join(lines).encode() + b"\r\n\r\n" + (body or b""))
        self.response = http.client.HTTPResponse(self.socket, method=method)
        self.response.begin()
        self.status, self.headers = self.response.status, self.response.headers
        self.last_id = None
        self.comments = []
        self.retry = None

    def _line(self):
        try:
            return self.response.readline()
        except socket.timeout:
            raise AssertionError("no event came") from None

    def event(self):
        """The next event that has data; None at the end of the stream."""
        event = {}
        end = time.monotonic() + DEADLINE
        while True:
            assert time.monotonic() < end, "no event came, only comments"
            line = self._line()
            if not line:
                return None
            text = line.decode().rstrip("\n")
            if text.startswith(":"):
                self.comments.append(text[1:].strip())
            elif text:
                name, _, value = text.partition(":")
                event[name] = value.strip()
            else:
                if event.get("id"):
                    self.last_id = event["id"]
                self.retry = event.get("retry", self.retry)
                if event.get("data"):
                    return event
                event = {}

    def message(self):
        event = self.event()
        assert event is not None, "the stream has ended"
        return json.loads(event["data"])

    def messages(self, count):
        return [self.message() for _ in range(count)]

    def rest(self):
        """All messages up to the stream's end."""
        found = []
        while (event := self.event()) is not None:
            found.append(json.loads(event["data"]))
        return found

    def begun(self):
        """Reads up to the id that the stream begins with, which comes without data."""
        while not self.last_id:
            line = self._line().decode()
            assert line, "the stream has ended"
            if line.startswith("id:"):
                self.last_id = line[3:].strip()

    def comment(self):
        """The next comment."""
        while True:
            line = self._line()
            assert line, "the stream has ended"
            if line.startswith(b":"):
                self.comments.append(line[1:].decode().strip())
                return self.comments[-1]

    def close(self):
        self.response.close()
        self.socket.close()


class Face:
    def __init__(self, url, token=None, ca_file=None):
        self.url = url
        address = urllib.parse.urlsplit(url)
        self.socket_path = urllib.parse.unquote(address.netloc) if address.scheme == "http+unix" else None
        self.host, self.port, self.authority = (("localhost", 80, "localhost") if self.socket_path else
                                                (address.hostname, address.port, address.netloc))
        self.token = token
        self.tls = ssl.create_default_context(cafile=ca_file) if address.scheme == "https" else None
        if self.tls:
            self.tls.check_hostname = False
        self.open = []

    @staticmethod
    def of(daemon, **how):
        """Where the daemon's log says that it listens."""
        log = daemon.logged("HTTP frontend on ")
        return Face(re.search(r"HTTP frontend on (\S+)/mcp", log).group(1), **how)

    def connect(self, receive_buffer=None):
        plain = socket.socket(socket.AF_UNIX if self.socket_path else
                              socket.AF_INET6 if ":" in self.host else socket.AF_INET, socket.SOCK_STREAM)
        if receive_buffer:
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        plain.settimeout(DEADLINE)
        plain.connect(self.socket_path.replace("@", "\0", 1) if self.socket_path else (self.host, self.port))
        connection = self.tls.wrap_socket(plain, server_hostname=self.host) if self.tls else plain
        self.open.append(connection)
        return connection

    def raw(self, data, half_close=False):
        """Sends bytes and returns everything up to the end of the connection."""
        connection = self.connect()
        connection.sendall(data)
        if half_close:
            connection.shutdown(socket.SHUT_WR)
        parts = []
        while True:
            try:
                part = connection.recv(1 << 16)
            except ConnectionResetError:
                break
            if not part:
                break
            parts.append(part)
        connection.close()
        return b"".join(parts)

    def headers(self, session=None, accept=None, extra=None):
        headers = {}
        if self.token:
            headers["Authorization"] = "Bearer " + self.token
        if session:
            headers["Mcp-Session-Id"] = session
        if accept:
            headers["Accept"] = accept
        headers.update(extra or {})
        return headers

    def request(self, method, path, body=None, session=None, accept=None, headers=None):
        connection = http.client.HTTPConnection(self.host, self.port, timeout=DEADLINE)
        connection.sock = self.connect()
        try:
            if isinstance(body, str):
                body = body.encode()
            connection.request(method, path, body=body, headers=self.headers(session, accept, headers))
            answer = connection.getresponse()
            return Response(answer.status, answer.headers, answer.read())
        finally:
            connection.close()

    def get(self, path, **how):
        return self.request("GET", path, **how)

    def post(self, body, session=None, accept=JSON, headers=None, path="/mcp"):
        if isinstance(body, (dict, list)):
            body = json.dumps(body)
        return self.request("POST", path, body, session, accept, {"Content-Type": JSON, **(headers or {})})

    def call(self, tool, arguments=None, id=1, session=None, token=None, **how):
        return self.post(call(tool, arguments, id, token), session, **how)

    def ask(self, method, params=None, id=1, session=None, **how):
        return self.post(request(method, params, id), session, **how)

    def session(self, capabilities=None, **how):
        """Opens a session; returns its id."""
        answer = self.post(initialize(0, capabilities, **how))
        assert answer.status == 200, (answer.status, answer.body)
        name = answer.headers["Mcp-Session-Id"]
        assert self.post('{"jsonrpc":"2.0","method":"notifications/initialized"}', name).status == 202
        return name

    def stream(self, session=None, path="/mcp", last=None, headers=None, receive_buffer=None):
        extra = {"Last-Event-ID": last} if last else {}
        source = EventSource(self, path, self.headers(session, STREAM, {**extra, **(headers or {})}),
                             receive_buffer=receive_buffer)
        return source

    def send_post(self, body, session=None):
        """A POST whose answer, a body, nobody waits for: the connection."""
        head = ["POST /mcp HTTP/1.1", f"Host: {self.authority}", f"Content-Length: {len(body)}",
                *(f"{name}: {value}" for name, value in self.headers(session, JSON, {"Content-Type": JSON}).items())]
        connection = self.connect()
        connection.sendall("\r\n".join(head).encode() + b"\r\n\r\n" + body.encode())
        return connection

    def post_stream(self, body, session=None, accept=STREAM, headers=None, path="/mcp"):
        """A POST whose answer is read as it comes."""
        data = (json.dumps(body) if isinstance(body, (dict, list)) else body).encode()
        return EventSource(self, path, self.headers(session, accept, {"Content-Type": JSON, **(headers or {})}), "POST", data)

    def close(self):
        for connection in self.open:
            connection.close()


def until_closed(connection, deadline=DEADLINE):
    """Reads on until the peer closes, politely or not."""
    connection.settimeout(deadline)
    try:
        while connection.recv(1 << 16):
            pass
    except ConnectionResetError:
        pass
