"""A shell in which the commands of a page are typed."""

import os
import re
import subprocess

from .binaries import ROOT, binary
from .processes import marked

_PEERS = ROOT / "tests" / "end_to_end" / "node_modules"
# What a reader fetches from npm is there already.
_NPX = """#!/bin/sh
[ "$1" = -y ] && shift
exec "$MCP_TEST_NODE" "{peers}/$1/dist/index.js"
"""


class PageShell:
    """Its folder looks like the project's after try.sh. `replaced`: what stands on the page, and what is meant here."""

    def __init__(self, folder, marker, replaced):
        self.folder, self.replaced = folder, replaced
        for place, program in (("release/daemon/mcp-bridged", "MCP_BRIDGED"), ("release/client/mcp-nc", "MCP_NC"),
                               ("demo/tests/support/demo-upstream", "DEMO_UPSTREAM")):
            path = os.path.join(folder, "build", place)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            os.symlink(binary(program), path)
        os.symlink(ROOT / "tests", os.path.join(folder, "tests"))
        programs = [os.path.join(folder, "bin"), *(os.path.join(folder, "build/release", name) for name in ("daemon", "client"))]
        os.mkdir(programs[0])
        with open(os.path.join(programs[0], "npx"), "w", encoding="ascii") as file:
            file.write(_NPX.format(peers=_PEERS))
        os.chmod(file.name, 0o755)
        variables = {name: value for name, value in os.environ.items() if not name.startswith("MCP_")}
        variables.update(marked(marker), MCP_SOCKET_PATH=os.path.join(folder, "s"), LC_ALL="C.UTF-8",
                         MCP_TEST_NODE=os.environ.get("MCP_E2E_NODE") or "node",
                         PATH=":".join([*programs, variables["PATH"]]))
        self.bash = subprocess.Popen(["bash", "--norc"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=folder, env=variables)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._run("jobs=$(jobs -p); [ -z \"$jobs\" ] || { kill $jobs; wait; }")
        self.bash.stdin.close()
        self.bash.wait(timeout=30)
        self.bash.stdout.close()

    def _run(self, command):
        output = os.path.join(self.folder, "output")
        self.bash.stdin.write(f"{{ {command}\n}} >{output} 2>&1 </dev/null\necho typed\n".encode())
        self.bash.stdin.flush()
        assert self.bash.stdout.readline() == b"typed\n", "the shell has ended"
        with open(output, encoding="utf-8") as file:
            return file.read()

    def type(self, command):
        """What the command prints on stdout and stderr. One behind `&` prints into a file; a daemon is waited for."""
        for printed, meant in self.replaced.items():
            command = command.replace(printed, meant)
        if command.endswith("&"):
            self._run(re.sub(r" *&$", "", command) + " >background 2>&1 &" if ">" not in command else command)
            return self._run("mcp-nc --wait 20s status >/dev/null") if "mcp-bridged" in command else ""
        output = self._run(command)
        for printed, meant in self.replaced.items():
            output = output.replace(meant, printed)
        return output
