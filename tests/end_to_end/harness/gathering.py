"""Notifications that come while nobody is connected."""

from .case import Case
from .frames import notification


def log_message(data):
    return notification("notifications/message", {"level": "info", "data": data})


def data_of(messages):
    return [message["params"]["data"] for message in messages]


class Gathering(Case):
    """A daemon with an open session and an empty ring."""

    def opened(self, *options, upstream=()):
        server, daemon = self.bridge("--handshake", "eager", *options, upstream=upstream)
        server.streams(1)
        return server, daemon

    def gather(self, server, *data):
        """Emits them and waits until they are in the ring."""
        newest = self.default_daemon.status()["ring"]["newest"]
        for one in data:
            server.emit(log_message(one))
        self.newest(newest + len(data))

    def gather_many(self, server, count):
        newest = self.default_daemon.status()["ring"]["newest"]
        server.emit('{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":$N}}', count)
        self.newest(newest + count)

    def ring(self, daemon=None):
        return (daemon or self.default_daemon).status()["ring"]
