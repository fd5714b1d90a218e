"""What is asked of each command line: a row of the table has aspects, an aspect a function that tries it.

A function returns whether the tool has it. Where a tool has no verb or option for it, absent() holds that its
help does not speak of one either."""

import re

from tools import Tool

ASPECTS = []


class Absent(Exception):
    """The tool has nothing for it."""


def aspect(row, title, word=None):
    """`word`: what the help of a tool would say that has it."""
    def add(function):
        ASPECTS.append((row, title, word, function))
        return function
    return add


def tried(tool: Tool, word, function):
    try:
        return bool(function(tool))
    except Absent:
        spoken = re.search(word, tool.all_help(), re.I)
        if spoken:
            raise SystemExit(f"{tool.name} speaks of {spoken[0]!r} in its help: {function.__name__} has to try it") from None
        return False


def of(tool, **ways):
    """What is typed for this tool."""
    if tool.name.replace("-", "_") not in ways:
        raise Absent
    return ways[tool.name.replace("-", "_")]


def says(tool, words, pattern, **how):
    return tool.run(*words, **how).has(pattern)
