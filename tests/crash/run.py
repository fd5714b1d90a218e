#!/usr/bin/env python3
"""The daemon is killed at random moments under load, again and again; at the end the ledger of both ends is judged."""

import argparse
import asyncio
import os
import shutil
import signal
import sys
import tempfile
import time
import uuid

from peers import KINDS, Choices, listen, make_upstream

from ending import Ending
from ledger import Ledger
from quiet import Footprint, until, until_quiet, until_small
from timeline import Timeline

from callers import Line, caller, listener, repeat, watcher
from crash_judge import judge
from jobs import collect_all, submitter

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "end_to_end"))
from harness.binaries import binary  # noqa: E402
from harness.daemon import Daemon  # noqa: E402

# The session's stream is opened again with pauses of up to 30 s.
PATIENCE = 60.0
LOAD = {"caller": (caller, 6), "listener": (listener, 2), "watcher": (watcher, 1), "submitter": (submitter, 2)}


class World:
    """An upstream, and the daemon that is alive at the moment."""

    def __init__(self, kind, seed, folder, program):
        self.kind, self.choices, self.folder, self.program = kind, Choices(seed, kind), folder, program
        self.ledger = Ledger(Timeline())
        self.ledger.begin()
        self.upstream = make_upstream(kind, self.ledger, seed)
        self.socket_path = os.path.join(folder, "s")
        self.marker = uuid.uuid4().hex
        self.lives = self.upgrades = 0
        self.daemon = None
        self.load_ends = asyncio.Event()
        self.accepted = {}   # number in the ring: serial of the notification
        self.instance = None
        self.jobs = {}       # its id: what it is to do

    async def start(self):
        self.options = ["--state-dir", os.path.join(self.folder, "state"), "--jobs", "100000", "--jobs-bytes", "4GiB",
                        *await listen(self.upstream, self.folder)]
        self.begin_life()

    def begin_life(self):
        self.lives += 1
        self.ledger.note("killer", f"starts life {self.lives}")
        self.daemon = Daemon(f"daemon-{self.lives}", self.folder, self.marker, self.socket_path, self.options, self.program)

    def end_life(self):
        if not self.daemon.running():
            self.ledger.violation(f"life {self.lives} ended by itself with {self.daemon.popen.returncode}: "
                                  f"{self.daemon.stderr()[-2000:]}")
        self.ledger.note("killer", f"kills life {self.lives}")
        self.daemon.kill()
        if report := self.daemon.sanitizer_report():
            self.ledger.violation(report)
        for path in (self.daemon.stdout_path, self.daemon.stderr_path):
            os.unlink(path)

    async def status(self):
        async with Line(self, "status") as line:
            answer = await asyncio.wait_for(line.request("bridge/status"), PATIENCE)
            return answer["result"]


async def talk(world, choices):
    """Notifications by themselves, between those that calls bring about."""
    while not world.load_ends.is_set():
        await asyncio.sleep(choices.random() * 0.05)
        for _ in range(choices.pick({1: 10, 5: 2, 40: 1})):
            world.upstream.notify(choices.pick({"updated": 2, "log": 3}))


async def kill(world, kills):
    """Kills it so often, and upgrades it in between."""
    choices = world.choices.of("killer")
    while world.lives <= kills and not world.ledger.violations:
        # In the middle of its start too; mostly when it serves.
        await asyncio.sleep(choices.random() * choices.pick({0.03: 2, 0.4: 5, 1.2: 2}))
        if choices.chance(0.25):
            await upgrade(world)
            continue
        world.end_life()
        await asyncio.sleep(choices.pick({0: 3, 0.05: 1, 0.3: 1}))
        world.begin_life()


async def upgrade(world):
    # Before it serves nothing takes the signal.
    await asyncio.wait_for(world.status(), PATIENCE)
    world.ledger.note("killer", f"upgrades life {world.lives}")
    world.upgrades += 1
    world.daemon.signal(signal.SIGUSR2)


def is_open(status):
    return status["upstream"]["state"] in ("open", "refused") and status["upstream"]["stream"] in ("open", "none", "off")


