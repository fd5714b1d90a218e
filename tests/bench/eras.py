#!/usr/bin/env python3
"""What a call costs between the eras, counted by callgrind, beside one where both sides are legacy.

    eras.py DAEMON [--functions] [--small]

Every client before every server, one call of a tool each, with a text of 24 bytes, of 64 KiB and of 1 MiB both ways
(--small: the first); the median of three counts, since in which pieces a large message arrives differs from one run to the
next. The limits are 1.1 where both are modern, or the server speaks both eras, and 1.3 where the bridge translates; the exit code is 1 over one of
them. --functions says what costs more than legacy to legacy.
"""

import sys
import tempfile

import ending
import instructions
from servers import SERVERS

LIMITS = {"modern to modern": 1.1, "modern to both": 1.1, "legacy to modern": 1.3, "modern to legacy": 1.3}
SIZES = {"": (24, 300, 1300), " of 64 KiB": (64 << 10, 30, 130), " of 1 MiB": (1 << 20, 3, 13)}  # text, few, many
FUNCTIONS_SHOWN = 15
META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        # Who can be asked something costs more.
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}, "sampling": {}, "roots": {}},
        "io.modelcontextprotocol/clientInfo": {"name": "instructions", "version": "1"}}


def median_cost(folder, daemon, name, size, few, many):
    client, server = name.split(" to ")
    operation = (instructions.calls_of(size, META if client == "modern" else None), few, many)
    costs = [instructions.counted_twice(folder, daemon, name, operation, SERVERS[server]) for _ in range(3)]
    return sorted(costs, key=lambda cost: cost[0])[1]


def main():
    daemon = sys.argv[1]
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        for words, size in SIZES.items():
            if words and "--small" in sys.argv:
                break
            base, base_functions = median_cost(folder, daemon, "legacy to legacy", *size)
            print(f"{'legacy to legacy' + words:27} {base:9.0f}", flush=True)
            for name, limit in LIMITS.items():
                total, functions = median_cost(folder, daemon, name, *size)
                verdict = "ok" if total <= limit * base else "NOT OK"
                failed = failed or verdict != "ok"
                print(f"{name + words:27} {total:9.0f}  {total / base:5.3f} of it, limit {limit}: {verdict}", flush=True)
                if "--functions" in sys.argv:
                    print(*instructions.grown(functions, base_functions, FUNCTIONS_SHOWN), sep="\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(ending.code_of(main))
