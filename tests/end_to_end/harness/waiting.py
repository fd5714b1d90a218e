"""Waiting for events, never for time to pass."""

import os
import time


def _slowness():
    """How many times longer this machine takes than one that does four other tests beside this one: 1 to 6."""
    began = time.monotonic()
    for number in range(1_200_000):  # 50 ms, in one piece: short ones are preferred by the kernel
        number & 7  # pylint: disable=pointless-statement
    measured = (time.monotonic() - began) / 0.17
    # A process that has just begun is preferred as well. The load says how long it waits later.
    waiting = os.getloadavg()[0] / (os.cpu_count() or 1)
    return min(6.0, max(1.0, measured, waiting / 3))


# Measured once, when a test begins. What is to come within a time has that many times longer.
SLOWNESS = _slowness()
# Long, since it is reached only by a test that fails; sanitizers on a busy machine are slow.
DEADLINE = 60.0 * SLOWNESS


def within(seconds):
    """A limit of time that is about the program, not about what else this machine does."""
    return seconds * SLOWNESS


def patient(milliseconds):
    """The same as the value of an option."""
    return f"{round(within(milliseconds))}ms"


def eventually(condition, what, deadline=DEADLINE):
    """Returns the first true value of `condition()`; fails with `what` after the deadline."""
    end = time.monotonic() + deadline
    pause = 0.002
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError("never happened: " + (what() if callable(what) else what))
        time.sleep(pause)
        pause = min(pause * 1.5, 0.05)
