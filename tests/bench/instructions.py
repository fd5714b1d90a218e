#!/usr/bin/env python3
"""The guard of instructions: what one operation costs, counted by callgrind, against the figures in instructions.json.

    instructions.py DAEMON CLIENT [--record] [--client]

Counted are a call, a call with a text of 64 KiB and of 1 MiB both ways, a call that is judged by a policy of 20 globs, one with a grant, and one
that is recorded by --audit (at most 3 %, 3 % and 10 % more), a call that is translated for a server of 2026-07-28, a job from its
submission to its collection, a notification into the ring, the same with --state-dir, and one run of
`mcp-nc call`. Of the daemon's two runs of different length the difference counts, so that start and end cancel out.
`mcp-nc call` is counted with the arguments made by the tool's schema, with --raw, and by the name of a server whose daemon
runs. None is to cost more than 3 times an empty C++ program as compilers link it, and the schema at most 1.7 times --raw
(1.3 times where mcp-nc is linked dynamically: the loader is most of both). A figure more than 5 % over the recorded one
fails, with the functions that grew, if three counts are. The recorded figures are those of some compilers and libraries, which are named with
them; with others only what an operation costs beside another one is judged, which is a guard as well, but a coarse one.
The processor does not matter as long as it has AVX2: callgrind plays one of its own. Nor does the machine's load: the
upstream answers when the daemon sleeps. --record writes the figures;
--client counts mcp-nc alone.
"""

import contextlib
import json
import os
import platform
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

import ending
from servers import SERVERS, Upstream

START = 30  # seconds until a daemon has its socket
LIMIT = 1.05
LIMIT_OF_CONVERSION = {True: 1.7, False: 1.3}  # static, dynamic
LIMIT_OF_PROCESS = 3  # an empty one
LIMITS_BESIDE = [  # what costs at most so many times what: judged everywhere
    ("call under a policy", "call", 1.03), ("call with a grant", "call", 1.03), ("audited call", "call", 1.1),
    ("translated call", "call", 1.3), ("translated call of 64 KiB", "call of 64 KiB", 1.25), ("submit", "call", 2.0), ("durable notification", "notification", 2.2),
    ("call of 64 KiB", "call", 7), ("call of 1 MiB", "call of 64 KiB", 14)]
FIGURES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "instructions.json")
FUNCTIONS_KEPT = 60


class Client:
    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(120)
        self.socket.connect(path)
        self.file = self.socket.makefile("rb")

    def ask(self, method, params=None):
        message = {"jsonrpc": "2.0", "id": 1, "method": method} | ({"params": params} if params else {})
        self.socket.sendall(json.dumps(message, separators=(",", ":")).encode() + b"\n")
        while True:
            answer = json.loads(self.file.readline())
            if answer.get("id") == 1:
                return answer["result"]

    def call(self, size, meta=None):
        self.ask("tools/call", {"name": "echo", "arguments": {"message": "x" * size}} | ({"_meta": meta} if meta else {}))


def calls_of(size, meta=None):
    def operate(path, _, count):
        client = Client(path)
        for _ in range(count):
            client.call(size, meta)
    return operate


def calls_with_a_grant(path, _, count):
    grant = Client(path).ask("bridge/grant", {"tools": ["e*", "!*_secrets"], "calls": 1_000_000})["grant"]
    client = Client(path)
    client.ask("bridge/use", {"grant": grant})
    for _ in range(count):
        client.call(24)


def notifications(path, upstream, count):
    client = Client(path)
    client.call(1)
    goal = client.ask("bridge/status")["ring"]["newest"] + count
    upstream.notify(count)
    # Asked seldom, since the asking is counted as well.
    while client.ask("bridge/status")["ring"]["newest"] < goal:
        time.sleep(0.2)


def submits(path, _, count):
    """A job is submitted, runs and is collected."""
    client = Client(path)
    for number in range(count):
        job = client.ask("bridge/submit", {"method": "tools/call", "key": f"step {number}", "params": {
            "name": "echo", "arguments": {"message": "x" * 24}}})["job"]
        client.ask("bridge/collect", {"job": job, "waitMs": 30_000})


OPERATIONS = {  # name: (what, few, many)
    "call": (calls_of(24), 300, 1300),
    "call of 64 KiB": (calls_of(64 << 10), 30, 130),
    "call of 1 MiB": (calls_of(1 << 20), 3, 13),
    "call under a policy": (calls_of(24), 300, 1300),
    "call with a grant": (calls_with_a_grant, 300, 1300),
    "audited call": (calls_of(24), 300, 1300),
    "translated call": (calls_of(24), 300, 1300),
    "translated call of 64 KiB": (calls_of(64 << 10), 30, 130),
    "submit": (submits, 100, 500),
    "notification": (notifications, 1000, 11000),
    "durable notification": (notifications, 1000, 11000),
}


