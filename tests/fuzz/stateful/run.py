#!/usr/bin/env python3
"""The stateful fuzzer. Without arguments it plays its fixed seeds; `--seconds S` plays random ones, `--seed N` one again.
README.md of the folder above explains what it reports."""

import argparse
import asyncio
import concurrent.futures
import itertools
import logging
import math
import os
import random
import shutil
import sys
import tempfile
import time
import uuid

from choices import Choices
from ending import Ending
from ledger import Ledger
from quiet import Footprint, until_small
import scenario
from timeline import Timeline
from world import World, binary, is_sanitized, release_binary

# A random seed that has found something is added here.
FIXED_SEEDS = [*range(1, 25)]
SCENARIOS = 6
KINDS = {"http": 4, "stdio": 2, "sse": 1, "modern": 3, "both": 3}
LONGEST_SCENARIO = 120.0


async def play(seed, program, patience, deadline, scenarios):
    """A round: one daemon, some scenarios, none begun after the deadline. True if nothing was found, also until it was cancelled."""
    choices = Choices(seed)
    kind = choices.pick(KINDS)
    folder = tempfile.mkdtemp(prefix="mcp-fuzz-")
    ledger = Ledger(Timeline())
    world = World(kind, ledger, choices, folder, uuid.uuid4().hex, program, patience)
    started = time.monotonic()
    number, cancelled, problem = 0, False, None
    try:
        await world.start()
        start = None
        for number in range(1, scenarios + 1):
            # Shielded, since a scenario that is cancelled waits for all its clients.
            await asyncio.shield(asyncio.wait_for(scenario.run(world, number, choices.of("scenario", number)), LONGEST_SCENARIO))
            if ledger.violations or time.monotonic() > deadline:
                break
            start = start or Footprint(world.daemon)
        if start and not ledger.violations:
            problem = await until_small(world, start, not is_sanitized(program))
            if problem:
                ledger.violation("does not become small again: " + problem)
    except AssertionError as error:
        ledger.violation(f"the daemon ended: {error}")
    except ConnectionError as error:
        ledger.violation(f"nobody accepts connections: {error}")
    except asyncio.TimeoutError:
        ledger.violation(f"scenario {number} does not end: {[task.get_stack() for task in asyncio.all_tasks()]}")
    except asyncio.CancelledError:
        cancelled, number = True, max(0, number - 1)
        if world.daemon:
            world.daemon.kill()
    finally:
        if not cancelled:
            problem = await world.stop()
    if problem:
        ledger.violation(problem)
    verdict = "VIOLATED" if ledger.violations else "ended early" if cancelled else "well"
    print(f"seed {seed}: {kind}, {number} scenarios, {len(ledger.by_key)} calls, {len(ledger.notifications)} "
          f"notifications, {sum(1 for one in ledger.questions.values() if one.responses)} answers, {time.monotonic() - started:.1f} s: {verdict}", flush=True)
    if ledger.violations:
        print(f"  options: {' '.join(world.options)}\n  scenario {number}")
        ledger.report(folder, f"--seed {seed} --scenarios {scenarios}")
        return False
    shutil.rmtree(folder, ignore_errors=True)
    return True


def random_seeds(only):
    first = random.SystemRandom().randrange(1000, 1 << 32)
    print(f"random seeds from {first}", flush=True)
    return (seed for seed in itertools.count(first) if only in (None, Choices(seed).pick(KINDS)))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, action="append", help="one round, as it was printed; may be repeated")
    parser.add_argument("--seconds", type=float, help="random rounds; none begins after so many seconds")
    parser.add_argument("--only", choices=KINDS, help="random rounds with this kind of upstream, 120 seconds by default")
    parser.add_argument("--beside", type=int, default=6, help="rounds at a time")
    parser.add_argument("--patience", type=float, default=30.0, help="seconds for what has to come")
    parser.add_argument("--scenarios", type=int, default=SCENARIOS, help="of one round: how long its daemon lives")
    parser.add_argument("--go-on", action="store_true", help="after a violation too")
    arguments = parser.parse_args()
    logging.getLogger("asyncio").setLevel(logging.ERROR)  # it warns of who writes to a connection that has ended
    programs = [os.path.abspath(name) for name in (binary("MCP_BRIDGED"), release_binary("MCP_BRIDGED"))]
    if arguments.only and not arguments.seconds:
        arguments.seconds = 120
    to_play = random_seeds(arguments.only) if arguments.seconds else iter(arguments.seed or FIXED_SEEDS)
    sys.exit(0 if asyncio.run(play_all(to_play, programs, arguments)) else 1)


async def play_all(to_play, programs, arguments):
    """Rounds beside one another, until all are played or the time is over; a round waits most of the time."""
    asyncio.get_running_loop().set_default_executor(concurrent.futures.ThreadPoolExecutor(4 * arguments.beside))
    end = time.monotonic() + (arguments.seconds or math.inf)
    found, ending = [], Ending()

    async def player():
        for seed in to_play:
            program = programs[seed % 2]
            if not await play(seed, program, arguments.patience, end, arguments.scenarios):
                found.append(seed)
            if ending.signal or time.monotonic() > end or (found and not arguments.go_on):
                return

    players = asyncio.gather(*[player() for _ in range(arguments.beside)])
    ending.cancel_by_signals(players)
    try:
        await players
    except asyncio.CancelledError:
        pass
    if found:
        print(f"violated: {' '.join(str(seed) for seed in found)}", flush=True)
    if ending.signal:
        ending.leave(found)
    return not found


if __name__ == "__main__":
    main()
