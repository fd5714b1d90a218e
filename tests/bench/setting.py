"""What the figures are measured on: the programs of a build, running, and how they are asked. Everything has a deadline."""

import contextlib
import http.client
import json
import os
import re
import shutil
import socket
import statistics
import subprocess
import tempfile
import time


class Bench:
    """Everything it starts ends with its `stack`."""

    def __init__(self, build, peers, node, short):
        self.build, self.peers, self.node, self.short = os.path.abspath(build), os.path.abspath(peers), node, short
        self.folder = tempfile.mkdtemp(prefix="mcp-bench-")
        self.stack = contextlib.ExitStack()
        self.stack.callback(shutil.rmtree, self.folder, True)
        self.log = self.stack.enter_context(open(os.path.join(self.folder, "log"), "w", encoding="utf-8"))

    def program(self, name):
        return os.path.join(self.build, name)

    def start(self, *command, line=False):
        process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE if line else subprocess.DEVNULL, stderr=self.log, text=True)
        self.stack.callback(process.wait)
        self.stack.callback(process.kill)
        return process, process.stdout.readline() if line else ""

    def start_upstream(self, *arguments, name="tests/bench/bench-upstream"):
        """Its process and its URL."""
        process, line = self.start(self.program(name), *arguments, line=True)
        return process, line.split()[-1]

    def start_socket(self, *command, path):
        process, _ = self.start(*command)
        deadline = time.monotonic() + 20
        while not os.path.exists(path):
            if time.monotonic() > deadline or process.poll() is not None:
                raise RuntimeError(f"{command[0]} did not start")
            time.sleep(0.002)
        return process

    def start_daemon(self, name, *arguments):
        """Its process and its socket. `arguments`: the server, and options."""
        path = os.path.join(self.folder, name)
        return self.start_socket(self.program("daemon/mcp-bridged"), "--socket", path, "--log-level", "warning", "--max-frame", "16M",
                                 "--max-clients", "4000", "--keepalive", "0", *arguments, path=path), path

    def begin(self):
        self.upstream, self.url = self.start_upstream()
        began = time.monotonic()
        self.daemon, self.socket = self.start_daemon("mcp.sock", "--url", self.url)
        self.calls("latency", 1, 1, "echo", 24, f"unix:{self.socket}")
        self.start_time = time.monotonic() - began
        bare = os.path.join(self.folder, "bare.sock")
        self.relay = self.start_socket(self.program("tests/bench/bare-relay"), bare, self.url, "bench", path=bare)
        self.direct, self.bridge, self.bare = f"http:{port_of(self.url)}", f"unix:{self.socket}", f"unix:{bare}"

    def others(self):
        """What stands between a client and a server as the bridge does: from stdio to HTTP."""
        if not self.node:
            return {}
        modules = os.path.join(self.peers, "node_modules")
        return {
            "supergateway": f"stdio:{self.node} {modules}/supergateway/dist/index.js --streamableHttp {self.url} --logLevel none",
            "mcp-remote": f"stdio:{self.node} {modules}/mcp-remote/dist/proxy.js {self.url} --allow-http --transport http-only",
        }

    def offered(self):
        """A local server offered over HTTP: {by whom: a peer of bench-calls}"""
        child = self.program("tests/bench/bench-child")
        port = free_port()
        self.start_daemon("face.sock", "--http", f"127.0.0.1:{port}", "--", child)
        ports = {"mcp-bridged --http": port}
        if self.node:
            port = ports["supergateway --stateful"] = free_port()
            self.start(self.node, self.script("supergateway"), "--stdio", child, "--outputTransport", "streamableHttp", "--stateful",
                       "--port", port, "--logLevel", "none")
            port = ports["mcp-proxy"] = free_port()
            self.start(self.node, self.script("mcp-proxy"), "--host", "127.0.0.1", "--port", port, "--server", "stream", "--", child)
        for port in ports.values():
            self.wait_for(lambda port=port: self.calls("latency", 1, 1, "echo", 24, f"http:{port}"), subprocess.SubprocessError)
        return {name: f"http:{port}" for name, port in ports.items()}

    def script(self, package):
        folder = os.path.join(self.peers, "node_modules", package)
        with open(os.path.join(folder, "package.json"), encoding="utf-8") as file:
            names = json.load(file)["bin"]
        return os.path.join(folder, names if isinstance(names, str) else names[package])

    def wait_for(self, condition, *errors):
        deadline = time.monotonic() + 60
        while True:
            try:
                if condition():
                    return
            except errors:
                pass
            if time.monotonic() > deadline:
                raise RuntimeError("it does not come about")
            time.sleep(0.02)

    def calls(self, *arguments):
        out = subprocess.run([self.program("tests/bench/bench-calls"), *map(str, arguments)], stdout=subprocess.PIPE,
                             stdin=subprocess.DEVNULL, stderr=self.log, text=True, check=True, timeout=120).stdout
        return [json.loads(line) for line in out.splitlines()]

    def latency(self, rounds, count, peers, tool="echo", size=24):
        rounds, count = (1, min(count, 10)) if self.short else (rounds, count)
        return self.calls("latency", rounds, count, tool, size, *peers)

    def rate(self, clients, peers):
        return [one["rate"] for one in self.calls("rate", 1 if self.short else 5, 60 if self.short else 500, clients, *peers)]

    def process(self, command):
        """Whole processes, from fork to exit, in milliseconds: the median."""
        times = []
        for _ in range(3 if self.short else 40):
            began = time.monotonic()
            subprocess.run(command, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL, check=True, timeout=30)
            times.append((time.monotonic() - began) * 1000)
        return statistics.median(times)

    @contextlib.contextmanager
    def on_cpus(self, ours, upstreams):
        """The upstream on one of the CPUs we may use, by number; the daemon, the relay and what is started meanwhile on another."""
        everywhere = os.sched_getaffinity(0)
        cpus = sorted(everywhere)
        try:
            os.sched_setaffinity(self.upstream.pid, {cpus[upstreams]})
            for pid in (0, self.daemon.pid, self.relay.pid):
                os.sched_setaffinity(pid, {cpus[ours]})
            yield
        finally:
            for pid in (0, self.upstream.pid, self.daemon.pid, self.relay.pid):
                os.sched_setaffinity(pid, everywhere)


