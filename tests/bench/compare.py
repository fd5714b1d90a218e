#!/usr/bin/env python3
"""Measures ours and others in turns, and writes what the pages say of it.

    compare.py BUILD PEERS NODE "PACKAGE..." [--try]      called by compare.sh

BUILD is a build of the preset "bench", PEERS a folder with the newest versions of the packages. What stands between the
marks of a page is written by this alone: nothing is in a table that it did not measure.
"""

import contextlib
import datetime
import http.client
import json
import os
import pathlib
import platform
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

import plot

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
MARKS = "<!-- compare.sh: begin -->", "<!-- compare.sh: end -->"
OURS = "`mcp-nc call …` through `mcp-bridged`"
HELLO = "".join(json.dumps({"jsonrpc": "2.0", **message}) + "\n" for message in (
    {"id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {},
                                                 "clientInfo": {"name": "step", "version": "1"}}},
    {"method": "notifications/initialized"},
    {"id": 2, "method": "tools/call", "params": {"name": "echo", "arguments": {"message": "hi"}}}))


class Setting:
    """A demo server, a daemon before it, and a home for the others. Everything ends with its `stack`."""

    def __init__(self, build, peers, node, few):
        self.build, self.peers, self.node, self.few = pathlib.Path(build), pathlib.Path(peers), node, few
        self.left_out = []
        self.stack = contextlib.ExitStack()
        self.home = pathlib.Path(self.stack.enter_context(tempfile.TemporaryDirectory(prefix="compare-", ignore_cleanup_errors=True)))
        variables = {name: value for name, value in os.environ.items() if not name.startswith(("MCP_", "XDG_", "npm_"))}
        self.environment = {**variables, "HOME": str(self.home), "XDG_RUNTIME_DIR": str(self.home), "NO_COLOR": "1",
                            "PATH": f"{self.peers}/node_modules/.bin:{variables['PATH']}"}
        upstream = self.start([self.build / "tests/support/demo-upstream"], stdout=subprocess.PIPE, text=True)
        self.url = upstream.stdout.readline().split()[-1]
        self.socket = self.home / "s"
        self.daemon = self.start([self.build / "daemon/mcp-bridged", "--url", self.url, "--socket", self.socket, "--log-level", "warning"],
                                 env=variables)
        for path in (".mcp-inspector/mcp.json", "mcp.json", ".mcporter/mcporter.json"):
            (self.home / path).parent.mkdir(exist_ok=True)
            (self.home / path).write_text(json.dumps({"mcpServers": {"step": {"type": "http", "url": self.url, "lifecycle": "keep-alive"}}}),
                                          encoding="utf-8")

    def start(self, command, stdin=subprocess.DEVNULL, **more):
        process = subprocess.Popen([str(word) for word in command], stdin=stdin, **more)
        self.stack.callback(process.wait)
        self.stack.callback(process.kill)
        return process

    def asked(self, method):
        return len(json.loads(self.control("GET", f"log?method={method}")))

    def control(self, verb, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", int(re.search(r":(\d+)/", self.url)[1]), timeout=60)
        connection.request(verb, f"/control/{path}", body)
        return connection.getresponse().read()

    def run(self, command, lines=None):
        """(seconds, what it printed), to its end; with lines, to the response to their last."""
        began = time.monotonic()
        process = subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE if lines else subprocess.DEVNULL, cwd=self.home,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=self.environment)
        signal.alarm(60)  # raises, too
        try:
            if lines is None:
                output, seconds = process.communicate()[0], time.monotonic() - began
                if process.returncode != 0:
                    raise RuntimeError(f"{command}: exit code {process.returncode}: {output}")
                return seconds, output
            process.stdin.write(lines)
            process.stdin.flush()
            output = ""
            while '"id":2' not in output:
                line = process.stdout.readline()
                if not line:
                    raise RuntimeError(f"{command} ended: {output}")
                output += line
            process.kill()
            process.communicate()
            return time.monotonic() - began, output
        finally:
            signal.alarm(0)
            process.kill()

    def left_running(self):
        """The processes that have our home, without those that were started here."""
        found = []
        for name in filter(str.isdigit, os.listdir("/proc")):
            with contextlib.suppress(OSError):
                if f"HOME={self.home}\0".encode() in pathlib.Path(f"/proc/{name}/environ").read_bytes():
                    found.append(int(name))
        return found


