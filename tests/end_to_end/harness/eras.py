"""Daemons of both eras before the scripted server, and clients of both eras before the daemon."""

import functools

from .era_clients import LegacyOnFace, LegacyOnSocket, ModernOnFace, ModernOnSocket
from .face import Face
from .facing import Facing
from .modern_client import ModernClient, ModernFace
from .modern_upstream import ModernUpstream


def with_each(method, *arguments, **how):
    """Runs a test once for each of what `self.method(…)` yields: (a name, what makes the test's arguments)."""
    def decorate(test):
        @functools.wraps(test)
        def runs(self):
            for name, make in getattr(self, method)(*arguments, **how):
                with self.subTest(name):
                    test(self, *make())
        return runs
    return decorate


class Eras(Facing):
    """What the scripted peers found wrong fails the test at its end."""

    def setUp(self):
        super().setUp()
        self.servers, self.speakers = [], []

    def server(self, mode="modern", **how):
        self.servers.append(ModernUpstream(mode, **how))
        return self.servers[-1]

    def before(self, server, *options, stdio=False, face=False, **how):
        """The daemon before a server, over HTTP or as its child, on a socket of its own: a test may have several."""
        how.setdefault("socket", f"s{len(self.processes)}")
        options = [*options, *(["--http", "127.0.0.1:0"] if face else [])]
        if stdio:
            return self.start_daemon(None, *options, "--", *server.command, **how)
        return self.start_daemon(server, *options, **how)

    def bridged(self, mode="modern", *options, **how):
        server = self.server(mode)
        return server, self.before(server, *options, **how)

    def modern(self, daemon=None, **how):
        client = ModernClient((daemon or self.default_daemon).socket_path, **how)
        self.clients.append(client)
        self.speakers.append(client)
        return client

    def modern_face(self, daemon=None, **how):
        client = ModernFace(self.new_face(daemon, **how))
        self.speakers.append(client)
        return client

    def new_face(self, daemon=None, **how):
        self.faces.append(Face.of(daemon or self.default_daemon, **how))
        return self.faces[-1]

    def speaker(self, era, carrier):
        """A client with the verbs of `era_clients`, opened."""
        if carrier == "face":
            one = (LegacyOnFace if era == "legacy" else ModernOnFace)(self.new_face())
        else:
            one = (LegacyOnSocket if era == "legacy" else ModernOnSocket)(self.default_daemon.socket_path)
        self.clients.append(one)
        if era == "modern":
            self.speakers.append(one)
        one.open()
        return one

    def era_of_upstream(self):
        return self.default_daemon.status()["upstream"]["era"]

    def assert_clean(self):
        for one in self.servers + self.speakers:
            one.assert_clean()

    def tearDown(self):
        self.end_processes_and_servers()

    def end_processes_and_servers(self):
        try:
            super().tearDown()
        finally:
            for server in self.servers:
                server.stop()
        self.assert_clean()
