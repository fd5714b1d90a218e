"""The four command lines: how each is typed, in a home of its own, before the same servers."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "tests/end_to_end"))
# pylint: disable=wrong-import-position
from harness.terminal import Terminal

MODULES = HERE / "node_modules"
EVERYTHING = MODULES / "@modelcontextprotocol/server-everything/dist/index.js"
FILESYSTEM = MODULES / "@modelcontextprotocol/server-filesystem/dist/index.js"


class Output:
    def __init__(self, code, out, err, seconds=0.0):
        self.code, self.out, self.err, self.seconds = code, out, err, seconds
        self.text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", out + err)

    def has(self, pattern):
        return re.search(pattern, self.text, re.S) is not None

    def values(self):
        """What stands on stdout and stderr, each as JSON; [] if neither is."""
        found = []
        for stream in (self.out, self.err):
            try:
                found.append(json.loads(stream))
            except ValueError:
                pass
        return found


def program(variable, place):
    given = os.environ.get(variable)
    for path in [given] if given else [ROOT / "build" / build / place for build in ("release", "bench", "dev", "asan")]:
        if os.path.exists(path):
            return str(path)
    raise SystemExit(f"{variable} is not set and {place} was not built")


def processes():
    """{process id: (its parent, its command line and what the table marked it with)}"""
    found = {}
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                command = (entry / "cmdline").read_bytes()
                parent = int((entry / "stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[1])
                found[int(entry.name)] = parent, command.replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                pass
    return found


class Tool:
    name = package = ""
    help_words = ["--help"]
    verbs = r"(?m)^  ([a-z][\w/-]+)"
    help_of_verb = staticmethod(lambda verb: ["help", verb])

    def __init__(self):
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="companion-"))
        self.mark = f"mark-{self.home.name}"
        self.environment = {key: value for key, value in os.environ.items()
                            if not key.startswith(("MCP", "XDG_")) and key != "DISPLAY"}
        for folder in ("run", "work", "files", ".config/mcp", ".mcporter"):
            (self.home / folder).mkdir(parents=True)
        (self.home / "run").chmod(0o700)
        (self.home / "files/one.txt").write_text("content of one", encoding="utf-8")
        (self.home / "files/two.txt").write_text("content of two", encoding="utf-8")
        self.everything = ["node", str(EVERYTHING), "stdio", self.mark]
        self.servers = {"ev": self.definition(*self.everything),
                        "fs": self.definition("node", str(FILESYSTEM), str(self.home / "files"))}
        self.config = self.home / self.config_file
        self.config.write_text(json.dumps({"mcpServers": self.servers}), encoding="utf-8")
        bin_folder = self.home / "bin"
        bin_folder.mkdir()
        self.programs(bin_folder)
        self.environment.update(HOME=str(self.home), XDG_RUNTIME_DIR=str(self.home / "run"), BROWSER="true",
                                NO_COLOR="1", PATH=f"{bin_folder}:{self.environment['PATH']}")
        self._help = None

    def definition(self, command, *arguments):
        return {"command": command, "args": list(arguments)}

    config_file = "mcp.json"

    def programs(self, folder):
        (folder / self.name).symlink_to(MODULES / ".bin" / self.name)

    def run(self, *words, where="work", stdin=None, deadline=60):
        begun = time.monotonic()
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            # A file and no pipe: a daemon that keeps its starter's stderr would hold a pipe open.
            child = subprocess.Popen([str(word) for word in words], env=self.environment, cwd=self.home / where,
                                     stdin=subprocess.PIPE if stdin is not None else subprocess.DEVNULL, stdout=out, stderr=err)
            try:
                child.communicate(stdin.encode() if stdin is not None else None, timeout=deadline)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
            seconds = time.monotonic() - begun
            out.seek(0)
            err.seek(0)
            return Output(child.returncode, out.read().decode(errors="replace"), err.read().decode(errors="replace"), seconds)

    def shell(self, line):
        return self.run("sh", "-c", line)

    def on_terminal(self, words, pattern="", deadline=30):
        """What it shows on a terminal, until the pattern or its end; it is ended then."""
        before = dict(os.environ)
        os.environ.clear()
        os.environ.update(self.environment)
        try:
            terminal = Terminal(["env", "-C", self.home / "work", *words], self.mark)
        finally:
            os.environ.clear()
            os.environ.update(before)
        end = time.monotonic() + deadline
        try:
            while terminal.popen.poll() is None and time.monotonic() < end:
                terminal.read()
                if pattern and re.search(pattern, terminal.shown.decode(errors="replace"), re.S):
                    break
            while terminal.read(0.1):
                pass
            if terminal.popen.poll() is None:
                terminal.type(self.leave)
                terminal.popen.wait(10)
        except subprocess.TimeoutExpired:
            pass
        finally:
            terminal.close()
        return Output(terminal.popen.returncode, terminal.shown.decode(errors="replace"), "")

    def all_help(self):
        """Its help, and that of each verb."""
        if self._help is None:
            self._help = self.run(self.name, *self.help_words).text
            for verb in sorted(set(re.findall(self.verbs, self._help))):
                self._help += self.run(self.name, *self.help_of_verb(verb)).text
        return self._help

    def pairs(self, **arguments):
        return [f"{key}{self.sign}{value}" for key, value in arguments.items()]

    sign = ":="
    leave = "\x03"  # typed at a question

    def call(self, tool, server="ev", **arguments):
        return self.run(*self.call_words(tool, *self.pairs(**arguments), server=server))

    def children(self):
        """The server's processes."""
        return [pid for pid, (_, command) in processes().items() if re.match(rf"\S*node {EVERYTHING} \S+ {self.mark}", command)]

    def own(self):
        """All processes of its home."""
        found = []
        for pid, (_, command) in processes().items():
            environment = b""
            with contextlib.suppress(OSError):
                environment = pathlib.Path(f"/proc/{pid}/environ").read_bytes()
            if pid != os.getpid() and (str(self.home).encode() in environment or self.home.name in command):
                found.append(pid)
        return found

    def connect(self, server="ev"):
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
    leave = "\x04"
    config_file = ".config/mcp/mcp.json"
    verbs = r"(?m)^  ([a-z][a-z-]+) "

    def programs(self, folder):
        self.program = program("MCP_NC", "client/mcp-nc")
        self.daemon_program = program("MCP_BRIDGED", "daemon/mcp-bridged")
        (folder / "mcp-nc").symlink_to(self.program)
        (folder / "mcp-bridged").symlink_to(self.daemon_program)

    def document(self, name):
        """The man page or a completion, as they are built beside the program."""
        folder = os.environ.get("MCP_NC_DOCUMENTS") or pathlib.Path(self.program).resolve().parent / "manual"
        return pathlib.Path(folder) / name

    def call_words(self, tool, *pairs, server="ev", options=()):
        return ["mcp-nc", "@" + server, *options, "call", tool, *pairs]

    def stop(self):
        for server in json.loads(self.run("mcp-nc", "servers", "--json").out)["servers"]:
            if server["running"]:
                os.kill(server["pid"], signal.SIGTERM)
        wait_until(lambda: not self.children())


