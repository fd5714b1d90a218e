"""The daemon under test."""

import json
import os
import signal

from .binaries import binary
from .frames import request
from .metrics import Metrics
from .processes import Process
from .socket_client import Client
from .waiting import eventually


class Daemon(Process):
    """`exit_codes`: how it may end; anything else fails the test when the daemon is stopped."""

    def __init__(self, name, folder, marker, socket_path, options, program=None, **how):
        self.socket_path = socket_path
        self.exit_codes = (0,)
        command = [program or binary("MCP_BRIDGED")]
        if socket_path:
            command += ["--socket", socket_path]
        # A test that ends with requests in flight shall not wait for them.
        if not any(str(option).startswith("--grace") for option in options):
            command += ["--grace", "200ms"]
        super().__init__(name, [*command, *options], folder, marker, **how)
        self.pipes = None
        if "--pipes" in options:
            path = [*options, "--"][options.index("--pipes") + 1]
            self.pipes = f"{socket_path}.pipes" if path.startswith("--") else path

    def ready(self, old_inode=None):
        """The socket appears by a rename when it already listens, and the folder of pipes after it."""

        def there():
            if not self.running():
                raise AssertionError(f"the daemon ended with {self.popen.returncode}: {self.stderr()}")
            if self.socket_path.startswith("@"):
                with open("/proc/net/unix", encoding="utf-8", errors="replace") as sockets:
                    return any(line.endswith(" " + self.socket_path + "\n") for line in sockets)
            return (os.path.exists(self.socket_path) and os.stat(self.socket_path).st_ino != old_inode
                    and (not self.pipes or os.path.exists(f"{self.pipes}/.lock")))

        eventually(there, lambda: f"the socket of the daemon:\n{self.stderr()}")
        return self

    def client(self, **how):
        return Client(self.socket_path, **how)

    def control(self, method, params=None, client=None):
        """Over `client`, or a connection that takes no notifications, since it asks nothing else."""
        asker = client or self.client()
        try:
            asker.send(request(method, params, "control"))
            while True:
                message = asker.line()
                if message.get("id") == "control":
                    assert "result" in message, message
                    return message["result"]
        finally:
            if not client:
                asker.close()

    def status(self, client=None):
        return self.control("bridge/status", client=client)

    def metrics(self):
        return Metrics(self.control("bridge/metrics")["text"])

    def metrics_when(self, condition, what):
        """The first metrics for which the condition holds."""
        last = []

        def there():
            last[:] = [self.metrics()]
            return condition(last[0]) and last[0]

        return eventually(there, lambda: f"{what}: {last[0].text}")

    def status_when(self, condition, what, client=None):
        """The first status for which the condition holds; asked over `client`, or a connection of its own each time."""
        last = {}

        def there():
            last.clear()
            last.update(self.status(client))
            return last if condition(last) else None

        return dict(eventually(there, lambda: f"{what}: {json.dumps(last)}"))

    def terminate(self):
        self.signal(signal.SIGTERM)
        return self.wait()

    def fails(self, code):
        """Its start ends with this exit code and says why in one line, which is returned."""
        self.exit_codes = (code,)
        assert self.wait() == code, self.stderr()
        said = self.stderr()
        assert said.count("\n") == 1, said
        return said

    def crash(self):
        self.exit_codes = (-signal.SIGKILL,)
        self.signal(signal.SIGKILL)
        self.wait()

    def stop(self):
        if self.running():
            self.signal(signal.SIGTERM)
        code = self.wait()
        assert code in self.exit_codes or self.sanitizer_report(), \
            f"the daemon ended with {code}, not {self.exit_codes}: {self.stderr()[-3000:]}"
