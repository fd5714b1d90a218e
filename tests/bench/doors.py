#!/usr/bin/env python3
"""What a call costs over each door of the daemon, compared in turns: the Unix socket, pipes, HTTP on a port and on a socket.

    doors.py DAEMON SERVER MCP_NC      the daemon, the demo server, and the client; exit code 1: over a limit

A round calls `echo` some hundred times on one connection of each door; the median of the rounds' ratios counts. Pipes may
take 1.3 of the socket, also for a whole `mcp-nc call`; HTTP on a socket no longer than on the port, within 5 %. The daemon's
processor time per call is printed, too: it varies less where the machine is not idle.
"""

import os
import pathlib
import socket
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "end_to_end"))
from harness.pipe_ends import PipeEnds  # noqa: E402

ROUNDS, CALLS, RUNS = 15, 400, 40
CALL = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"message":"hi"}}}'
POST = (b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
        b"Content-Length: %d\r\n\r\n" % len(CALL)) + CALL


class Lines:
    """A connection of two descriptors, or of one for both directions."""

    def __init__(self, reading, writing, owner):
        self.reading, self.writing, self.owner = reading, writing, owner

    def call(self):
        os.write(self.writing, CALL + b"\n")
        answer = b""
        while not answer.endswith(b"\n"):
            answer += os.read(self.reading, 65536)
        assert b'"result"' in answer, answer


class Http:
    def __init__(self, connection):
        self.socket = connection

    def call(self):
        self.socket.sendall(POST)
        answer = b""
        while b"\r\n\r\n" not in answer or not answer.rstrip().endswith(b"}"):
            answer += self.socket.recv(65536)
        assert answer.startswith(b"HTTP/1.1 200"), answer


def processor_time(process):
    return int(pathlib.Path(f"/proc/{process.pid}/schedstat").read_text(encoding="ascii").split()[0]) / 1e9


def in_turns(actions, times, process):
    """{name: (seconds, processor time of the process) of each round}, per action"""
    taken = {name: [] for name in actions}
    for number in range(ROUNDS):
        for name in list(actions)[::1 if number % 2 else -1]:
            started, used = time.perf_counter(), processor_time(process)
            for _ in range(times):
                actions[name]()
            taken[name].append(((time.perf_counter() - started) / times, (processor_time(process) - used) / times))
    return taken


def report(what, taken, one, other, limit):
    ratios = []
    for which, kind in enumerate(("time", "processor time of the daemon")):
        rounds = {name: [both[which] for both in taken[name]] for name in (one, other)}
        ratios.append(statistics.median(a / b for a, b in zip(rounds[one], rounds[other])))
        shown = ", ".join(f"{name} {statistics.median(rounds[name]) * 1e6:.0f} us" for name in (one, other))
        print(f"{what}, {kind}: {shown}, ratio {ratios[-1]:.2f} (at most {limit})")
    return ratios[0] <= limit


def main():
    daemon, server, client = sys.argv[1:]
    folder = tempfile.mkdtemp()
    path, http, pipes = (os.path.join(folder, name) for name in ("s", "http", "s.pipes"))
    processes = [subprocess.Popen([server, "--no-log"], stdout=subprocess.PIPE, text=True)]
    url = processes[0].stdout.readline().split()[-1]
    try:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        processes.append(subprocess.Popen([daemon, "--url", url, "--socket", path, "--pipes", "--http", f"127.0.0.1:{port}",
                                           "--http", http], stderr=subprocess.DEVNULL))
        subprocess.run([client, "-s", path, "--wait", "20s", "ping"], check=True, stdout=subprocess.DEVNULL)
        unix, over_http = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
        unix.connect(path)
        over_http.connect(http)
        ends = PipeEnds(pipes)
        while os.path.exists(ends.path):
            time.sleep(0.001)
        os.set_blocking(ends.reading, True)
        os.set_blocking(ends.writing, True)
        tcp = socket.create_connection(("127.0.0.1", port))
        tcp.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        doors = {"socket": Lines(unix.fileno(), unix.fileno(), unix).call, "pipes": Lines(ends.reading, ends.writing, ends).call,
                 "HTTP on a port": Http(tcp).call, "HTTP on a socket": Http(over_http).call}

        def run(where):
            return lambda: subprocess.run([client, "-s", where, "call", "echo", "message=hi"], check=True, stdout=subprocess.DEVNULL)

        calls = in_turns(doors, CALLS, processes[1])
        runs = in_turns({"socket": run(path), "pipes": run(pipes)}, RUNS, processes[1])
        fine = [report("a call", calls, "pipes", "socket", 1.3), report("mcp-nc call", runs, "pipes", "socket", 1.3),
                report("a call", calls, "HTTP on a socket", "HTTP on a port", 1.05)]
    finally:
        for process in reversed(processes):
            process.terminate()
            process.wait()
    return 0 if all(fine) else 1


if __name__ == "__main__":
    sys.exit(main())
