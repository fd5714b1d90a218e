"""What a page shows, so that a test can hold the programs to it."""

import re


def code_blocks_under(page, heading):
    """The blocks of code under this heading of a page."""
    section = re.search(rf"(?ms)^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", page.read_text(encoding="utf-8"))[1]
    return re.findall(r"(?ms)^```\w*\n(.*?)^```$", section)


def shown_as(line):
    """What matches a line of which some is left out (…)."""
    return "".join(".*" if part == "…" else re.escape(part) for part in re.split("(…)", line)) + "$"
