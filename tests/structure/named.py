#!/usr/bin/env python3
"""What the contributors' pages and the comments of the programs name is there: files, classes, members, functions.

On a page a name is looked at if it stands in `backquotes` alone and has the form of a path
(`router/server_requests.cpp`), of a member (`Ring::take`), of a type (`AccessToken`) or of a function (`decide_retry`).
In a comment all words of the last three forms are, and those with parentheses (take()); not what a manual page has
(`memfd_create(2)`).
"""

import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PAGES = [os.path.join("daemon", "README.md"), os.path.join("client", "README.md")]

PATH = r"[\w/]+\.(?:cpp|hpp|py|cmake)"
NAME = r"[A-Z]\w*::\w+|[a-z]\w*\(\)|[a-z]+(?:_[a-z0-9]+)+_?|[A-Z][a-z]+[A-Z][A-Za-z]*"
#: Types of the specifications, and products.
FOREIGN = r"\w+(?:Result|MetaObject|Error)|JavaScript|LoadCredential|Open(?:API|ID|SSL)"


def sources():
    """(path, text) of each source of the two programs; of the tests and all else the path alone."""
    for top in ("daemon", "client", "tests"):
        for folder, folders, names in os.walk(os.path.join(ROOT, top)):
            folders[:] = [one for one in folders if one != "node_modules"]
            for name in names:
                path = os.path.join(folder, name)
                text = ""
                if top != "tests" and name.endswith((".cpp", ".hpp")):
                    with open(path, encoding="utf-8") as file:
                        text = file.read()
                yield os.path.relpath(path, ROOT), text


class Named:
    """What the sources have."""

    def __init__(self, files):
        self.files = files
        self.code = "\n".join(re.sub(r"//.*", "", text) for text in files.values())
        self.words = set(re.findall(r"\w+", self.code))
        self.calls = set(re.findall(r"\b(\w+)\s*\(", self.code))
        self.members = set(re.findall(r"\b[A-Z]\w*::\w+", self.code))

    def fault_of(self, name):
        """What of this name is not there; empty: nothing."""
        if re.fullmatch(PATH, name):
            return "" if any(path == name or path.endswith("/" + name) for path in self.files) else f"no file {name}"
        if "::" in name:
            owner, member = name.removesuffix("()").split("::")
            return "" if self.has_member(owner, member) else f"{owner} has no {member}"
        if name.endswith("()"):
            return "" if name[:-2] in self.calls else f"no function {name}"
        return "" if name in self.words or re.fullmatch(FOREIGN, name) else f"no {name}"

    def has_member(self, owner, member):
        """Whether the type has it: where it is defined, or in the body of its declaration."""
        if f"{owner}::{member}" in self.members:
            return True
        for begin in re.finditer(rf"\b(?:class|struct) {owner}\b[^;{{]*\{{", self.code):
            if re.search(rf"\b{member}\b", self.code[begin.end():self.code.find("\n};", begin.end())]):
                self.members.add(f"{owner}::{member}")
                return True
        return False


def names_on_page(text):
    return {name for name in re.findall(r"`([^`\n]+)`", text) if re.fullmatch(rf"{PATH}|{NAME}|\w+::\w+\(\)", name)}


def names_in_comments(text):
    comments = " ".join(re.findall(r"(?:^|\s)//+<?(.*)", text, re.MULTILINE))
    comments = re.sub(r'"[^"]*"', "", comments)  # a text, or the heading of a specification
    return set(re.findall(rf"(?<![\w:/.$%-])(?:{NAME})(?![\w/:-]|\.\w|\(\d)", comments))


def main():
    named = Named(dict(sources()))
    texts = {path: names_in_comments(text) for path, text in named.files.items()}
    for page in PAGES:
        with open(os.path.join(ROOT, page), encoding="utf-8") as file:
            texts[page] = names_on_page(file.read())
    faults = [f"{path} names what is not there: {fault}" for path, names in texts.items() for name in sorted(names)
              if (fault := named.fault_of(name))]
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