def anonymous_memory(*pids):
    """In MiB."""
    kilobytes = 0
    for pid in pids:
        with contextlib.suppress(OSError):
            kilobytes += int(re.search(r"RssAnon:\s+(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text(encoding="ascii"))[1])
    return kilobytes / 1024


def ways(setting, versions):
    """name: (what is typed once before, what each step types, lines for its stdin, what is typed at the end)"""
    bin_of = setting.peers / "node_modules/.bin"
    return {
        OURS:
            ([], [setting.build / "client/mcp-nc", "-s", setting.socket, "--wait", "10s", "call", "echo", "message=hi"], None, []),
        f"TypeScript SDK {versions['@modelcontextprotocol/sdk']}, a session each":
            ([], ["env", "-C", setting.peers, setting.node, HERE / "step.mjs", setting.url], None, []),
        f"mcp-remote {versions['mcp-remote']} as its stdio server":
            ([], [bin_of / "mcp-remote", setting.url, "--allow-http", "--transport", "http-only"], HELLO, []),
        f"mcpc {versions['@apify/mcpc']}, a kept session":
            (["mcpc", "connect", setting.url, "@step"], ["mcpc", "@step", "tools-call", "echo", "message:=hi"], None, ["mcpc", "close", "@step"]),
        f"mcpdo {versions['@modelcontextprotocol/inspector']}, a kept session":
            (["mcpdo", "connect", "step"], ["mcpdo", "--connection", "step", "tools/call", "echo", "message:=hi"], None, ["mcpdo", "daemon", "stop"]),
        f"mcporter {versions['mcporter']}, kept alive":
            (["mcporter", "list", "step"], ["mcporter", "call", "step.echo", "message=hi"], None, ["mcporter", "daemon", "stop"]),
    }


def leave_out(setting, found, name, error):
    found.pop(name, None)
    setting.left_out.append(name)
    print(f"left out: {name}: {error}", file=sys.stderr)


def steps(setting, versions):
    """[(way, milliseconds, initializes of 5 steps, what became of a notification, MiB between steps)]; a way that fails says why."""
    found, all_ways = {}, ways(setting, versions)
    for name, (before, step, lines, _) in all_ways.items():
        try:
            began_with = set(setting.left_running())
            for attempt in range(3 if before else 0):  # some have limits of their own, which a busy machine reaches
                try:
                    setting.run(before)
                    break
                except RuntimeError:
                    if attempt == 2:
                        raise
            setting.run(step, lines)  # not measured: files are read, sessions are opened
            opened = setting.asked("initialize")
            setting.control("POST", "emit", json.dumps({"message": {"jsonrpc": "2.0", "method": "notifications/message",
                                                                    "params": {"level": "info", "data": "between-steps"}}}))
            told = "printed by the next step" if "between-steps" in setting.run(step, lines)[1] else "not printed"
            for _ in range(4):
                setting.run(step, lines)
            kept = anonymous_memory(*([setting.daemon.pid] if name == OURS else set(setting.left_running()) - began_with))
            found[name] = {"opened": setting.asked("initialize") - opened, "told": told, "kept": kept, "times": []}
        except (RuntimeError, OSError) as error:
            leave_out(setting, found, name, error)
    for _ in range(3 if setting.few else 15):
        for name, one in list(found.items()):
            try:
                one["times"].append(setting.run(*all_ways[name][1:3])[0] * 1000)
            except (RuntimeError, OSError) as error:
                leave_out(setting, found, name, error)
    for name, (*_, after) in all_ways.items():
        with contextlib.suppress(RuntimeError, OSError):
            if after:
                setting.run(after)
    return [(name, statistics.median(one["times"]), one["opened"], one["told"], one["kept"]) for name, one in found.items()]


class Lines:
    """A JSON-RPC message a line, over a bridge's stdin and stdout or its Unix socket."""

    def __init__(self, setting, command):
        if isinstance(command, pathlib.Path):
            self.socket = setting.stack.enter_context(socket.socket(socket.AF_UNIX))
            self.socket.connect(str(command))
            self.write, self.file = self.socket.sendall, self.socket.makefile("rb")
        else:
            process = setting.start(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0,
                                    cwd=setting.home, env=setting.environment)
            self.write, self.file = process.stdin.write, setting.stack.enter_context(open(process.stdout.fileno(), "rb", closefd=False))

    def ask(self, number, message):
        self.write(message + b"\n")
        while f'"id":{number}'.encode() not in (line := self.file.readline()):
            if not line:
                raise RuntimeError("it ended")


class Posts:
    """The same without a bridge: a POST each, on one connection."""

    def __init__(self, url):
        port = int(re.search(r":(\d+)/", url)[1])
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.head = (f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
                     "Accept: application/json, text/event-stream\r\n").encode()

    def ask(self, _, message):
        self.socket.sendall(self.head + b"Content-Length: %d\r\n\r\n" % len(message) + message)
        answer = b""
        while (end := answer.find(b"\r\n\r\n")) < 0 or len(answer) < end + 4 + int(re.search(rb"(?i)content-length: (\d+)", answer)[1]):
            more = self.socket.recv(1 << 16)
            if not more:
                raise RuntimeError("the server closed the connection")
            answer += more
        if session := re.search(rb"(?i)\r\n(mcp-session-id: .*\r\n)", answer[:end + 2]):
            self.head += session[1]


def on_open_connection(setting, versions):
    """[(way, microseconds of a call, those at most of 99 in 100)]; a way that fails says why."""
    bin_of = setting.peers / "node_modules/.bin"
    made = {
        "without a bridge": lambda: Posts(setting.url),
        "`mcp-bridged`, its Unix socket": lambda: Lines(setting, setting.socket),
        "`mcp-nc` through `mcp-bridged`, as a stdio server": lambda: Lines(setting, [setting.build / "client/mcp-nc", "-s", setting.socket]),
        f"mcp-remote {versions['mcp-remote']}, as a stdio server":
            lambda: Lines(setting, [bin_of / "mcp-remote", setting.url, "--allow-http", "--transport", "http-only"]),
        f"supergateway {versions['supergateway']}, as a stdio server":
            lambda: Lines(setting, [bin_of / "supergateway", "--streamableHttp", setting.url, "--logLevel", "none"]),
    }
    hello, ready, call = HELLO.encode().splitlines()
    found = {}
    for name, make in made.items():
        signal.alarm(60)
        try:
            way = make()
            way.ask(1, hello)
            if isinstance(way, Lines):
                way.write(ready + b"\n")
            for _ in range(100):
                way.ask(2, call)
            found[name] = way, []
        except (RuntimeError, OSError) as error:
            leave_out(setting, found, name, error)
        finally:
            signal.alarm(0)
    for _ in range(3 if setting.few else 15):
        for name, (way, times) in list(found.items()):
            signal.alarm(60)
            try:
                for _ in range(100):
                    began = time.monotonic()
                    way.ask(2, call)
                    times.append((time.monotonic() - began) * 1e6)
            except (RuntimeError, OSError) as error:
                leave_out(setting, found, name, error)
            finally:
                signal.alarm(0)
    return [(name, statistics.median(times), statistics.quantiles(times, n=100)[98]) for name, (_, times) in found.items()]


def faces(setting, clients):
    """[(name, calls a second, KiB, processes of the local server)], by face.sh."""
    environment = {**os.environ, "MCP_BENCH_PEERS": str(setting.peers), **({"MCP_BENCH_ROUNDS": "1"} if setting.few else {})}
    outcome = subprocess.run(["bash", HERE / "face.sh", str(clients)], stdout=subprocess.PIPE, text=True, check=False, env=environment)
    rows = re.findall(r"note: (\S+) +(\d+) calls a second, +(\d+) KiB RssAnon, +(\d+) processes", outcome.stdout)
    if len(rows) != 3:
        raise RuntimeError(f"face.sh: {outcome.stdout}")
    return [(name, int(rate), int(memory), int(processes)) for name, rate, memory, processes in rows]


def tasks(setting):
    """The table of the everyday tasks, by companions/tasks.py."""
    few = ["--only", "one"] if setting.few else []
    path = f"{setting.peers}/node_modules/.bin:{setting.build}/client:{setting.build}/daemon:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "MCP_NC_COMPLETION": f"{setting.build}/client/manual/mcp-nc.bash"}
    return subprocess.run([sys.executable, "-B", HERE / "companions/tasks.py", *few], stdout=subprocess.PIPE, text=True, check=True,
                          env=environment).stdout.strip()


def table(head, rows):
    return "\n".join("| " + " | ".join(map(str, row)) + " |" for row in (head, ["---"] * len(head), *rows))


def comparison(where, one_step, open_connection, offered, left_out):
    directly = next((median for name, median, _ in open_connection if name == "without a bridge"), None)
    memory = [f"{kept:.1f} MiB" if kept else "none" for *_, kept in one_step]
    failed = f" Left out, since they failed: {', '.join(left_out)}." if left_out else ""
    return f"""{where} In turns; medians.{failed}

{table(["way", "one step", "`initialize` requests for 5 steps", "a notification between two steps", "memory between steps"],
       [(name, f"{time:.{1 if time < 10 else 0}f} ms", opened, told, kept) for (name, time, opened, told, _), kept in zip(one_step, memory)])}

A call on a connection that is open, one at a time:

{table(["way", "median", "99 of 100", "added"],
       [(name, f"{median:,.0f} µs", f"{most:,.0f} µs", f"{median - directly:,.0f} µs" if directly and median != directly else "")
        for name, median, most in open_connection])}

A local stdio server offered over HTTP to 16 clients:

{table(["way", "calls per second", "its own memory", "processes of the local server"],
       [(name, f"{rate:,}", f"{kilobytes / 1024:.1f} MiB", processes) for name, rate, kilobytes, processes in offered])}

<picture><source media="(prefers-color-scheme: dark)" srcset="figures/relays-dark.svg"><img alt="a local server offered over HTTP: calls per second by the number of clients" src="figures/relays-light.svg"></picture>"""


def between_marks(page, text):
    before, rest = page.read_text(encoding="utf-8").split(MARKS[0])
    return f"{before}{MARKS[0]}\n{text}\n{MARKS[1]}{rest.split(MARKS[1])[1]}"


def too_late(*_):
    raise RuntimeError("no response within 60 s")


def main():
    build, peers, node, packages, *rest = sys.argv[1:]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    signal.signal(signal.SIGALRM, too_late)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ^C is typed in one of the tasks: not ignored
    versions = {name: json.loads((pathlib.Path(peers) / "node_modules" / name / "package.json").read_text(encoding="utf-8"))["version"]
                for name in packages.split()}
    setting = Setting(build, peers, node, "--try" in rest)
    load = os.getloadavg()[0]
    with setting.stack:
        one_step = steps(setting, versions)
        open_connection = on_open_connection(setting, versions)
    names = {"bridge": "`mcp-bridged --http`", "supergateway": f"supergateway {versions['supergateway']} `--stateful`",
             "mcp-proxy": f"mcp-proxy {versions['mcp-proxy']} (npm)"}
    lines, offered = {name: [] for name in names}, []
    for clients in (1, 16) if setting.few else (1, 4, 16, 64):
        measured = faces(setting, clients)
        for name, rate, *_ in measured:
            lines[name].append((clients, rate))
        if clients == 16:
            offered = [(names[name], *rest) for name, *rest in measured]
    every_task = tasks(setting)

    cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo", encoding="utf-8") if line.startswith("model name")), platform.machine())
    node_version = subprocess.run([node, "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    commit = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short=8", "HEAD"], capture_output=True, text=True, check=False).stdout.strip()
    where = (f"Measured on {datetime.date.today():%-d %B %Y} by `bash tests/bench/compare.sh`{', of ' + commit if commit else ''}, on "
             f"{os.cpu_count()} processors ({cpu}), load {load:.1f} before and {os.getloadavg()[0]:.1f} after, Node {node_version}.")
    others = ", ".join(f"{name} {version}" for name, version in versions.items())

    written = pathlib.Path(peers) if setting.few else HERE
    pages = {"README.md": comparison(where, one_step, open_connection, offered, setting.left_out),
             "companions/README.md": f"{where} The newest that the npm registry had: {others}.\n\n{every_task}"}
    for name, text in pages.items():
        page = between_marks(HERE / name, text)
        (written / name).parent.mkdir(exist_ok=True)
        (written / name).write_text(page, encoding="utf-8")
    short = {"`mcp-nc": "mcp-nc, through the bridge", "TypeScript": "TypeScript SDK, a session each"}
    shown = [(short[name.split()[0]], time) for name, time, *_ in one_step if name.split()[0] in short]
    when = f"{datetime.date.today():%-d %B %Y}, {commit}, Node {node_version[1:]}, load {load:.1f} to {os.getloadavg()[0]:.1f}"
    plot.write(written / "figures", "step", plot.bars("One step of an agent: start, call one tool, exit", shown,
                                                      f"{when}, TypeScript SDK {versions['@modelcontextprotocol/sdk']}; the server answers at once"))
    plot.write(written / "figures", "relays", plot.curves("A local server offered over HTTP", "clients", "calls a second", lines,
                                                          f"{when}, supergateway {versions['supergateway']}, mcp-proxy {versions['mcp-proxy']} (npm)"))
    print(f"written: {written}")


if __name__ == "__main__":
    main()
