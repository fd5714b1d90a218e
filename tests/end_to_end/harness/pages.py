"""The user's pages, README.md and those that it links to, and the blocks of code in them."""

import dataclasses
import os
import pathlib
import re

from .binaries import ROOT
from .document import shown_as

# For whoever changes the code, and what has other tests than these.
_OTHER_READERS = ("CHANGELOG.md", "daemon/README.md", "daemon/BEHAVIOUR.md", "tests/")
_NOT_OURS = {".git", "build", "node_modules"}


@dataclasses.dataclass(frozen=True)
class Block:
    page: str
    heading: str  # the last one of the second level; "" before the first
    number: int   # among the blocks under that heading, from 1
    language: str
    text: str

    @property
    def place(self):
        return self.page, self.heading, self.number


def text_of_page(page):
    return (ROOT / page).read_text(encoding="utf-8")


def links(page):
    """(file, anchor) of each link to a file of the project, the file relative to its top folder."""
    found = []
    prose = re.sub(r"(?ms)^```.*?^```$", "", text_of_page(page))
    for target in re.findall(r"\]\(([^)\s]+)\)", prose):
        if "://" not in target:
            file, _, anchor = target.partition("#")
            path = (ROOT / page).parent / file if file else ROOT / page
            found.append((pathlib.Path(path).resolve().relative_to(ROOT).as_posix(), anchor))
    return found


def pages():
    linked = {file for file, _ in links("README.md") if file.endswith(".md")}
    return ["README.md", *sorted(file for file in linked if not file.startswith(_OTHER_READERS) and file != "README.md")]


def documents():
    """Every page of the project, whoever reads it."""
    found = []
    for folder, inside, names in os.walk(ROOT):
        inside[:] = sorted(set(inside) - _NOT_OURS)
        found += [pathlib.Path(folder, name).relative_to(ROOT).as_posix() for name in names if name.endswith(".md")]
    return found


def inline_code(page):
    """Each piece of code in the text and the tables."""
    return re.findall(r"`([^`\n]+)`", re.sub(r"(?ms)^```.*?^```$", "", text_of_page(page)))


def blocks(page):
    found, heading, number = [], "", 0
    block = None
    for line in text_of_page(page).splitlines(keepends=True):
        if block is None and line.startswith("## "):
            heading, number = line[3:].strip(), 0
        elif block is None and line.startswith("```"):
            number += 1
            block = (line[3:].strip(), [])
        elif block is not None and line.rstrip() == "```":
            found.append(Block(page, heading, number, block[0], "".join(block[1])))
            block = None
        elif block is not None:
            block[1].append(line)
    assert block is None, f"{page}: a block without an end"
    return found


def block_of(page, heading, number=1):
    return next(block for block in blocks(page) if block.place == (page, heading, number))


def commands(block):
    """[(command, expected lines)] of a block whose commands begin with `$ `."""
    found = []
    for line in block.text.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line)
    return found


def matches(expected, output):
    """Whether the output is these lines; a line that is `…` alone stands for any number of lines."""
    pattern = "".join(r"(?:.*\n)*?" if line == "…" else shown_as(line) + r"\n" for line in expected)
    if output and not output.endswith("\n"):
        output += "\n"
    return re.fullmatch(pattern, output, re.M) is not None