class StatusProbe:
    """A client that asks for the daemon's status."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(60)
        self.socket.connect(path)
        self.file = self.socket.makefile("rb")

    def newest(self):
        self.socket.sendall(b'{"jsonrpc":"2.0","id":1,"method":"bridge/status"}\n')
        while b'"result"' not in (line := self.file.readline())[:40] and line:
            pass  # a notification
        return int(re.search(rb'"newest":(\d+)', line)[1])


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def port_of(url):
    return int(re.search(r":(\d+)/", url)[1])


def emit(url, message, count):
    """Notifications from the demo upstream."""
    connection = http.client.HTTPConnection("127.0.0.1", port_of(url), timeout=60)
    connection.request("POST", "/control/emit", json.dumps({"count": count, "message": message}))
    connection.getresponse().read()
    connection.close()


def memory(process, field):
    """In MiB."""
    with open(f"/proc/{process.pid}/status", encoding="ascii") as file:
        return int(re.search(rf"{field}:\s+(\d+)", file.read())[1]) / 1024


def processor_time(process):
    """In seconds, of a process of one thread."""
    with open(f"/proc/{process.pid}/schedstat", encoding="ascii") as file:
        return int(file.read().split()[0]) / 1e9


def wake_ups(process):
    with open(f"/proc/{process.pid}/status", encoding="ascii") as file:
        return int(re.search(r"\nvoluntary_ctxt_switches:\s+(\d+)", file.read())[1])
