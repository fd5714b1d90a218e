"""A server that knows no TLS and says so at once, as most do. (Some wait for the end of a head that never comes.)"""

import socketserver
import threading


class _Refusal(socketserver.BaseRequestHandler):
    def handle(self):
        self.request.recv(1 << 16)
        self.request.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")


class PlainSpeaker:
    """Runs in a thread of its own until close()."""

    def __init__(self):
        self.server = socketserver.TCPServer(("127.0.0.1", 0), _Refusal)
        self.url = f"https://127.0.0.1:{self.server.server_address[1]}/mcp"
        self.thread = threading.Thread(target=self.server.serve_forever)
        self.thread.start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()
