"""How soon the socket accepts after the daemon was executed."""

import os
import socket
import subprocess
import time

from harness import Case, main
from harness.binaries import is_sanitized, release_binary
from harness.processes import marked
from harness.service_manager import ServiceManager

LIMIT_MS = 25
TRIES = 60


class StartTime(Case):
    def setUp(self):
        super().setUp()
        self.program = release_binary("MCP_BRIDGED")
        if is_sanitized(self.program):
            self.skipTest("says nothing under a sanitizer")

    def start_once(self, manager):
        """Milliseconds from before the fork to READY=1; then a client connects, so it was true."""
        path = self.path("s")
        command = [self.program, "--url", "http://127.0.0.1:9/mcp", "--socket", path]
        environment = {"PATH": os.environ["PATH"], **marked(self.marker), "NOTIFY_SOCKET": manager.address}
        began = time.monotonic()
        process = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)
        try:
            manager.expect("READY=1")
            took = (time.monotonic() - began) * 1000
            with socket.socket(socket.AF_UNIX) as client:
                client.connect(path)
        finally:
            process.terminate()
            process.wait(30)
        return took

    def test_it_accepts_within_25_ms(self):
        manager = ServiceManager(self.path("notify"))
        self.addCleanup(manager.close)
        # The best of some: on a busy machine most of them measure the others.
        times = []
        while len(times) < TRIES and (not times or min(times) > LIMIT_MS / 2):
            times.append(self.start_once(manager))
        self.assertLess(min(times), LIMIT_MS, sorted(times))


if __name__ == "__main__":
    main()
