"""The TCP proxy of tests/support that cuts, resets, hangs and refuses."""

import json
import signal
import socket
import sys

from .binaries import ROOT
from .processes import Process
from .waiting import DEADLINE


class FaultProxy(Process):
    def __init__(self, name, folder, marker, to_port):
        super().__init__(name, [sys.executable, "-S", "-E", ROOT / "tests/support/fault_proxy.py", "127.0.0.1", to_port],
                         folder, marker)
        self.port = int(self.stdout_line(0).rsplit(":", 1)[1])
        self.control_port = int(self.stdout_line(1).rsplit(":", 1)[1])
        self.url = f"http://127.0.0.1:{self.port}/mcp"

    def command(self, text):
        with socket.create_connection(("127.0.0.1", self.control_port), DEADLINE) as connection:
            connection.sendall(text.encode() + b"\n")
            line = connection.makefile("rb").readline().decode().strip()
        assert not line.startswith("error"), f"{text}: {line}"
        return line

    def stats(self):
        return json.loads(self.command("stats"))

    def stop(self):
        self.signal(signal.SIGTERM)
        self.wait()
