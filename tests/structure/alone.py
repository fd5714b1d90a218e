#!/usr/bin/env python3
"""Each file of daemon/ and client/ compiles alone, headers too: nothing is included by luck.

    alone.py BUILD_FOLDER [--whole] [FILE…]

The compiler and its flags are those of the build's compile_commands.json; only the syntax is looked at. The builds
that are tested compile a folder as one translation unit, which would hide it.

A header that its .cpp includes first is seen to stand alone there, with no other compilation, where that costs less.

All of a file is read and checked, but the compiler stops before the bodies of templates that the file uses are
instantiated, which is half of the work and all of it the standard library's, but for a .cpp with templates or generic
lambdas of its own: what they call is looked up only then. --whole has that done for every file.
"""

import concurrent.futures
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

import precompiled

FIRST_INCLUDE = re.compile(r'^\s*#\s*include\s+(?:"([^"]+)"|<)', re.MULTILINE)
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# The target whose flags a file is compiled with, the most particular folder first.
TARGETS = [("daemon/manual/", None), ("client/manual/", None), ("daemon/", "bridge"), ("client/", "nc_core")]
# Of a file: what is looked up only when it is instantiated.
OWN_TEMPLATE = re.compile(r"\]\s*\([^)]*\bauto\b|\btemplate\s*<")
# What it costs to begin a compilation, as bytes of headers that are read.
BEGINNING = 400_000
# The error that ends a compilation which found no other.
END = 'static_assert(false, "the end");\n'


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
    """(path, target) of each source and header."""
    for top in ("daemon", "client"):
        for folder, _, names in os.walk(os.path.join(ROOT, top)):
            for name in sorted(names):
                path = os.path.relpath(os.path.join(folder, name), ROOT)
                if name.endswith((".cpp", ".hpp")):
                    target = next(target for prefix, target in TARGETS if path.startswith(prefix))
                    if target:
                        yield path, target


class Alone:
    """How the files of one target are compiled."""

    def __init__(self, build, target, folder, paths, whole):
        self.directory, command = flags_of(build, target)
        self.command = ["nice", "-n", "19", *command, "-fsyntax-only", "-Wfatal-errors"]
        self.sets = precompiled.Precompiled(os.path.join(folder, target), self.directory,
                                            ["nice", "-n", "19", *command], paths)
        # `#pragma once` is a warning in the main file, so this one includes the other.
        self.end, self.nothing = os.path.join(folder, "end.cpp"), os.path.join(folder, "nothing.cpp")
        self.whole = whole
        for main, text in ((self.end, END), (self.nothing, "")):
            with open(main, "w", encoding="utf-8") as file:
                file.write(text)

    def compilations(self, paths):
        """(file, the file that says what may be precompiled) of each compilation that all of them need."""
        known = set(paths)
        first = {}
        for path in paths:
            header = path.removesuffix(".cpp") + ".hpp"
            if path.endswith(".cpp") and header in known and self.begins_with(path, header):
                first[header] = path
        together = {header for header, path in first.items()
                    if self.sets.cost(path, header) < self.sets.cost(path, path) + self.sets.cost(header, header) + BEGINNING}
        begun = {first[header]: header for header in together}
        return [(path, begun.get(path, path)) for path in paths if path not in together]

    @staticmethod
    def begins_with(path, header):
        with open(path, encoding="utf-8") as file:
            include = FIRST_INCLUDE.search(file.read())
        return include is not None and include[1] is not None and header.endswith("/" + include[1])

    @staticmethod
    def has_templates(path):
        with open(path, encoding="utf-8") as file:
            return path.endswith(".cpp") and OWN_TEMPLATE.search(file.read()) is not None

    def fault(self, compilation):
        """What the compiler finds in the file, if anything."""
        path, needs = compilation
        whole = self.whole or self.has_templates(path)
        outcome = subprocess.run([*self.command, *self.sets.options(needs), "-include", path, "-x", "c++",
                                  self.nothing if whole else self.end],
                                 cwd=self.directory, capture_output=True, text=True, check=False)
        if whole:
            return outcome.stderr if outcome.returncode != 0 else None
        first = next((line for line in outcome.stderr.splitlines() if "error: " in line), "")
        return None if first.startswith(self.end + ":") else outcome.stderr or f"exit code {outcome.returncode}"


def main():
    build, *rest = sys.argv[1:]
    whole = "--whole" in rest
    asked = {os.path.abspath(word) for word in rest if word != "--whole"}
    by_target = {}
    for path, target in files():
        path = os.path.join(ROOT, path)
        if not asked or path in asked:
            by_target.setdefault(target, []).append(path)
    folder = tempfile.mkdtemp(prefix="alone.", dir=build)
    faults = 0
    try:
        with concurrent.futures.ThreadPoolExecutor(max(1, os.cpu_count() // 2)) as pool:
            for target, paths in by_target.items():
                alone = Alone(build, target, os.path.abspath(folder), paths, whole)
                list(pool.map(alone.sets.make, alone.sets.sets))
                compilations = alone.compilations(paths)
                for (path, _), text in zip(compilations, pool.map(alone.fault, compilations)):
                    if text is not None:
                        faults += 1
                        print(f"{os.path.relpath(path, ROOT)} does not compile alone:\n{text[:2000]}\n")
    finally:
        shutil.rmtree(folder)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
