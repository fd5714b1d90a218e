#!/usr/bin/env python3
"""What the pages for whoever changes the programs name is there: each file, each class, each function of a class.

A name is looked at if it stands in `backquotes` alone and has the form of a path (`router/server_requests.cpp`), of a
member (`Ring::take`) or of a type (`AccessToken`).
"""

import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PAGES = [os.path.join("daemon", "README.md"), os.path.join("client", "README.md")]


def sources():
    """(path, text without comments) of each source of the two programs; of the tests the path alone."""
    for top in ("daemon", "client", "tests"):
        for folder, folders, names in os.walk(os.path.join(ROOT, top)):
            folders[:] = [one for one in folders if one != "node_modules"]
            for name in names:
                path = os.path.join(folder, name)
                text = ""
                if top != "tests" and name.endswith((".cpp", ".hpp")):
                    with open(path, encoding="utf-8") as file:
                        text = re.sub(r"//.*", "", file.read())
                yield os.path.relpath(path, ROOT), text


def main():
    found = dict(sources())
    text = "\n".join(found.values())
    types = set(re.findall(r"\b(?:class|struct|enum class|using|concept) (\w+)", text))
    faults = []
    for page in PAGES:
        with open(os.path.join(ROOT, page), encoding="utf-8") as file:
            named = sorted(set(re.findall(r"`([^`\n]+)`", file.read())))
        for name in named:
            if fault := fault_of(name, found, types, text):
                faults.append(f"{page} names what is not there: {fault}")
    print("\n".join(faults))
    return 1 if faults else 0


def fault_of(name, found, types, text):
    """What of this name is not there; empty: nothing, or it is no name of a file, a type or a member."""
    if re.fullmatch(r"[\w/]+\.(?:cpp|hpp|py|cmake)", name):
        return "" if any(path == name or path.endswith("/" + name) for path in found) else f"no file {name}"
    if member := re.fullmatch(r"(\w+)::(\w+)(?:\(\))?", name):
        owner, function = member.groups()
        return "" if is_of(owner, function, text) else f"{owner} has no {function}"
    is_type = re.fullmatch(r"[A-Z][a-z]+[A-Z][A-Za-z]*", name)
    return f"no class {name}" if is_type and name not in types else ""


def is_of(owner, function, text):
    """Whether the type has it: where it is defined, or in the body of its declaration."""
    if f"{owner}::{function}" in text:
        return True
    for begin in re.finditer(rf"\b(?:class|struct) {owner}\b[^;{{]*\{{", text):
        if re.search(rf"\b{function}\b", text[begin.end():text.find("\n};", begin.end())]):
            return True
    return False


if __name__ == "__main__":
    sys.exit(main())