def counted(folder, name, command):
    out = os.path.join(folder, f"callgrind.{name.replace(' ', '_')}")
    return out, ["valgrind", "--tool=callgrind", "--vgdb=no", f"--callgrind-out-file={out}", f"--log-file={out}.log", *command]


def figures_of(out):
    """(instructions in all, {function: its own})"""
    text = subprocess.run(["callgrind_annotate", "--threshold=100", out], capture_output=True, text=True,
                          check=True).stdout
    functions = {}
    for line in text.splitlines():
        if found := re.match(r"\s*([\d,]+) \([\s\d.]+%\)\s+(.+)", line):
            count = int(found[1].replace(",", ""))
            if found[2].startswith("PROGRAM TOTALS"):
                total = count
            else:
                name = re.sub(r"^.*?:(?=\S)", "", re.sub(r" \[.*\]$", "", found[2]))
                functions[name[:160]] = functions.get(name[:160], 0) + count
    return total, functions


@contextlib.contextmanager
def running(path, *command, **how):
    """It has made its socket, and ends with the block, whatever happens there."""
    deadline = time.monotonic() + START
    with subprocess.Popen(command, **how) as process:
        try:
            while not os.path.exists(path):
                if process.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError(f"it did not start, there is no socket at {path}: {' '.join(command)}")
                time.sleep(0.05)
            yield process
            process.send_signal(signal.SIGTERM)
            process.wait(START)
        except BaseException:
            process.kill()
            raise


def run_daemon(folder, daemon, name, operate, count, upstream_type=Upstream, options=()):
    upstream = upstream_type()
    path = os.path.join(folder, "s")
    out, command = counted(folder, f"{name}.{count}", [daemon, "--url", upstream.url, "--socket", path,
                                                     "--keepalive", "0", "--log-level", "error", *options])
    with running(path, *command) as process:
        upstream.daemon = process.pid
        operate(path, upstream, count)
        upstream.daemon = None
    return figures_of(out)


def difference(few, many, operations):
    """What one operation has cost: (instructions, {function: its own})"""
    each = {function: (count - few[1].get(function, 0)) / operations for function, count in many[1].items()}
    return (many[0] - few[0]) / operations, each


def policy(folder):
    """A file whose rule has 20 globs, of which the one that allows the tool is tried last."""
    path = os.path.join(folder, "policy.json")
    globs = ["e*", "!*_secrets", *(f"group_{number}_*" for number in range(9)), *(f"*_of_{number}" for number in range(9))]
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"rules": [{"uid": os.geteuid() + 1}, {"uid": os.geteuid(), "tools": globs}]}, file)
    return path


def options_of(folder, name, count):
    if name == "durable notification":
        return ("--state-dir", os.path.join(folder, f"state.{count}"))
    if name == "call under a policy":
        return ("--policy", policy(folder))
    return ("--audit", os.path.join(folder, f"audit.{count}.log")) if name == "audited call" else ()


def cost_of(folder, daemon, name):
    upstream = SERVERS["modern" if name.startswith("translated") else "legacy"]
    return counted_twice(folder, daemon, name, OPERATIONS[name], upstream, lambda count: options_of(folder, name, count))


def counted_twice(folder, daemon, name, operation, upstream, options=lambda _: ()):
    operate, few, many = operation
    counts = [run_daemon(folder, daemon, name, operate, count, upstream, options(count)) for count in (few, many)]
    return difference(*counts, many - few)


CALLS = {
    "mcp-nc call": ["call", "echo", "message=hi", "times=2", "mode=loud"],
    "mcp-nc call --raw": ["call", "--raw", "echo", "message=hi", "times:=2", "mode=loud"],
    "mcp-nc @NAME call": ["@counted", "call", "echo", "message=hi", "times=2", "mode=loud"],
}


def cost_of_client(folder, daemon, client, words):
    upstream = Upstream()
    home = os.path.join(folder, "home")
    os.makedirs(os.path.join(home, ".config/mcp"), exist_ok=True)
    with open(os.path.join(home, ".config/mcp/mcp.json"), "w", encoding="utf-8") as file:
        json.dump({"mcpServers": {"counted": {"url": upstream.url}}}, file)
    path = os.path.join(folder, "c")
    around = {"HOME": home, "XDG_RUNTIME_DIR": home, "MCP_SOCKET_PATH": path, "PATH": os.environ["PATH"]}
    with running(path, daemon, "--url", upstream.url, "--socket", path, "--log-level", "error"):
        try:
            around["PATH"] = os.path.dirname(os.path.abspath(daemon)) + ":" + around["PATH"]
            subprocess.run([client, *words], check=True, capture_output=True, env=around)  # the daemon has the tools then, and that of the name runs
            out, command = counted(folder, "mcp-nc", [client, *words])
            subprocess.run(command, check=True, capture_output=True, env=around)
        finally:
            if words[0].startswith("@"):
                subprocess.run([client, "stop", words[0]], capture_output=True, env=around, check=False)
    return figures_of(out)


