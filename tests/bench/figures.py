#!/usr/bin/env python3
"""The figures that the documents show, made anew: a table, and the curves as SVG for light and dark pages.

    figures.py BUILD PEERS NODE [--short] [--folder FOLDER]      called by run.sh

BUILD is a build of the preset "bench", PEERS a folder with the peers from npm, NODE the program that runs them; empty:
the peers are left out. Everything that is compared is measured in turns, in one run, by one program (bench-calls).
--short tries all of it within a minute; its figures are worth nothing. Nothing is judged by a limit: what a figure
is to be compared with stands beside it, and of a curve whether it is linear.
"""

import argparse
import datetime
import os
import platform
import signal
import shutil
import subprocess
import sys
import time

import curves
import ending
import plot
import rows
from setting import Bench

HERE = os.path.dirname(os.path.abspath(__file__))
CAPTIONS = {
    "clients": "calls a second by the number of clients",
    "payload": "the time of a call by the size of its result",
    "notifications": "CPU by notifications a second",
    "tools": "the time of a list of tools by their number",
    "sessions": "memory and calls of the HTTP frontend by sessions",
}


def measure(bench):
    """The table, and the curves."""
    table = [("start to the first answer", f"{bench.start_time * 1000:.1f} ms")]
    lines = []
    parts = [rows.open_connection, rows.over_http, rows.one_process, rows.at_rest, *curves.ALL]
    for part in parts:
        began = time.monotonic()
        if part in curves.ALL:
            found, curve = part(bench)
            lines.append(curve)
        else:
            found = list(part(bench))
        table += found
        for what, figure in found:
            print(f"  {what:60} {figure}")
        print(f"    ({part.__name__}: {time.monotonic() - began:.0f} s)", flush=True)
    return table, lines


def commit_of(folder):
    """Empty: it is in no git's hands. What is made here does not count as a change."""
    if shutil.which("git") is None:
        return ""
    def said(*words):
        return subprocess.run(["git", "-C", folder, *words], capture_output=True, text=True, check=False).stdout.strip()
    commit = said("rev-parse", "--short=8", "HEAD")
    made = [":(top,exclude)tests/bench/figures"]
    return f"{commit} with changes" if said("status", "--porcelain", "--untracked-files=no", "--", ":/", *made) else commit


def where(load):
    cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo", encoding="utf-8") if line.startswith("model name")), platform.machine())
    commit = commit_of(HERE)
    system = platform.freedesktop_os_release().get("PRETTY_NAME", platform.system())
    return f"on {datetime.date.today()}, of {commit or 'no commit'}, on {system}, {os.cpu_count()} CPUs ({cpu}), load {load:.1f} before"


def markdown(table):
    cells = "\n".join(f"| {what} | {figure} |" for what, figure in table)
    pictures = "\n".join(f'<picture><source media="(prefers-color-scheme: dark)" srcset="{name}-dark.svg">'
                         f'<img alt="{alt}" src="{name}-light.svg"></picture>' for name, alt in CAPTIONS.items())
    return f"| what | figure |\n|---|---|\n{cells}\n\n{pictures}\n"


def page(table, short, load):
    return (f"# Figures\n\nMade by `bash tests/bench/run.sh` {where(load)}.{' A short try: worth nothing.' if short else ''} The upstream is "
            f"`bench-upstream`, which costs next to nothing; all of a row was measured in turns.\n\n{markdown(table)}")


def give_up(*_):
    raise TimeoutError("not done within 20 minutes: given up")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("peers")
    parser.add_argument("node")
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--folder", default=os.path.join(HERE, "figures"))
    arguments = parser.parse_args()
    load = os.getloadavg()[0]
    signal.signal(signal.SIGALRM, give_up)
    signal.alarm(20 * 60)
    curves.raise_limits()
    bench = Bench(arguments.build, arguments.peers, arguments.node, arguments.short)
    with bench.stack:
        bench.begin()
        table, lines = measure(bench)
    for curve in lines:
        plot.write(arguments.folder, *curve)
    with open(os.path.join(arguments.folder, "README.md"), "w", encoding="utf-8") as file:
        file.write(page(table, arguments.short, load))
    print(f"written: {arguments.folder}")


if __name__ == "__main__":
    sys.exit(ending.code_of(main))
