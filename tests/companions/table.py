"""The table of README.md in this folder, mcp-nc and other command lines: tried, printed, and compared.

table.py [--tool NAME] [--only WORD] [--verbose] [--figures] [--write]"""

import argparse
import concurrent.futures
import contextlib
import json
import os
import pathlib
import re
import sys
import time
import traceback

import rows
from tools import MODULES, ROOT, Mcpc, Mcpdo, McpNc, Mcporter

PAGE = ROOT / "tests/companions/README.md"
BEGIN, END = "<!-- companions -->", "<!-- /companions -->"
TOOLS = (McpNc, Mcpdo, Mcpc, Mcporter)
ROUNDS = 15


def try_all(tool_class, only, verbose):
    """{(row, aspect): whether it has it}"""
    tool = tool_class()
    found = {}
    try:
        tool.connect()
        for row, title, word, function in rows.ASPECTS:
            if only and only not in f"{row} {title} {function.__name__}":
                continue
            if not tool.children():
                tool.connect()
            try:
                found[row, title] = rows.tried(tool, word, function)
            except Exception:  # pylint: disable=broad-except
                raise RuntimeError(f"{tool.name}: {row}: {title}:\n{traceback.format_exc()}") from None
            if verbose:
                print(f"{tool.name}: {row}: {title}: {found[row, title]}", file=sys.stderr, flush=True)
    finally:
        tool.close()
    return found


def cell(found, row):
    aspects = [(title, has) for (its_row, title), has in found.items() if its_row == row]
    having = [title for title, has in aspects if has]
    lacking = [title for title, has in aspects if not has]
    if not lacking:
        return "yes"
    if not having:
        return "no"
    return "partly: not " + "; ".join(lacking) if len(lacking) <= len(having) else "partly: only " + "; ".join(having)


def memory(tool):
    """MiB of anonymous memory of what it left running in its home: not the server's."""
    total = 0
    for pid in set(tool.own()) - set(tool.children()):
        with contextlib.suppress(OSError, TypeError):
            status = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
            total += int(re.search(r"RssAnon:\s+(\d+)", status)[1])
    return total / 1024


def milliseconds(tool):
    """Of one call, from the start of its process to its end."""
    words = [str(word) for word in tool.call_words("echo", *tool.pairs(message="x"))]
    program = tool.home / "bin" / tool.name
    nothing = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in range(3)]
    begun = time.perf_counter()
    pid = os.posix_spawn(program, words, tool.environment, file_actions=nothing)
    code = os.waitpid(pid, 0)[1]
    took = (time.perf_counter() - begun) * 1000
    assert code == 0, f"{tool.name}: {code}"
    return took


def figures():
    """{tool: (the shortest time of a call in ms, memory between calls in MiB)}, measured in turns."""
    tools = [kind() for kind in TOOLS]
    try:
        for tool in tools:
            tool.connect()
            tool.call("echo", message="x")
        times = {tool.name: [] for tool in tools}
        for _ in range(ROUNDS):
            for tool in tools:
                times[tool.name].append(milliseconds(tool))
        return {tool.name: (min(times[tool.name]), memory(tool)) for tool in tools}
    finally:
        for tool in tools:
            tool.close()


def version(tool):
    if not tool.package:
        return "`mcp-nc`"
    package = json.loads((MODULES / tool.package / "package.json").read_text(encoding="utf-8"))
    name = tool.name if tool.package == tool.name else f"{tool.name}, `{tool.package}`"
    return f"{name} {package['version']}"


def figure(value):
    return f"{value:.2g}" if value < 10 else f"{value:.0f}"


def table(found, measured):
    lines = ["| | " + " | ".join(version(kind) for kind in TOOLS) + " |", "|---|" + "---|" * len(TOOLS)]
    for row in dict.fromkeys(row for row, *_ in rows.ASPECTS):
        titles = "; ".join(title for its_row, title, *_ in rows.ASPECTS if its_row == row)
        lines.append(f"| **{row}**: {titles} | " + " | ".join(cell(found[kind.name], row) for kind in TOOLS) + " |")
    if measured:
        lines.append("| a call of a session that is kept | " + " | ".join(f"{figure(measured[kind.name][0])} ms" for kind in TOOLS) + " |")
        lines.append("| memory between calls | " + " | ".join(f"{figure(measured[kind.name][1])} MiB" for kind in TOOLS) + " |")
    return "\n".join(lines) + "\n"


def without_figures(text):
    return re.sub(r"\b[\d.]+ (ms|MiB)\b", "N", text)


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--only", default="", help="only aspects with this word; nothing is compared")
    options.add_argument("--tool", default="", help="only this one")
    options.add_argument("--verbose", action="store_true")
    options.add_argument("--figures", action="store_true", help="only the figures")
    options.add_argument("--write", action="store_true", help="put the table into the page")
    asked = options.parse_args()
    if asked.figures:
        print(json.dumps(figures()))
        return 0
    with concurrent.futures.ThreadPoolExecutor(len(TOOLS)) as pool:
        kinds = [kind for kind in TOOLS if asked.tool in ("", kind.name)]
        found = dict(zip([kind.name for kind in kinds],
                         pool.map(lambda kind: try_all(kind, asked.only, asked.verbose), kinds)))
    if asked.only or asked.tool:
        print(json.dumps({name: {title: has for (_, title), has in answer.items()} for name, answer in found.items()}, indent=1))
        return 0
    made = table(found, figures())
    print(made)
    text = PAGE.read_text(encoding="utf-8")
    head, rest = text.split(BEGIN + "\n")
    shown, tail = rest.split(END)
    if asked.write:
        PAGE.write_text(head + BEGIN + "\n" + made + END + tail, encoding="utf-8")
        return 0
    if without_figures(shown) != without_figures(made):
        print(f"{PAGE.relative_to(ROOT)} shows another table; --write puts this one there", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
