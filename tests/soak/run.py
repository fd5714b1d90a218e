#!/usr/bin/env python3
"""The soak: `run.py DURATION [--record]`. README.md beside it says what it plays.

Ctrl-C, SIGTERM and SIGHUP end it early: what was played until then counts, is said, and recorded if that was asked for. The
exit code is 1 if something was found, else 128 and the signal's number if one has ended it (129, 130, 143), else 0.
"""

import argparse
import datetime
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PAGE = os.path.join(HERE, "README.md")
UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
FUZZ = [sys.executable, os.path.join(HERE, "../fuzz/stateful/run.py"), "--go-on"]
CRASH = [sys.executable, os.path.join(HERE, "../crash/run.py")]
# Of a turn of both: one daemon of the fuzzer's lives through so many scenarios, until its time is over.
TURN = 900.0
SCENARIOS = 1000
FUZZ_SHARE = 0.75
END = 30  # seconds for the one that plays to end its daemons and say what it has played
KILL = 1.2  # seconds, and one of each of three kinds of upstream
ROUND = re.compile(r"^seed \d+: \w+, (?P<scenarios>\d+) scenarios, (?P<calls>\d+) calls, (?P<notifications>\d+) notifications")
KILLS = re.compile(r"^\w+, seed \d+: (?P<kills>\d+) kills, (?P<upgrades>\d+) upgrades, (?P<calls>\d+) calls .*?"
                   r"(?P<jobs>\d+) jobs, (?P<notifications>\d+) notifications")


def seconds_of(text):
    match = re.fullmatch(r"(\d+)([smhd])", text)
    if not match:
        raise argparse.ArgumentTypeError("a number and one of s, m, h, d: 24h")
    return int(match[1]) * UNITS[match[2]]


def say(line):
    try:
        print(line, flush=True)
    except OSError:
        # The terminal is closed, or who read this has gone: what was played is recorded all the same.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class Soak:
    def __init__(self):
        self.process = self.signal = None
        self.counts = dict.fromkeys(("daemons", "scenarios", "calls", "notifications", "kills", "upgrades", "jobs"), 0)
        self.found = 0

    def end_by_signals(self):
        for number in ENDING:
            # Who started it with nohup wants it to go on.
            if signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, self.end)
        signal.signal(signal.SIGALRM, lambda *_: self.pass_on(signal.SIGKILL))

    def end(self, number, _):
        """Nothing is thrown: the lines are read to their end. Asked for once more it does not wait."""
        is_second, self.signal = self.signal is not None, number
        self.pass_on(signal.SIGKILL if is_second else signal.SIGTERM)
        signal.alarm(END)

    def pass_on(self, number):
        """The daemons die with the one that has started them."""
        if self.process and self.process.returncode is None:
            self.process.send_signal(number)

    def play(self, command):
        """One turn of one of the two; what it prints is passed on, and added up."""
        if self.signal:
            return
        # In a session of its own, since Ctrl-C on a terminal is for all that run there: daemons that end by it would be violations.
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True) as self.process:
            if self.signal:
                self.pass_on(signal.SIGTERM)
            for line in self.process.stdout:
                say(line.rstrip("\n"))
                if match := ROUND.match(line):
                    self.counts["daemons"] += 1
                elif match := KILLS.match(line):
                    self.counts["daemons"] += 1 + int(match["kills"])
                if match:
                    self.found += "VIOLATED" in line
                    for name, count in match.groupdict().items():
                        self.counts[name] += int(count)
        code = self.process.returncode
        if code - 128 in ENDING:  # it was told first: a service manager tells all of them
            self.signal = self.signal or code - 128
        elif code != 0 and not self.signal:
            self.found = max(self.found, 1)

    def run(self, seconds):
        end = time.monotonic() + seconds
        while not self.signal and (left := end - time.monotonic()) > 0:
            turn = min(TURN, left)
            self.play([*FUZZ, "--seconds", f"{turn * FUZZ_SHARE:.0f}", "--scenarios", str(SCENARIOS)])
            kills = max(1, int(turn * (1 - FUZZ_SHARE) / (3 * KILL)))
            self.play([*CRASH, "--kills", str(kills)])
            if not self.signal:
                say(f"-- {max(0.0, end - time.monotonic()) / 60:.0f} minutes are left; so far {self.text()}")

    def text(self):
        counted = ", ".join(f"{count:,} {name}" for name, count in self.counts.items())
        return f"{counted}: {f'{self.found} rounds VIOLATED' if self.found else 'well'}"


def commit_of(folder):
    """Empty: it is in no git's hands."""
    if shutil.which("git") is None:
        return ""
    command = ["git", "-C", folder, "rev-parse", "--short=8", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def record(duration, soak):
    """A row below the table's head: the newest comes first."""
    commit = commit_of(HERE)
    system = platform.freedesktop_os_release().get("PRETTY_NAME", platform.system())
    row = f"| {datetime.date.today()} | {commit or 'no commit'} | {duration} | {system}, {os.cpu_count()} CPUs | {soak.text()} |\n"
    with open(PAGE, encoding="utf-8") as file:
        page = file.read()
    head = "|---|---|---|---|---|\n"
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(page.replace(head, head + row, 1))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("duration", type=seconds_of, help="24h, 90m, 600s")
    parser.add_argument("--record", action="store_true", help="write the result into README.md")
    arguments = parser.parse_args()
    soak = Soak()
    soak.end_by_signals()
    begun = time.monotonic()
    soak.run(arguments.duration)
    if soak.signal:
        say(f"ended early by {signal.Signals(soak.signal).name}")
    lasted = time.monotonic() - begun
    duration = f"{lasted / 3600:.1f} h" if lasted >= 3600 else f"{lasted / 60:.0f} min" if lasted >= 60 else f"{lasted:.0f} s"
    say(f"{duration}: {soak.text()}")
    if arguments.record and (soak.counts["scenarios"] or soak.counts["kills"]):
        record(duration, soak)
    elif arguments.record:
        say("nothing was played: nothing is recorded")
    sys.exit(1 if soak.found else 128 + soak.signal if soak.signal else 0)


if __name__ == "__main__":
    main()
