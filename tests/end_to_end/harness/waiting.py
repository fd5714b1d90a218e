"""Waiting for events, never for time to pass."""

import time

# Long, since it is reached only by a test that fails; sanitizers on a busy machine are slow.
DEADLINE = 30.0


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
