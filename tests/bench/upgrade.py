"""How long an upgrade in place holds clients up: `python3 tests/bench/upgrade.py DAEMON UPSTREAM [UPGRADES]`.

32 clients in closed loop before an upstream over HTTP (demo-upstream or bench-upstream) that prints its URL; meanwhile the
daemon is sent SIGUSR2, again and again. Printed are the longest time from a request to its answer with and without
upgrades, and what was answered with an error. To be run with release builds on an idle machine."""

import contextlib
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import time

import ending
import instructions

CLIENTS = 32
BETWEEN = 0.5


class Caller:
    def __init__(self, path, selector):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.buffer, self.calls, self.wrong = b"", 0, []
        selector.register(self.socket, selectors.EVENT_READ, self)
        self.call()

    def call(self):
        self.calls += 1
        self.sent = time.monotonic()
        self.socket.sendall(b'{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"echo","arguments":{"message":"x"}}}\n'
                            % self.calls)

    def readable(self):
        """How long the answer took; None: it is not there yet."""
        data = self.socket.recv(65536)
        if not data:
            raise SystemExit("a connection was closed")
        self.buffer += data
        while b"\n" in self.buffer:
            line, self.buffer = self.buffer.split(b"\n", 1)
            message = json.loads(line)
            if message.get("id") != self.calls:
                continue
            if "result" not in message:
                self.wrong.append(message)
            took = time.monotonic() - self.sent
            self.call()
            return took
        return None


def longest(selector, seconds):
    """Of all answers in this time, and how many there were."""
    end, found, count = time.monotonic() + seconds, 0.0, 0
    while (left := end - time.monotonic()) > 0:
        for key, _ in selector.select(left):
            took = key.data.readable()
            if took is not None:
                found, count = max(found, took), count + 1
    return found, count


def main():
    program, upstream, upgrades = sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 20
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        server = stack.enter_context(subprocess.Popen([upstream], stdout=subprocess.PIPE, text=True))
        stack.callback(server.kill)
        url = next(word for word in server.stdout.readline().split() if word.startswith("http://"))
        path = os.path.join(folder, "s")
        log = stack.enter_context(open(os.path.join(folder, "log"), "w", encoding="utf-8"))
        daemon = stack.enter_context(instructions.running(path, program, "--url", url, "--socket", path, "--grace", "5s", stderr=log))
        selector = selectors.DefaultSelector()
        callers = [Caller(path, selector) for _ in range(CLIENTS)]
        longest(selector, 1)
        rest, calls = longest(selector, 2)
        print(f"without an upgrade: {calls / 2:.0f} calls/s, longest {rest * 1000:.1f} ms")
        pauses = []
        for _ in range(upgrades):
            daemon.send_signal(signal.SIGUSR2)
            pauses.append(longest(selector, BETWEEN)[0] * 1000)
        pauses.sort()
        with open(log.name, encoding="utf-8") as written:
            done = written.read().count("continues serving")
        wrong = sum((caller.wrong for caller in callers), [])
        print(f"{done} of {upgrades} upgrades: longest pause {pauses[-1]:.1f} ms, median {pauses[len(pauses) // 2]:.1f} ms, "
              f"{len(wrong)} calls failed{': ' + json.dumps(wrong[0]) if wrong else ''}")
    return 1 if wrong or done != upgrades else 0


if __name__ == "__main__":
    sys.exit(ending.code_of(main))
