#!/usr/bin/env python3
"""The figures that the documents show, made anew: a table, and the curves as SVG for light and dark pages.

    figures.py BUILD PEERS NODE [--short] [--folder FOLDER]      called by run.sh

BUILD is a build of the preset "bench", PEERS a folder with the peers from npm, NODE the program that runs them; empty:
the peers are left out. Everything that is compared is measured in turns, in one run, by one program (bench-calls).
--short tries all of it in half a minute; its figures are worth nothing. Nothing is judged: what a figure is to be
compared with stands beside it.
"""

import argparse
import contextlib
import datetime
import json
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import plot

HERE = os.path.dirname(os.path.abspath(__file__))
PAYLOADS = [100, 1_000, 10_000, 100_000, 1_000_000, 4_000_000, 8_000_000]
KINDS = {"base64": "an image", "escapes": "text with escapes", "values": "small values"}
CLIENTS = [1, 8, 32, 128]
MANY_CLIENTS = [300, 1000]


class Bench:
    def __init__(self, build, peers, node, short):
        self.build, self.peers, self.node, self.short = os.path.abspath(build), os.path.abspath(peers), node, short
        self.folder = tempfile.mkdtemp(prefix="mcp-bench-")
        self.stack = contextlib.ExitStack()
        self.stack.callback(shutil.rmtree, self.folder, True)
        self.log = self.stack.enter_context(open(os.path.join(self.folder, "log"), "w", encoding="utf-8"))

    def program(self, name):
        return os.path.join(self.build, name)

    def start(self, *command, line=False):
        process = subprocess.Popen(command, stdout=subprocess.PIPE if line else subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, text=True)
        self.stack.callback(process.wait)
        self.stack.callback(process.kill)
        return process, process.stdout.readline() if line else ""

    def start_socket(self, *command, socket):
        process, _ = self.start(*command)
        deadline = time.monotonic() + 20
        while not os.path.exists(socket):
            if time.monotonic() > deadline or process.poll() is not None:
                raise RuntimeError(f"{command[0]} did not start")
            time.sleep(0.002)
        return process

    def begin(self):
        _, line = self.start(self.program("tests/bench/bench-upstream"), line=True)
        self.url = line.split()[-1]
        self.port = re.search(r":(\d+)/", self.url)[1]
        self.socket = os.path.join(self.folder, "mcp.sock")
        began = time.monotonic()
        self.daemon = self.start_socket(self.program("daemon/mcp-bridged"), "--url", self.url, "--socket", self.socket,
                                        "--log-level", "warning", "--max-frame", "16M", socket=self.socket)
        self.start_time = time.monotonic() - began
        bare = os.path.join(self.folder, "bare.sock")
        self.start_socket(self.program("tests/bench/bare-relay"), bare, self.url, "bench", socket=bare)
        self.direct, self.bridge, self.bare = f"http:{self.port}", f"unix:{self.socket}", f"unix:{bare}"

    def others(self):
        """What stands between a client and a server as the bridge does: from stdio to HTTP."""
        if not self.node:
            return {}
        modules = os.path.join(self.peers, "node_modules")
        return {
            "supergateway": f"stdio:{self.node} {modules}/supergateway/dist/index.js --streamableHttp {self.url} --logLevel none",
            "mcp-remote": f"stdio:{self.node} {modules}/mcp-remote/dist/proxy.js {self.url} --allow-http --transport http-only",
        }

    def calls(self, *arguments):
        out = subprocess.run([self.program("tests/bench/bench-calls"), *map(str, arguments)], stdout=subprocess.PIPE,
                             stderr=self.log, text=True, check=True, timeout=600).stdout
        return [json.loads(line) for line in out.splitlines()]

    def latency(self, rounds, count, peers, tool="echo", size=24):
        rounds, count = (1, min(count, 10)) if self.short else (rounds, count)
        return self.calls("latency", rounds, count, tool, size, *peers)

    def rate(self, clients, peers):
        return [one["rate"] for one in self.calls("rate", 1 if self.short else 5, 60 if self.short else 600, clients, *peers)]

    def status(self, field):
        with open(f"/proc/{self.daemon.pid}/status", encoding="ascii") as file:
            return int(re.search(rf"{field}:\s+(\d+)", file.read())[1]) / 1024

    def process(self, command):
        """Whole processes, from fork to exit, in milliseconds: the median."""
        times = []
        for _ in range(3 if self.short else 40):
            began = time.monotonic()
            subprocess.run(command, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL, check=True)
            times.append((time.monotonic() - began) * 1000)
        return statistics.median(times)


def microseconds(figure):
    return f"{figure:,.0f} µs" if figure >= 100 else f"{figure:.1f} µs"


