"""How the daemon of a cell reaches its upstream, so that the row's fault can be made."""

from harness.certificates import Authority
from harness.full_backlog import FullBacklog
from harness.name_service import NameService
from harness.other_user import is_root
from harness.tls_front import TlsFront
from harness.waiting import eventually


class Ways:
    """Part of a cell: proxy_, front, names, authority are there as far as the way has them."""

    def build_way(self, row):
        """(the URL, the daemon's options, how its process starts)."""
        if row.way == "direct":
            return self.server.url, (), {}
        if row.way == "tls":
            self.authority = Authority(self.folder)
            self.front = TlsFront(self.server.port, self.authority.sign("right"))
            self.addCleanup(self.front.close)
            self.proxy_ = self.proxy(self.front.port)
            return self.proxy_.url.replace("http:", "https:"), ("--ca-file", self.authority.path), {}
        if row.way == "name":
            if not is_root():
                self.skipTest("names of its own need root")
            self.names = NameService(self.folder)
            self.addCleanup(self.names.close)
            self.names.know()
            return f"http://{self.names.NAME}:{self.server.port}/mcp", (), {"before_exec": self.names.enter}
        self.proxy_ = self.proxy(self.server.port)
        return self.proxy_.url, (), {}

    def drop_connections(self):
        """So that the fault strikes the next request, not the next connection."""
        self.proxy_.command("reset-all")

    def refuse(self):
        self.proxy_.command("refuse on")
        self.drop_connections()

    def drop_syns(self):
        self.refuse()
        self.full = FullBacklog(self.proxy_.port)
        self.addCleanup(self.full.close)

    def take_syns(self):
        self.full.close()
        # A process that is just being started by another test may hold what is closed here for a moment.
        eventually(self._takes_again, "the port, for connections again")

    def _takes_again(self):
        try:
            self.proxy_.command("refuse off")
        except AssertionError:
            return False
        return True