def cost_of_nothing(folder):
    """Of an empty C++ program, as the compiler links it when told nothing."""
    source, program = os.path.join(folder, "nothing.cpp"), os.path.join(folder, "nothing")
    with open(source, "w", encoding="utf-8") as file:
        file.write("int main() {}\n")
    subprocess.run(["c++", "-O2", "-o", program, source], check=True)
    out, command = counted(folder, "nothing", [program])
    subprocess.run(command, check=True)
    return figures_of(out)[0]


def is_static(program):
    """Whether no loader is named in the program (ELF64, little-endian: the type of each program header)."""
    with open(program, "rb") as file:
        head = file.read(4096)
    first, size, count = struct.unpack_from("<Q", head, 32)[0], *struct.unpack_from("<HH", head, 54)
    return 3 not in [struct.unpack_from("<I", head, first + size * number)[0] for number in range(count)]


def faults_beside(now):
    faults = []
    for name, other, limit in LIMITS_BESIDE:
        times = now[name]["instructions"] / now[other]["instructions"]
        print(f"{name}: {times:.2f} times {other}, at most {limit}")
        if times > limit:
            faults.append(f"{name} costs too much beside {other}")
    return faults


def faults_of_client(now, nothing, static):
    faults = []
    times = now["mcp-nc call"]["instructions"] / now["mcp-nc call --raw"]["instructions"]
    limit = LIMIT_OF_CONVERSION[static]
    print(f"with the schema {times:.2f} times --raw, at most {limit}")
    if times > limit:
        faults.append("the arguments by the schema cost too much")
    for name in CALLS:
        times = now[name]["instructions"] / nothing
        print(f"{name}: {times:.2f} times a process that does nothing ({nothing}), at most {LIMIT_OF_PROCESS}"
              f"{'' if static else ' where it is linked statically'}")
        if static and times > LIMIT_OF_PROCESS:
            faults.append(f"{name} costs too much")
    return faults


def environment():
    """What the figures depend on."""
    def first_line(*command):
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[0]
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        has_vectors = re.search(r"^flags\s*:.*\bavx2\b", file.read(), re.MULTILINE)
    return "; ".join([first_line("c++", "--version"), f"libcurl {first_line('pkg-config', '--modversion', 'libcurl')}",
                      f"glibc {os.confstr('CS_GNU_LIBC_VERSION').split()[1]}", first_line("valgrind", "--version"),
                      f"{platform.machine()} {'with' if has_vectors else 'without'} AVX2"])


def grown(each, before, count=10):
    changes = sorted(((count - before.get(name, 0), name) for name, count in each.items()), reverse=True)
    return [f"    {change:+12.0f}  {name}" for change, name in changes[:count] if change > 1]


def least(most, count):
    """Of up to three counts, until one is not over `most`: in which pieces a text of 1 MiB arrives is worth 3 % from one to the next."""
    counts = [count()]
    while counts[-1][0] > most and len(counts) < 3:
        counts.append(count())
    return min(counts, key=lambda each: each[0])


def main():
    daemon, client = sys.argv[1:3]
    with open(FIGURES, encoding="utf-8") as file:
        known = json.load(file)
    recorded = known.get(environment())
    now, failed = {}, False
    with tempfile.TemporaryDirectory() as folder:
        wanted = [name for name in (*OPERATIONS, *CALLS) if "--client" not in sys.argv or name in CALLS]
        for name in wanted:
            before = recorded.get(name) if recorded else None
            most = LIMIT * before["instructions"] if before and "--record" not in sys.argv else 0
            total, each = least(most, lambda: cost_of_client(folder, daemon, client, CALLS[name]) if name in CALLS else
                                cost_of(folder, daemon, name))
            kept = sorted(each.items(), key=lambda item: -item[1])[:FUNCTIONS_KEPT]
            now[name] = {"instructions": round(total), "functions": {key: round(value, 1) for key, value in kept}}
            line = f"{name:17} {total:12.0f}"
            if before:
                line += f"  recorded {before['instructions']:12}  {100 * total / before['instructions'] - 100:+.1f} %"
            print(line, flush=True)
            if before and total > LIMIT * before["instructions"]:
                failed = True
                print("  NOT OK: over 5 % more; what grew most:", *grown(each, before["functions"]), sep="\n")
        nothing = cost_of_nothing(folder)
    beside = [] if "--client" in sys.argv else faults_beside(now)
    for fault in [*beside, *faults_of_client(now, nothing, is_static(client))]:
        failed = True
        print("  NOT OK:", fault)
    if "--record" in sys.argv:
        known[environment()] = {**(recorded or {}), **now}
        with open(FIGURES, "w", encoding="utf-8") as file:
            json.dump(known, file, indent=1)
            file.write("\n")
    elif not recorded:
        print(f"no figures are recorded for {environment()}: only the ratios are judged (--record adds figures)")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(ending.code_of(main))
