"""The four command lines: how a call is typed with each, in a home of its own, before the same server."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]

MODULES = HERE / "node_modules"
EVERYTHING = MODULES / "@modelcontextprotocol/server-everything/dist/index.js"


class Output:
    def __init__(self, code, out, seconds):
        self.code, self.out, self.seconds = code, out, seconds


def program(variable, place):
    given = os.environ.get(variable)
    for path in [given] if given else [ROOT / "build" / build / place for build in ("release", "bench", "dev", "asan")]:
        if os.path.exists(path):
            return str(path)
    raise SystemExit(f"{variable} is not set and {place} was not built")


def processes():
    """{process id: its command line}"""
    found = {}
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                found[int(entry.name)] = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                pass
    return found


class Tool:
    name = ""

    def __init__(self):
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="companion-"))
        self.mark = f"mark-{self.home.name}"
        self.environment = {key: value for key, value in os.environ.items()
                            if not key.startswith(("MCP", "XDG_")) and key != "DISPLAY"}
        for folder in ("run", "work", ".config/mcp", ".mcporter"):
            (self.home / folder).mkdir(parents=True)
        (self.home / "run").chmod(0o700)
        self.everything = ["node", str(EVERYTHING), "stdio", self.mark]
        self.servers = {"ev": self.definition(*self.everything)}
        self.config = self.home / self.config_file
        self.config.write_text(json.dumps({"mcpServers": self.servers}), encoding="utf-8")
        bin_folder = self.home / "bin"
        bin_folder.mkdir()
        self.programs(bin_folder)
        self.environment.update(HOME=str(self.home), XDG_RUNTIME_DIR=str(self.home / "run"), BROWSER="true",
                                NO_COLOR="1", PATH=f"{bin_folder}:{self.environment['PATH']}")

    def definition(self, command, *arguments):
        return {"command": command, "args": list(arguments)}

    config_file = "mcp.json"

    def programs(self, folder):
        (folder / self.name).symlink_to(MODULES / ".bin" / self.name)

    def run(self, *words):
        begun = time.monotonic()
        # A file and no pipe: a daemon that keeps its starter's output would hold a pipe open.
        with tempfile.TemporaryFile() as out:
            child = subprocess.Popen(words, env=self.environment, cwd=self.home / "work", stdin=subprocess.DEVNULL,
                                     stdout=out, stderr=subprocess.DEVNULL)
            try:
                child.wait(60)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
            seconds = time.monotonic() - begun
            out.seek(0)
            return Output(child.returncode, out.read().decode(errors="replace"), seconds)

    def pairs(self, **arguments):
        return [f"{key}{self.sign}{value}" for key, value in arguments.items()]

    sign = ":="

    def call(self, tool, **arguments):
        return self.run(*self.call_words(tool, *self.pairs(**arguments)))

    def children(self):
        """The server's processes."""
        return [pid for pid, command in processes().items() if re.match(rf"\S*node {EVERYTHING} \S+ {self.mark}", command)]

    def own(self):
        """All processes of its home."""
        found = []
        for pid, command in processes().items():
            environment = b""
            with contextlib.suppress(OSError):
                environment = pathlib.Path(f"/proc/{pid}/environ").read_bytes()
            if pid != os.getpid() and (str(self.home).encode() in environment or self.home.name in command):
                found.append(pid)
        return found

    def connect(self):
        """What is typed before a first call; nothing if a call starts the server."""

    def stop(self):
        """Ends the server's session."""

    def close(self):
        try:
            self.stop()
        finally:
            for pid in self.own():
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGTERM)
            time.sleep(0.5)
            shutil.rmtree(self.home, ignore_errors=True)


class McpNc(Tool):
    name = "mcp-nc"
    sign = "="
    config_file = ".config/mcp/mcp.json"

    def programs(self, folder):
        self.program = program("MCP_NC", "client/mcp-nc")
        self.daemon_program = program("MCP_BRIDGED", "daemon/mcp-bridged")
        (folder / "mcp-nc").symlink_to(self.program)
        (folder / "mcp-bridged").symlink_to(self.daemon_program)

    def call_words(self, tool, *pairs):
        return ["mcp-nc", "@ev", "call", tool, *pairs]

    def stop(self):
        for server in json.loads(self.run("mcp-nc", "servers", "--json").out)["servers"]:
            if server["running"]:
                os.kill(server["pid"], signal.SIGTERM)
        wait_until(lambda: not self.children())


class Mcpdo(Tool):
    name = "mcpdo"

    def call_words(self, tool, *pairs):
        return ["mcpdo", "@ev", "tools/call", tool, *pairs]

    def __init__(self):
        super().__init__()
        self.environment["MCP_CATALOG_PATH"] = str(self.config)

    def connect(self):
        return self.run("mcpdo", "connect", "ev")

    def stop(self):
        self.run("mcpdo", "daemon", "stop")
        wait_until(lambda: not self.children())


class Mcpc(Tool):
    name = "mcpc"

    def call_words(self, tool, *pairs):
        return ["mcpc", "@ev", "tools-call", tool, *pairs]

    def connect(self):
        return self.run("mcpc", "connect", f"{self.config}:ev", "@ev")

    def stop(self):
        self.run("mcpc", "close", "@ev")
        wait_until(lambda: not self.children(), 5)


class Mcporter(Tool):
    name = "mcporter"
    sign = "="
    config_file = ".mcporter/mcporter.json"

    def definition(self, command, *arguments):
        return {**super().definition(command, *arguments), "lifecycle": "keep-alive"}

    def call_words(self, tool, *pairs):
        return ["mcporter", "call", f"ev.{tool}", *pairs]

    def stop(self):
        self.run("mcporter", "daemon", "stop")
        wait_until(lambda: not self.children())


def wait_until(holds, deadline=10):
    end = time.monotonic() + deadline
    while not holds() and time.monotonic() < end:
        time.sleep(0.05)
    return holds()
