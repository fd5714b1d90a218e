#!/usr/bin/env python3
"""Each file of daemon/ and client/ compiles alone, headers too: nothing is included by luck.

    alone.py BUILD_FOLDER

The compiler and its flags are those of the build's compile_commands.json; only the syntax is looked at. The builds
that are tested compile a folder as one translation unit, which would hide it.
"""

import concurrent.futures
import json
import os
import re
import shlex
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# The target whose flags a file is compiled with, the most particular folder first.
TARGETS = [("daemon/manual/", None), ("client/manual/", None), ("daemon/", "bridge"), ("client/", "nc_core")]


def flags_of(build, target):
    """The command of some file of the target, without its file and its output."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        entry = next(entry for entry in json.load(file) if f"/{target}.dir/" in entry["command"])
    words = shlex.split(entry["command"])
    kept, skip = [], False
    for word in words:
        if skip:
            skip = False
        elif word in ("-o", "-c", "-MF", "-MT"):
            skip = True
        elif word != "-MD":
            kept.append(word)
    if os.path.basename(kept[0]) == "ccache":
        kept.pop(0)
    return entry["directory"], [word for word in kept if not word.startswith(("-fsanitize", "-fno-sanitize"))]


def files():
    for top in ("daemon", "client"):
        for folder, _, names in os.walk(os.path.join(ROOT, top)):
            for name in sorted(names):
                path = os.path.relpath(os.path.join(folder, name), ROOT)
                if name.endswith((".cpp", ".hpp")):
                    target = next(target for prefix, target in TARGETS if path.startswith(prefix))
                    if target:
                        yield path, target


def sources():
    """Every .cpp; a header only where no .cpp of its name begins with it."""
    for path, target in files():
        stem, suffix = os.path.splitext(path)
        if suffix == ".hpp" and os.path.exists(os.path.join(ROOT, stem + ".cpp")):
            with open(os.path.join(ROOT, stem + ".cpp"), encoding="utf-8") as file:
                first = re.search(r'^#include "(.+)"', file.read(), re.MULTILINE)
            if first and path.endswith(first.group(1)):
                continue
        yield path, target


def main():
    build = sys.argv[1]
    flags = {target: flags_of(build, target) for target in ("bridge", "nc_core")}

    def compile_alone(one):
        path, target = one
        directory, command = flags[target]
        # An empty file that includes it: `#pragma once` is a warning in the main file.
        command = ["nice", "-n", "19", *command, "-fsyntax-only", "-include", os.path.join(ROOT, path), "-x", "c++",
                   os.devnull]
        outcome = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)
        return path, outcome.returncode, outcome.stderr

    faults = 0
    with concurrent.futures.ThreadPoolExecutor(max(1, os.cpu_count() // 2)) as pool:
        for path, code, text in pool.map(compile_alone, list(sources())):
            if code != 0:
                faults += 1
                print(f"{path} does not compile alone:\n{text[:2000]}\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
