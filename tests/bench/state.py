#!/usr/bin/env python3
"""What a state that outlives the daemon costs (--state-dir), and a detached call beside a call.

    state.py DAEMON CLIENT [start] [memory] [notifications] [instructions] [detach]

start          from fork to the first answer on the socket, with a full ring and 1,000 jobs in the state: at most 50 ms,
               or twice what it takes without them
memory         anonymous memory of a daemon with a full ring and 1,000 jobs, with and without: at most 3 MB more
notifications  how fast they enter the ring, with: at least 50,000 a second
instructions   of one call, by callgrind, with and without: at most 1.1 times
detach         `mcp-nc call --detach` beside `mcp-nc call` of a tool that answers at once, from fork to exit: at most 1.1 times

The exit code is 1 if a figure is over its limit, 2 if one could not be measured.
"""

import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import ending
import instructions
import servers

RING, JOBS = 1000, 1000
STARTS, CALLS = 15, 150
BURST = 200_000


class Upstream(servers.Upstream):
    """The daemon before it is killed."""

    def serve(self, connection):
        try:
            super().serve(connection)
        except ConnectionError:
            pass


class Running:
    """A daemon; what it costs to have it there is the caller's to look at."""

    alive = []

    def __init__(self, daemon, folder, upstream, *options):
        self.path = os.path.join(folder, "s")
        self.began = time.monotonic()
        self.process = subprocess.Popen([daemon, "--url", upstream.url, "--socket", self.path, "--keepalive", "0",
                                         "--log-level", "error", *options])
        self.alive.append(self)

    def client(self):
        while True:
            try:
                return instructions.Client(self.path)
            except OSError:
                if time.monotonic() - self.began > instructions.START or self.process.poll() is not None:
                    raise RuntimeError("the daemon did not start") from None
                time.sleep(0.0002)

    def end(self, signal_number=signal.SIGTERM):
        self.process.send_signal(signal_number)
        self.process.wait()
        self.alive.remove(self)
        if os.path.exists(self.path):
            os.unlink(self.path)

    def anonymous(self):
        """KiB."""
        with open(f"/proc/{self.process.pid}/smaps_rollup", encoding="utf-8") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("Anonymous:"))


def fill(running, upstream):
    """A full ring, and so many jobs that have ended."""
    client = running.client()
    client.call(1)
    upstream.notify(RING)
    for number in range(JOBS):
        job = client.ask("bridge/submit", {"method": "tools/call", "key": f"step {number}", "params": {
            "name": "echo", "arguments": {"message": "x" * 200}}})["job"]
        client.ask("bridge/collect", {"job": job, "waitMs": 10_000})
    while client.ask("bridge/status")["ring"]["newest"] < RING:
        time.sleep(0.05)


def start(daemon, _, folder):
    upstream, state = Upstream(), os.path.join(folder, "state")
    running = Running(daemon, folder, upstream, "--state-dir", state)
    fill(running, upstream)
    running.end(signal.SIGKILL)
    size = os.path.getsize(os.path.join(state, "state"))
    times = []
    for options in (["--state-dir", state], []):
        spent = []
        for _ in range(STARTS):
            running = Running(daemon, folder, upstream, *options)
            status = running.client().ask("bridge/status")
            spent.append(1000 * (time.monotonic() - running.began))
            if options:
                assert status["ring"]["entries"] == RING, status["ring"]
                assert len(running.client().ask("bridge/jobs", {"limit": JOBS})["jobs"]) == JOBS
            running.end(signal.SIGKILL)
        times.append(statistics.median(spent))
    print(f"start: {times[0]:.1f} ms with {RING} notifications and {JOBS} jobs in a state of {size >> 10} KiB, "
          f"{times[1]:.1f} ms without, median of {STARTS}")
    return times[0] <= max(50, 2 * times[1])


def memory(daemon, _, folder):
    used = []
    for options in (["--state-dir", os.path.join(folder, "state")], []):
        upstream = Upstream()
        running = Running(daemon, folder, upstream, *options)
        fill(running, upstream)
        time.sleep(6)  # the heap is given back when the daemon rests
        used.append(running.anonymous())
        running.end()
    print(f"memory: {used[0]} KiB anonymous with, {used[1]} KiB without, full ring and {JOBS} jobs: {used[0] - used[1]:+d} KiB")
    return used[0] - used[1] <= 3 << 10


def notifications(daemon, _, folder):
    rates = []
    for options in (["--state-dir", os.path.join(folder, "state")], []):
        upstream = Upstream()
        running = Running(daemon, folder, upstream, *options)
        client = running.client()
        client.call(1)
        began = time.monotonic()
        upstream.notify(BURST)
        while client.ask("bridge/status")["ring"]["newest"] < BURST:
            time.sleep(0.005)
        rates.append(BURST / (time.monotonic() - began))
        running.end()
    print(f"notifications: {rates[0]:.0f} a second with, {rates[1]:.0f} without")
    return rates[0] >= 50_000


def count_instructions(daemon, _, folder):
    costs = []
    for name, options in (("with", ["--state-dir", os.path.join(folder, "state")]), ("without", [])):
        rounds = []
        for _ in range(3):
            shutil.rmtree(os.path.join(folder, "state"), ignore_errors=True)
            rounds.append(instructions.counted_twice(folder, daemon, name, instructions.OPERATIONS["call"], servers.Upstream,
                                                     lambda _, chosen=options: chosen))
        costs.append(sorted(rounds, key=lambda cost: cost[0])[1])
    times = costs[0][0] / costs[1][0]
    print(f"instructions of a call: {costs[0][0]:.0f} with, {costs[1][0]:.0f} without: {times:.3f} times")
    if times > 1.1:
        print(*instructions.grown(costs[0][1], costs[1][1]), sep="\n")
    return times <= 1.1


def detach(daemon, client, folder):
    upstream = Upstream()
    running = Running(daemon, folder, upstream, "--state-dir", os.path.join(folder, "state"), "--jobs", "10000")
    running.client().call(1)
    spent = {"call": [], "call --detach": []}
    for _ in range(CALLS):
        for words, times in spent.items():
            began = time.monotonic()
            subprocess.run([client, "-s", running.path, *words.split(), "echo", "message=hi"], check=True, capture_output=True)
            times.append(1000 * (time.monotonic() - began))
    running.end()
    plain, detached = (statistics.median(times) for times in spent.values())
    print(f"mcp-nc call: {plain:.2f} ms, mcp-nc call --detach: {detached:.2f} ms, median of {CALLS}: {detached / plain:.3f} times")
    return detached <= 1.1 * plain


PARTS = {"start": start, "memory": memory, "notifications": notifications, "instructions": count_instructions, "detach": detach}


def main():
    daemon, client = (os.path.abspath(program) for program in sys.argv[1:3])
    failed = False
    for name in sys.argv[3:] or PARTS:
        with tempfile.TemporaryDirectory() as folder:
            try:
                if not PARTS[name](daemon, client, folder):
                    failed = True
                    print("  NOT OK", flush=True)
            finally:
                for one in list(Running.alive):
                    one.end(signal.SIGKILL)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(ending.code_of(main))
