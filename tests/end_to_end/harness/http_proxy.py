"""A forward proxy for HTTP: CONNECT, and requests that name the whole URL (RFC 9110, section 7)."""

import socket
import threading
import urllib.parse


class HttpProxy:
    """Keeps the head of each request in `heads`, as text. `refusal`: a status line instead of serving CONNECT."""

    def __init__(self):
        self.heads = []
        self.refusal = None
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.sockets = set()
        self._start(self._accept)

    @staticmethod
    def _start(work, *arguments):
        threading.Thread(target=work, args=arguments, daemon=True).start()

    def _accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            self.sockets.add(connection)
            self._start(self._serve, connection)

    def _serve(self, client):
        server = None
        try:
            reader = client.makefile("rb")
            while head := self._head(reader):
                self.heads.append(head)
                method, target, version = head.split("\r\n", 1)[0].split(" ")
                if method == "CONNECT":
                    if self.refusal:
                        client.sendall(f"HTTP/1.1 {self.refusal}\r\nContent-Length: 0\r\n\r\n".encode())
                        break
                    server = self._connect(*target.rsplit(":", 1), client)
                    client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
                    self._copy(reader, server)
                    break
                url = urllib.parse.urlsplit(target)
                server = server or self._connect(url.hostname, url.port, client)
                server.sendall(head.replace(target, url.path, 1).encode() + reader.read(self._length(head)))
        except OSError:
            pass
        finally:
            for one in (client, server):
                if one:
                    self._end(one)

    @staticmethod
    def _head(reader):
        lines = []
        while (line := reader.readline()) not in (b"\r\n", b""):
            lines.append(line)
        return b"".join([*lines, b"\r\n"]).decode() if lines else ""

    @staticmethod
    def _length(head):
        fields = [line.split(":")[1] for line in head.split("\r\n") if line.lower().startswith("content-length:")]
        return int(fields[0]) if fields else 0

    def _connect(self, host, port, client):
        server = socket.create_connection((host, int(port)))
        self.sockets.add(server)
        self._start(self._copy, server.makefile("rb"), client)
        return server

    def _copy(self, reader, writer):
        try:
            while data := reader.read1(1 << 16):
                writer.sendall(data)
            writer.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    @staticmethod
    def _end(one):
        try:
            one.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        one.close()

    def close(self):
        self._end(self.listener)
        for one in list(self.sockets):
            self._end(one)
