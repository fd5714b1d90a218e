#!/usr/bin/env python3
"""The way of a plain call is the one that daemon/README.md lists: compared with the stacks of the running program."""

import os
import re
import signal

from harness import Case, Client, call, eventually, main
from harness.binaries import ROOT, WITHOUT_LEAK_SEARCH, binary

STEP = re.compile(r"^\d+\. (\()?`([\w:]+)`")
FRAME = re.compile(r"^#\d+\s+(?:0x\w+ in )?bridge::([\w:]+)(?:\[abi:\w+\])?\s*\(")
# What a step calls curl or the loop with, and what C++ makes of it, adds nothing for a reader.
NOT_STEPS = ("CurlLoop::work", "CurlLoop::CurlLoop", "HttpUpstream::HttpUpstream", "Connection::Connection", "EventLoop::",
             "DescriptorWatch::", "Daemon::", "Connection::on_ready", "UnixClients::", "Deferred::")
LONGEST = {"Out": 16, "Back": 12}


def listed(way):
    """[(name, whether it returns before the next)] of one list of the README."""
    with open(os.path.join(ROOT, "daemon/README.md"), encoding="utf-8") as file:
        section = file.read().split("## The way of a request")[1].split("\n## ")[0]
    steps = section.split(f"\n{way}")[1].split("\n\n")[1]
    return [(found[2], bool(found[1])) for found in map(STEP.match, steps.splitlines())]


def debugger_script(stops):
    lines = ["set pagination off", "set confirm off", "set width 0", "set print address on", "handle SIGTERM nostop noprint pass"]
    for stop in stops:
        lines += [f"break bridge::{stop}", "commands", "silent", "bt", "echo --\\n", "cont", "end"]
    return "\n".join([*lines, "run"]) + "\n"


def stacks(printed):
    """The project's own functions of each stack, the outermost first."""
    found = []
    for stack in printed.split("--\n"):
        names = [name[1] for name in map(FRAME.match, stack.splitlines()) if name]
        names = [name for name in reversed(names) if not name.startswith(NOT_STEPS)]
        # A lambda is a part of its function.
        found.append([name for at, name in enumerate(names) if at == 0 or names[at - 1] != name])
    return [stack for stack in found if stack]


class PlainCall(Case):
    def test_a_call_and_its_answer_go_the_listed_ways(self):
        ways = {way: listed(way) for way in LONGEST}
        stops = list(dict.fromkeys(name for steps in ways.values() for name, returns in steps
                                   if returns or name in (steps[-1][0], steps[-2][0])))
        server = self.upstream()
        script = self.write("script.gdb", debugger_script(stops))
        path = self.path("s")
        gdb = self.run_process("gdb", ["gdb", "-nx", "-q", "-batch", "-x", script, "--args", binary("MCP_BRIDGED"),
                                       "--url", server.url, "--socket", path, "--log-level", "error"],
                               environment=WITHOUT_LEAK_SEARCH)
        eventually(lambda: os.path.exists(path) or not gdb.running(), "the daemon has its socket", 120)
        if "Operation not permitted" in gdb.stderr() + gdb.stdout().decode(errors="replace"):
            self.skipTest("programs cannot be debugged here")
        client = Client(path)
        self.clients.append(client)
        for number in (1, 2):
            client.send(call("echo", {"message": "hi"}, number))
            self.assertIn("result", client.answer(number))
        with open(f"/proc/{gdb.pid}/task/{gdb.pid}/children", encoding="ascii") as children:
            os.kill(int(children.read().split()[0]), signal.SIGTERM)
        self.assertEqual(gdb.wait(), 0)
        seen = stacks(gdb.stdout().decode(errors="replace"))
        for way, steps in ways.items():
            with self.subTest(way):
                self.assertLessEqual(len(steps), LONGEST[way])
                nested = [name for name, returns in steps if not returns]
                if way == "Back":  # the last step is the round's end
                    self.assertTrue(any(stack == nested[-1:] for stack in seen), (nested[-1], seen))
                    nested.pop()
                self.assertIn(nested, seen)
                for index, (name, returns) in enumerate(steps):
                    if returns:
                        callers = [each for each, inner in steps[:index] if not inner]
                        self.assertIn([*callers, name], seen, f"{way}: {name}")


if __name__ == "__main__":
    main()
