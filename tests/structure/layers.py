#!/usr/bin/env python3
"""Who includes whom, held against the layer tables of daemon/README.md and client/README.md.

A table's rows are folders, what knows least first; the column "knows" names the folders that its files may
include, all of which stand above it: so there is no cycle. An include that the table does not name, and a name
in the table that nobody needs, fail, each with the files.
"""

import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
INCLUDE = re.compile(r'^#include "(.+)"', re.MULTILINE)
BESIDE = {"daemon": ("daemon",), "client": ("client", "daemon")}  # where an include is looked for


def folders_named(cell):
    return re.findall(r"`([\w./-]+?)/?`", cell)


def table_of(program):
    """{folder: [folders it knows]}, in the order of the rows."""
    with open(os.path.join(ROOT, program, "README.md"), encoding="utf-8") as file:
        lines = file.read().splitlines()
    header = next((i for i, line in enumerate(lines) if line.startswith("| folder | knows |")), None)
    if header is None:
        sys.exit(f"{program}/README.md: no table with the columns folder and knows")
    table = {}
    for line in lines[header + 2:]:
        if not line.startswith("|"):
            break
        cells = line.split("|")
        table[folders_named(cells[1])[0]] = folders_named(cells[2])
    return table


def sources_of(program):
    top = os.path.join(ROOT, program)
    for folder, _, names in os.walk(top):
        for name in sorted(names):
            if name.endswith((".hpp", ".cpp")):
                yield os.path.relpath(os.path.join(folder, name), ROOT)


def target_of(source, include, program):
    for top in [os.path.dirname(source), *BESIDE[program]]:
        path = os.path.normpath(os.path.join(top, include))
        if os.path.isfile(os.path.join(ROOT, path)):
            return path
    return None


def folder_of(path, program):
    """As the table names it; `.` is the program's own folder. Another program's folder has its name before it.
    A folder without a row is a part of the one above it."""
    folder = os.path.dirname(path)
    inside = os.path.relpath(folder, program)
    if inside.startswith(".."):
        return folder
    while inside not in table_of(program) and os.path.dirname(inside):
        inside = os.path.dirname(inside)
    return inside


def faults_of(program):
    table = table_of(program)
    order = list(table)
    faults = []
    for folder, known in table.items():
        for other in known:
            if other in order and order.index(other) >= order.index(folder):
                faults.append(f"{program}/README.md: {folder} knows {other}, which does not stand above it")
    needed = {folder: set() for folder in table}
    for source in sources_of(program):
        own = folder_of(source, program)
        if own not in table:
            faults.append(f"{source}: the folder {own} is not in the table of {program}/README.md")
            continue
        with open(os.path.join(ROOT, source), encoding="utf-8") as file:
            includes = INCLUDE.findall(file.read())
        for include in includes:
            target = target_of(source, include, program)
            if target is None:
                faults.append(f"{source}: includes {include}, which is nowhere")
                continue
            other = folder_of(target, program)
            if other == own:
                continue
            needed[own].add(other)
            if other not in table[own]:
                faults.append(f"{source} includes {target}: {own} may not know {other}")
    for folder, known in table.items():
        for other in known:
            if other not in needed[folder]:
                faults.append(f"{program}/README.md: {folder} names {other} and does not need it")
    return faults


def main():
    faults = [fault for program in sys.argv[1:] or BESIDE for fault in faults_of(program)]
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