async def settle(world):
    """Lets everything come to its end; the status then."""
    async with Line(world, "collector") as line:
        if "result" not in (await asyncio.wait_for(line.request("ping"), PATIENCE) or {}):
            world.ledger.violation("a ping fails when all is quiet")
        _, problem = await until(world.status, is_open, PATIENCE)
        last = world.upstream.notify("updated")
        reading = asyncio.ensure_future(line.read())
        end = time.monotonic() + PATIENCE
        while not problem and last and not last.takers:
            await asyncio.sleep(0.01)
            if time.monotonic() > end:
                problem = f"notification {last.serial}, said when all is quiet, does not come"
        if not problem:
            _, problem = await until(world.status, lambda now: not now["ring"]["untaken"], PATIENCE)
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)
    status, noisy = await until_quiet(world, PATIENCE)
    for one in (problem, noisy):
        if one:
            world.ledger.violation(one)
    return status


async def play(kind, seed, kills, program):
    """A round. True if nothing was found."""
    ending = Ending()
    ending.cancel_by_signals(asyncio.current_task())
    started = time.monotonic()
    folder = tempfile.mkdtemp(prefix="mcp-crash-")
    world = World(kind, seed, folder, program)
    try:
        await world.start()
        # From here on the session is one that has to be kept.
        async with Line(world, "opener") as line:
            await asyncio.wait_for(line.request("ping"), PATIENCE)
        await until(world.status, is_open, PATIENCE)
        first = Footprint(world.daemon)
        load = [asyncio.ensure_future(repeat(world, f"{name}{number}", life))
                for name, (life, count) in LOAD.items() for number in range(count)]
        load.append(asyncio.ensure_future(talk(world, world.choices.of("talk"))))
        await kill(world, kills)
        world.load_ends.set()
        done, pending = await asyncio.wait(load, timeout=PATIENCE)
        for task in pending:
            world.ledger.violation(f"the load does not end: {task.get_stack()}")
            task.cancel()
        for task in done:
            if task.exception():
                world.ledger.violation(f"{task.exception()!r}")
        if not world.ledger.violations:
            await collect_all(world)
            judge(world, await settle(world))
            if problem := await until_small(world, first, False):
                world.ledger.violation(problem)
    except asyncio.TimeoutError:
        world.ledger.violation("no answer to a status")
    except asyncio.CancelledError:
        pass  # by a signal
    finally:
        if world.daemon:
            world.daemon.kill()
        if not ending.signal:
            await world.upstream.stop()
    report(world, seed, kills, time.monotonic() - started, "ended early" if ending.signal else "well")
    if ending.signal:
        ending.leave(world.ledger.violations)
    return not world.ledger.violations


def report(world, seed, kills, seconds, otherwise):
    """`otherwise`: what is said if nothing was found."""
    ledger = world.ledger
    answered = sum(bool(call.answers) for call in ledger.calls)
    print(f"{world.kind}, seed {seed}: {world.lives - 1} kills, {world.upgrades} upgrades, {len(ledger.calls)} calls ({answered} answered, "
          f"{len(ledger.acted)} done), {len(world.jobs)} jobs, {len(ledger.notifications)} notifications ({len(world.accepted)} seen in the ring), "
          f"{seconds:.0f} s: {'VIOLATED' if ledger.violations else otherwise}", flush=True)
    if not ledger.violations:
        shutil.rmtree(world.folder, ignore_errors=True)
        return
    ledger.report(world.folder, f"--kind {world.kind} --seed {seed} --kills {kills}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=int(time.time()), help="as it was printed")
    parser.add_argument("--kills", type=int, default=20, help="of each kind")
    parser.add_argument("--kind", choices=KINDS, help="one kind of upstream alone")
    arguments = parser.parse_args()
    program = os.path.abspath(binary("MCP_BRIDGED"))
    outcomes = [asyncio.run(play(kind, arguments.seed, arguments.kills, program))
                for kind in ([arguments.kind] if arguments.kind else KINDS)]
    sys.exit(0 if all(outcomes) else 1)


if __name__ == "__main__":
    main()
