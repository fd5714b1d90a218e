"""A port to which no connection comes about: SYNs are dropped, as by a firewall or a host that is gone."""

import select
import socket


class FullBacklog:
    def __init__(self, port=0):
        self.listener = socket.socket()
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.listener.bind(("127.0.0.1", port))
        self.listener.listen(0)
        self.port = self.listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}/mcp"
        self.fillers = []
        # On loopback a handshake that can be made is made within connect().
        while not self.fillers or self._connected(self.fillers[-1]):
            filler = socket.socket()
            filler.setblocking(False)
            filler.connect_ex(("127.0.0.1", self.port))
            self.fillers.append(filler)

    @staticmethod
    def _connected(filler):
        return bool(select.select([], [filler], [], 0.05)[1])

    def close(self):
        for one in [*self.fillers, self.listener]:
            one.close()
