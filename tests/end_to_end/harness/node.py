"""Peers from npm, run by node: servers, and the scripts of `real/`."""

import os
import re

from .binaries import ROOT
from .case import Case
from .waiting import eventually

HERE = ROOT / "tests" / "end_to_end"
MODULES = HERE / "node_modules" / "@modelcontextprotocol"
EVERYTHING = MODULES / "server-everything" / "dist" / "index.js"
NODE = os.environ.get("MCP_E2E_NODE") or "node"
# Servers bind to 127.0.0.1 and print the port, and wait for nothing.
HURRY = {"NODE_OPTIONS": f"--require {HERE}/real/loopback_and_hurry.cjs"}


class Node(Case):
    def setUp(self):
        super().setUp()
        # A missing peer is a failure, not a skip: these are the tests that matter most.
        self.assertTrue((MODULES / "client").exists(), f"npm ci in {HERE} first, or bash tests/run.sh")

    def serve(self, script, *arguments, port=0):
        """A server over HTTP: its process, with `url` and `port`."""
        process = self.run_process("server", [NODE, script, *arguments],
                                   environment={"PORT": str(port), "BIND_PORT": str(port), **HURRY})
        eventually(lambda: b"bound " in process.stdout(), lambda: f"{script}: {process.stderr()}")
        process.url = process.stdout().decode().split("bound ")[1].split()[0]
        process.port = int(re.search(r":(\d+)/", process.url)[1])
        return process

    def run_script(self, name, *arguments):
        return self.run_tool([NODE, HERE / "real" / f"{name}.mjs", *arguments])[0].strip()

    @staticmethod
    def printed(process):
        return process.stdout().decode() + process.stderr()
