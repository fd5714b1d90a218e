"""A test case: its folder, its processes, and the check that nothing of them stays."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
import uuid

from . import ports
from .binaries import ROOT, WITHOUT_LEAK_SEARCH, binary
from .daemon import Daemon
from .demo_upstream import DemoUpstream
from .fault_proxy import FaultProxy
from .processes import Process, described, left_behind, marked
from .terminal import Terminal
from .waiting import eventually


class Case(unittest.TestCase):
    maxDiff = 4000

    def setUp(self):
        # A socket's path has 107 bytes, so the folder's name is short.
        self.folder = tempfile.mkdtemp(prefix="mcp-e2e-")
        self.marker = uuid.uuid4().hex
        self.processes = []
        self.clients = []
        self.failed = False
        self.counter = 0
        self.default_daemon = None

    # Starting things.

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text, mode=0o600):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(self.path(name), mode)
        return self.path(name)

    def _name(self, kind):
        self.counter += 1
        return f"{self.counter:02d}-{kind}"

    def run_process(self, kind, command, **how):
        process = Process(self._name(kind), command, self.folder, self.marker, **how)
        self.processes.append(process)
        return process

    def unused_port(self):
        """Nothing answers at it, and nobody but this test listens there, until the test ends."""
        held = ports.hold()
        self.addCleanup(held.close)
        return held.getsockname()[1]

    def upstream(self, *options):
        process = DemoUpstream(self._name("upstream"), self.folder, self.marker, *options)
        self.processes.append(process)
        return process

    def proxy(self, to_port):
        process = FaultProxy(self._name("proxy"), self.folder, self.marker, to_port)
        self.processes.append(process)
        return process

    def start_daemon(self, upstream, *options, socket="s", ready=True, old_inode=None, **how):
        """`upstream`: something with a url, a url, or None for no --url at all."""
        url = getattr(upstream, "url", upstream)
        socket_path = socket if socket is None or socket.startswith(("@", "/")) else self.path(socket)
        arguments = (["--url", url] if url else []) + [str(option) for option in options]
        daemon = Daemon(self._name("daemon"), self.folder, self.marker, socket_path, arguments, **how)
        self.processes.append(daemon)
        self.default_daemon = daemon
        return daemon.ready(old_inode) if ready else daemon

    def start_activated(self, listener, *options, program=None):
        """A daemon that is passed the socket as by systemd. The variable names the process itself: a shell execs it."""
        script = 'export LISTEN_PID=$$ LISTEN_FDS=1; exec "$@" 3<&%d' % listener.fileno()
        return self.run_process("daemon", ["sh", "-c", script, "sh", program or binary("MCP_BRIDGED"), *options],
                                pass_fds=(listener.fileno(),))

    def bridge(self, *options, upstream=()):
        """A demo upstream and a daemon before it."""
        server = self.upstream(*upstream)
        return server, self.start_daemon(server, *options)

    def client(self, daemon=None, **how):
        client = (daemon or self.default_daemon).client(**how)
        self.clients.append(client)
        return client

    def nc(self, *arguments, daemon=None, stdin=subprocess.DEVNULL, **how):
        """`mcp-nc` running on the daemon's socket."""
        path = (daemon or self.default_daemon).socket_path
        return self.run_process("nc", [binary("MCP_NC"), "-s", path, *arguments], stdin=stdin, **how)

    def terminal(self, *arguments, **how):
        """`mcp-nc` on a terminal of its own, with the daemon's socket."""
        terminal = Terminal([binary("MCP_NC"), "-s", self.default_daemon.socket_path, *arguments], self.marker, **how)
        self.clients.append(terminal)
        return terminal

    def run_nc(self, *arguments, daemon=None, code=0, stdin=None, socket=None, environment=None):
        """Runs `mcp-nc` to its end; returns (stdout, stderr) as text."""
        path = socket or (daemon or self.default_daemon).socket_path
        # To look for leaks is most of the time of a process that ends at once: unit tests do.
        environment = {**WITHOUT_LEAK_SEARCH, **(environment or {})}
        return self.run_tool([binary("MCP_NC"), "-s", path, *arguments], code, stdin, environment)

    @property
    def typed_nc(self):
        """What run_nc() runs, as mcp-nc writes it into a command to copy."""
        return f"mcp-nc -s {self.default_daemon.socket_path}"

    def run_tool(self, command, code=0, stdin=None, environment=None):
        # Not ours to start a bridge's client with another one's settings.
        variables = {key: value for key, value in os.environ.items() if not key.startswith("MCP_")}
        variables.update(marked(self.marker))
        variables.update(environment or {})
        done = subprocess.run([str(part) for part in command], capture_output=True, timeout=120, check=False,
                              env=variables, cwd=self.folder, **({"stdin": subprocess.DEVNULL} if stdin is None
                                                                 else {"input": stdin.encode()}))
        out, err = done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
        if code is not None:
            self.assertEqual(done.returncode, code, f"{command}\nstdout: {out[:2000]}\nstderr: {err[:4000]}")
        return out, err

    # Looking.

    def others(self, count):
        """Connected clients the daemon knows of, the asking one not counted."""
        return self.default_daemon.status_when(lambda status: len(status["clients"]) == count + 1,
                                               f"{count} clients")

    def in_flight(self, count):
        return self.default_daemon.status_when(lambda status: status["requests"]["inFlight"] == count,
                                               f"{count} in flight")

    def untaken(self, count):
        return self.default_daemon.status_when(lambda status: status["ring"]["untaken"] == count,
                                               f"{count} untaken notifications")

    def newest(self, sequence):
        return self.default_daemon.status_when(lambda status: status["ring"]["newest"] == sequence,
                                               f"newest notification {sequence}")

    def assert_error(self, message, code, id=None, kind=None, delivered=None):
        self.assertIn("error", message)
        self.assertEqual(message["error"]["code"], code, message)
        self.assertEqual(message.get("id", "absent"), id, message)
        if kind:
            self.assertEqual(message["error"]["data"]["source"], "bridge", message)
            self.assertEqual(message["error"]["data"]["kind"], kind, message)
        if delivered:
            self.assertEqual(message["error"]["data"]["delivered"], delivered, message)
        return message["error"]

    # Ending.

    def tearDown(self):
        for client in self.clients:
            client.close()
        # Clients first, then the daemon, then what it talks to.
        problems = []
        for process in sorted(self.processes, key=self._stop_order):
            try:
                stop = getattr(process, "stop", None)
                if stop and (process.running() or isinstance(process, Daemon)):
                    process.signal(signal.SIGCONT)  # a test that fails may leave it stopped
                    stop()
            except AssertionError as error:
                problems.append(str(error))
            finally:
                process.kill()
            report = process.sanitizer_report()
            if report:
                problems.append(f"{process.name} has a sanitizer's report:\n{report}")
        try:
            eventually(lambda: not left_behind(self.marker), "the end of all processes of the test", 5)
        except AssertionError as error:
            for pid in left_behind(self.marker):
                problems.append(f"{error}: {described(pid)}")
                os.kill(pid, 9)
        self.keep_or_remove(bool(problems))
        if problems:
            self.fail("\n".join(problems))

    @staticmethod
    def _stop_order(process):
        return (2 if isinstance(process, (DemoUpstream, FaultProxy)) else 1 if isinstance(process, Daemon) else 0)

    def keep_or_remove(self, failed):
        result = self._outcome.result if hasattr(self, "_outcome") and self._outcome else None
        ran_badly = result is not None and (_failed(self, result) or not self._outcome.success)
        if failed or ran_badly:
            print(f"{self.id()}: its folder is kept: {self.folder}", file=sys.stderr)
        else:
            shutil.rmtree(self.folder, ignore_errors=True)


def _failed(case, result):
    return any(case is test for test, _ in result.failures + result.errors)


def main():
    """`python3 test_ring.py [-k PART] [Class.test]`."""
    os.chdir(ROOT)
    unittest.main(module="__main__", verbosity=2)