def measure(bench):
    """The table's rows, and the curves: name to (title, x, y, lines)."""
    rows, curves = [], {}
    others = bench.others()
    names = ["directly", "mcp-bridged", "a bare libcurl relay", *others]
    times = bench.latency(7, 200, [bench.direct, bench.bridge, bench.bare, *others.values()])
    for name, one in zip(names, times):
        added = "" if name == "directly" else f", {one['p50'] - times[0]['p50']:,.0f} µs added"
        rows.append((f"a call on an open connection, {name}",
                     f"p50 {microseconds(one['p50'])}, p99 {microseconds(one['p99'])}{added}"))
    connect = bench.calls("connect", 1 if bench.short else 5, 20 if bench.short else 300, bench.bridge)[0]["p50"]
    rows.append(("connect, call, close", f"{microseconds(connect)}, {connect / times[1]['p50']:.2f} times a call on an open connection"))
    client = [bench.program("client/mcp-nc"), "-s", bench.socket, "call", "--raw", "echo", '{"message":"hi"}']
    rows.append(("the whole process of one mcp-nc call", f"{bench.process(client):.2f} ms"))
    rows.append(("start to ready", f"{bench.start_time * 1000:.1f} ms"))
    rows.append(("memory after these (RSS, of it anonymous)", f"{bench.status('VmRSS'):.1f} MiB, {bench.status('RssAnon'):.1f} MiB"))

    lines = {name: [] for name in ("directly", "mcp-bridged", "a bare libcurl relay")}
    for clients in CLIENTS + ([] if bench.short else MANY_CLIENTS):
        for (_, points), rate in zip(lines.items(), bench.rate(clients, [bench.direct, bench.bridge, bench.bare])):
            points.append((clients, rate))
        if clients in CLIENTS:
            direct, bridge, bare = (points[-1][1] for points in lines.values())
            rows.append((f"calls a second, {clients} client{'s' * (clients > 1)}",
                         f"{bridge:,.0f}; {bridge / direct:.2f} of direct, {bridge / bare:.2f} of the bare relay"))
    curves["clients"] = ("Calls a second", "clients", "calls a second", lines)

    lines, growth = {}, {}
    for kind, what in KINDS.items():
        direct_line, through = lines.setdefault(f"{what}, directly", []), lines.setdefault(f"{what}, through", [])
        for size in PAYLOADS:
            direct, bridge = bench.latency(3, 5 if size >= 1_000_000 else 40, [bench.direct, bench.bridge], kind, size)
            direct_line.append((size, direct["p50"]))
            through.append((size, bridge["p50"]))
            if size == 4_000_000:
                rows.append((f"a result of 4 MB, {what}",
                             f"{bridge['p50'] / 1000:.1f} ms, {bridge['p50'] / direct['p50']:.1f} times direct"))
        growth[what] = (through[-1][1] / through[-3][1]) / (through[-1][0] / through[-3][0])
    rows += [(f"a byte in 8 MB beside one in 1 MB, {what}", f"{ratio:.2f} times: {'linear' if ratio < 1.5 else 'more than linear'}")
             for what, ratio in growth.items()]
    curves["payload"] = ("A call by the size of its result", "bytes", "microseconds, p50", lines)
    return rows, curves


def page(rows, short, load):
    cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo", encoding="utf-8") if line.startswith("model name")), platform.machine())
    commit = subprocess.run(["git", "-C", HERE, "rev-parse", "--short=8", "HEAD"], capture_output=True, text=True, check=False).stdout.strip()
    system = platform.freedesktop_os_release().get("PRETTY_NAME", platform.system())
    table = "\n".join(f"| {what} | {figure} |" for what, figure in rows)
    pictures = "\n".join(f'<picture><source media="(prefers-color-scheme: dark)" srcset="{name}-dark.svg">'
                         f'<img alt="{alt}" src="{name}-light.svg"></picture>\n'
                         for name, alt in (("clients", "calls a second by the number of clients"),
                                           ("payload", "the time of a call by the size of its result")))
    return (f"# Figures\n\nMade by `bash tests/bench/run.sh` on {datetime.date.today()}, of {commit or 'no commit'}, on {system}, {os.cpu_count()} CPUs "
            f"({cpu}), load {load:.1f} before.{' A short try: worth nothing.' if short else ''} The upstream is `bench-upstream`, "
            f"which costs next to nothing; all of a row was measured in turns.\n\n| what | figure |\n|---|---|\n{table}\n\n{pictures}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("peers")
    parser.add_argument("node")
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--folder", default=os.path.join(HERE, "figures"))
    arguments = parser.parse_args()
    load = os.getloadavg()[0]
    bench = Bench(arguments.build, arguments.peers, arguments.node, arguments.short)
    with bench.stack:
        bench.begin()
        rows, curves = measure(bench)
    for what, figure in rows:
        print(f"  {what:60} {figure}")
    for name, (title, x_label, y_label, lines) in curves.items():
        plot.write(arguments.folder, name, title, x_label, y_label, lines)
    with open(os.path.join(arguments.folder, "README.md"), "w", encoding="utf-8") as file:
        file.write(page(rows, arguments.short, load))
    print(f"written: {arguments.folder}")


if __name__ == "__main__":
    sys.exit(main())
