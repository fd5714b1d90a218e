"""Daemons that leave a state to one another."""

import os

from .gathering import Gathering


class WithState(Gathering):
    """Daemons one after the other on one folder, each with a socket of its own."""

    def setUp(self):
        super().setUp()
        self.folder_of_state = self.path("state")
        self.started = 0

    def start(self, server, *options, ready=True):
        self.started += 1
        return self.start_daemon(server, "--state-dir", self.folder_of_state, *options, socket=f"s{self.started}",
                                 ready=ready)

    def begin(self, *options, upstream=()):
        server = self.upstream(*upstream)
        daemon = self.start(server, "--handshake", "eager", *options)
        server.streams(1)
        daemon.status_when(lambda status: status["upstream"]["state"] == "open", "the session")
        return server, daemon

    def log_file(self):
        return os.path.join(self.folder_of_state, "state")

    def files(self):
        return sorted(os.listdir(self.folder_of_state))

    def posted(self, server, method):
        return [entry for entry in server.log(method) if entry["httpMethod"] == "POST"]
