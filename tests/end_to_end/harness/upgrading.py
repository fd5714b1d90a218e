"""A daemon that is upgraded in place."""

import os

from .binaries import binary
from .frames import text_of
from .gathering import Gathering


class Upgrading(Gathering):
    """A daemon whose program is a link that a test can point elsewhere."""

    def setUp(self):
        super().setUp()
        self.program = self.path("mcp-bridged")
        os.symlink(binary("MCP_BRIDGED"), self.program)

    def start_daemon(self, upstream, *options, **how):
        return super().start_daemon(upstream, *options, program=self.program, **how)

    def put_in_its_place(self, make):
        """`make` is given the path of what is to be there instead of the program."""
        other = self.path("other")
        make(other)
        os.replace(other, self.program)

    def upgrade(self, times=1):
        daemon = self.default_daemon
        for _ in range(times):
            daemon.upgrade()
        return daemon

    def assert_still_serves(self, client):
        self.assertEqual(text_of(client.call("echo", {"message": "still"})), "still")
