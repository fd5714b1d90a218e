"""What a request's answer is written to: a log of events that a connection reads."""

from .server import dumps

HANGS = b"hangs"  # no event: from here on nothing comes


class Outlet:
    def __init__(self, log, stays_open=False):
        self.log, self.stays_open = log, stays_open
        self.body = None
        self.garbage = None

    def message(self, message):
        self.log.append(dumps(message))

    def answer(self, message):
        self.body = dumps(message)
        self.log.append(self.body)
        if not self.stays_open:
            self.log.end()

    def hang(self):
        self.log.append(HANGS)

    def malformed(self, data):
        self.garbage = data
        self.log.append(data)
        self.log.end()
