"""What a page shows, so that a test can hold the programs to it."""

import re


def shown_as(line):
    """What matches a line of which some is left out (…)."""
    return "".join(".*" if part == "…" else re.escape(part) for part in re.split("(…)", line)) + "$"
