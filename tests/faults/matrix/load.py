"""A burst of numbered notifications, and who listens to it."""

import json
import threading

from faults import notification


class Burst:
    """Emits from a thread of its own until finish(); nothing is said about those no stream is there for."""

    LONGEST = 400

    def __init__(self, server):
        self.server = server
        self.emitted = 0
        self.over = threading.Event()
        self.thread = threading.Thread(target=self._run)
        self.thread.start()

    def _run(self):
        while not self.over.is_set() and self.emitted < self.LONGEST:
            self.emit(self.emitted + 1)

    def emit(self, data):
        message = notification("notifications/message", {"level": "info", "data": data})
        sent = self.server.control("POST", "emit", '{"message":%s}' % message)["sent"]
        if data != "end":
            self.emitted += 1
        return sent

    def finish(self):
        self.over.set()
        self.thread.join()


def numbers_of(client, count=None):
    """What a client reads of the burst: so many, else up to its mark."""
    numbers = []
    while len(numbers) != count:
        message = json.loads(client.raw_line())
        if message.get("method") != "notifications/message":
            continue
        data = message["params"]["data"]
        if data == "end":
            return numbers
        numbers.append(data)
    return numbers
