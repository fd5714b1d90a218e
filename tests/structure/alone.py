#!/usr/bin/env python3
"""Each file of daemon/ and client/ compiles alone, headers too: nothing is included by luck.

    alone.py BUILD_FOLDER [FILE…]

The compiler and its flags are those of the build's compile_commands.json; only the syntax is checked. The builds
that are tested compile a folder as one translation unit, which would hide a missing include.
"""

import concurrent.futures
import json
import os
import shlex
import subprocess
import sys

from layers import ROOT, sources_of

# The target whose flags a file is compiled with, the most particular folder first.
TARGETS = [("daemon/manual/", None), ("client/manual/", None), ("daemon/", "bridge"), ("client/", "nc_core")]


def flags_of(build, target):
    """The folder and the command of some file of the target, without its file, its output and sanitizers."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        entry = next(entry for entry in json.load(file) if f"/{target}.dir/" in entry["command"])
    words = iter(shlex.split(entry["command"]))
    kept = []
    for word in words:
        if word in ("-o", "-c", "-MF", "-MT"):
            next(words)
        elif word != "-MD" and os.path.basename(word) != "ccache" and not word.startswith(("-fsanitize", "-fno-sanitize")):
            kept.append(word)
    return entry["directory"], kept


def files():
    """(path, target) of each source and header."""
    for path in (*sources_of("daemon"), *sources_of("client")):
        target = next(target for prefix, target in TARGETS if path.startswith(prefix))
        if target:
            yield path, target


def main():
    build, *asked = map(os.path.abspath, sys.argv[1:])
    flags = {target: flags_of(build, target) for _, target in TARGETS if target}

    def fault(file):
        """What the compiler finds in the file, if anything. `#pragma once` is a warning in the main file: an empty one includes it."""
        path, target = file
        folder, command = flags[target]
        outcome = subprocess.run(["nice", "-n", "19", *command, "-fsyntax-only", "-x", "c++", os.devnull, "-include",
                                  os.path.join(ROOT, path)], cwd=folder, capture_output=True, text=True, check=False)
        return outcome.stderr if outcome.returncode else None

    found = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        to_check = [(path, target) for path, target in files() if not asked or os.path.join(ROOT, path) in asked]
        for (path, _), text in zip(to_check, pool.map(fault, to_check)):
            if text is not None:
                found += 1
                print(f"{path} does not compile alone:\n{text[:2000]}\n", flush=True)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