class Mcpdo(Tool):
    name, package = "mcpdo", "@modelcontextprotocol/inspector"

    def call_words(self, tool, *pairs, server="ev", options=()):
        return ["mcpdo", *options, "@" + server, "tools/call", tool, *pairs]

    def __init__(self):
        super().__init__()
        self.environment["MCP_CATALOG_PATH"] = str(self.config)

    def connect(self, server="ev"):
        return self.run("mcpdo", "connect", server)

    def stop(self):
        self.run("mcpdo", "daemon", "stop")
        wait_until(lambda: not self.children())


class Mcpc(Tool):
    name, package = "mcpc", "@apify/mcpc"
    verbs = r"(?m)^  (?:<@session> )?([a-z][a-z-]+) "

    def call_words(self, tool, *pairs, server="ev", options=()):
        return ["mcpc", *options, "@" + server, "tools-call", tool, *pairs]

    def connect(self, server="ev"):
        return self.run("mcpc", "connect", f"{self.config}:{server}", "@" + server)

    def stop(self):
        self.run("mcpc", "close", "@ev")
        self.run("mcpc", "close", "@fs")
        wait_until(lambda: not self.children(), 5)


class Mcporter(Tool):
    name = package = "mcporter"
    sign = "="
    config_file = ".mcporter/mcporter.json"
    help_of_verb = staticmethod(lambda verb: [verb, "--help"])

    def definition(self, command, *arguments):
        return {**super().definition(command, *arguments), "lifecycle": "keep-alive"}

    def call_words(self, tool, *pairs, server="ev", options=()):
        return ["mcporter", "call", f"{server}.{tool}", *pairs, *options]

    def stop(self):
        self.run("mcporter", "daemon", "stop")
        wait_until(lambda: not self.children())


def wait_until(holds, deadline=10):
    end = time.monotonic() + deadline
    while not holds() and time.monotonic() < end:
        time.sleep(0.05)
    return holds()
