#!/usr/bin/env python3
"""Makes the pictures of the documents from real runs: daemon/demo.svg, client/status-watch.svg.

    python3 tests/pictures/record.py FOLDER BUILD DEMO_UPSTREAM

BUILD: a build with daemon/mcp-bridged and client/mcp-nc in it. The pictures go to FOLDER/daemon and FOLDER/client.
To renew those of the project, after daemon/try.sh:

    python3 tests/pictures/record.py . build/release build/demo/tests/support/demo-upstream
"""

import codecs
import fcntl
import json
import os
import pathlib
import pty
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from screen import Screen  # noqa: E402
import svg  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
COLUMNS, ROWS = 116, 26
# Nobody wants to watch a wait of more than this.
LONGEST_PAUSE = 1.2


class Run:
    """A command on a terminal of its own, its output as (second, text)."""

    def __init__(self, command, environment):
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        variables = {name: value for name, value in os.environ.items() if not name.startswith("MCP_")}
        variables.update(environment, TERM="xterm", LC_ALL="C.UTF-8")
        self.process = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, env=variables, cwd=ROOT,
                                        start_new_session=True)
        os.close(slave)
        self.began = time.monotonic()
        self.decoder = codecs.getincrementaldecoder("utf-8")()

    def chunks(self, seconds=60):
        """Until its end, or for so long."""
        end = self.began + seconds
        while time.monotonic() < end:
            if not select.select([self.master], [], [], max(0, end - time.monotonic()))[0]:
                return
            try:
                data = os.read(self.master, 1 << 16)
            except OSError:
                data = b""
            if not data:
                return
            yield time.monotonic() - self.began, self.decoder.decode(data)

    def end(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=20)
        os.close(self.master)


def record_demo(programs, demo_upstream):
    run = Run(["bash", "daemon/demo.sh", demo_upstream], programs)
    screen, times, shift, last = Screen(COLUMNS), [], 0.0, 0.0
    for second, text in run.chunks():
        shift += max(0.0, second - last - LONGEST_PAUSE)
        last = second
        # Line by line: each gets its time.
        for piece in text.splitlines(keepends=True):
            screen.feed(piece)
            times += [second - shift] * (len(screen.rows) - len(times))
    run.end()
    # The log has the clock and a folder of this run in it.
    end = screen.texts().index("== the log of the daemon")
    while not screen.rows[end - 1]:
        end -= 1
    del screen.rows[end:]
    return svg.moving("bash daemon/try.sh", screen, times[:end], ROWS, hold=5), screen


def wait_for(condition, what):
    for _ in range(400):
        if condition():
            return
        time.sleep(0.05)
    raise SystemExit(f"it did not come in 20 s: {what}")


def record_status(programs, demo_upstream, folder):
    """A daemon with something to show: calls, a small ring that has dropped some, a client that waits for its call."""
    environment = {**programs, "MCP_SOCKET_PATH": f"{folder}/mcp.sock"}
    variables = {**os.environ, **environment}
    running = []
    try:
        with open(f"{folder}/upstream", "w", encoding="ascii") as output:
            running.append(subprocess.Popen([demo_upstream], stdout=output))
        wait_for(lambda: os.path.getsize(f"{folder}/upstream"), "the demo upstream")
        with open(f"{folder}/upstream", encoding="ascii") as file:
            url = file.readline().split()[-1]
        running.append(subprocess.Popen(["mcp-bridged", "--url", url, "--ring", "20"], env=variables, stderr=subprocess.DEVNULL))
        def nc(*words):
            return subprocess.run(["mcp-nc", *words], env=variables, check=False, capture_output=True).stdout

        def wait_for_notifications(count):
            wait_for(lambda: json.loads(nc("status", "--json"))["ring"]["newest"] == count, f"{count} notifications")

        for _ in range(30):
            nc("--wait", "10s", "call", "echo", "message=x")
        nc("request", "no/such/method")
        nc("--keep", "call", "burst", "count:=25")
        wait_for_notifications(25)
        nc("listen", "--count", "20", "--for", "5s")
        nc("--keep", "call", "burst", "count:=5")
        wait_for_notifications(30)
        running.append(subprocess.Popen(["mcp-nc", "--keep", "call", "slow", "steps:=100", "delayMs:=100"], env=variables,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        wait_for(lambda: json.loads(nc("status", "--json"))["requests"]["inFlight"] == 1, "a call in flight")
        run = Run(["mcp-nc", "status", "--watch"], environment)
        screen = Screen(COLUMNS)
        for _, text in run.chunks(2):
            screen.feed(text)
        shown = svg.still("mcp-nc status --watch", screen)
        run.end()
        return shown, screen
    finally:
        for process in reversed(running):
            process.terminate()
            process.wait(timeout=20)


def main(folder, build, demo_upstream):
    build, demo_upstream = os.path.abspath(build), os.path.abspath(demo_upstream)
    programs = {"PATH": f"{build}/daemon:{build}/client:{os.environ['PATH']}"}
    os.environ["PATH"] = programs["PATH"]
    with tempfile.TemporaryDirectory(prefix="mcp-pic-") as work:
        pictures = {"daemon/demo.svg": record_demo(programs, demo_upstream),
                    "client/status-watch.svg": record_status(programs, demo_upstream, work)}
    for name, (text, screen) in pictures.items():
        path = pathlib.Path(folder) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        print(f"== {path}")
        print("\n".join(screen.texts()))


if __name__ == "__main__":
    if len(sys.argv) != 4:
        raise SystemExit(__doc__)
    main(*sys.argv[1:])
