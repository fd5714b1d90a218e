"""The upstream of the crash test: the stateful fuzzer's, which here makes up no fault but those of the daemon's death."""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "fuzz", "stateful"))

from choices import Choices  # noqa: E402
from upstream.http_upstream import HttpUpstream  # noqa: E402
from upstream.stdio_upstream import StdioUpstream  # noqa: E402

KINDS = ("http", "resumption", "stdio")


def make_upstream(kind, ledger, seed):
    """`resumption`: HTTP whose streams have event ids, so that nothing that was said is lost."""
    if kind == "stdio":
        upstream = StdioUpstream(ledger, Choices(seed, "upstream"))
    else:
        upstream = HttpUpstream(ledger, Choices(seed, "upstream"))
        upstream.server_ids = kind == "resumption"
        upstream.has_stream, upstream.closes_idle, upstream.unknown_session = True, False, 404
    upstream.quiet = True
    upstream.read_by_then = 60.0  # it dies several times a second, on a machine that may do other work for as long
    return upstream


async def listen(upstream, folder):
    """Begins to listen; the options by which a daemon reaches it."""
    if upstream.kind == "stdio":
        return ["--", *await upstream.listen(os.path.join(folder, "upstream"))]
    return ["--url", await upstream.listen()]


def make_plan(choices, kind):
    """What is to be done with one call, without any fault of the upstream's."""
    plan = {"before": round(choices.pick({0: 3, 0.01: 3, 0.1: 2, 0.4: 1}), 4),
            "steps": [["progress"]] * choices.pick({0: 6, 2: 1}) + [["server_stream"]] * choices.pick({0: 3, 1: 1}),
            "end": choices.pick({"result": 12, "huge": 1, "tool_error": 1}),
            "refuse": "", "break": "", "trickle": False, "tail": "end"}
    forms = {"json": 3, "sse": 2}
    if kind == "resumption":
        forms["ids"] = 4
    plan["form"] = choices.pick(forms)
    if plan["form"] == "json":
        plan["steps"] = []
    return plan


__all__ = ["Choices", "KINDS", "listen", "make_plan", "make_upstream"]
