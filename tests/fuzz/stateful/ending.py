"""What ends a run early: Ctrl-C, SIGTERM or SIGHUP. What was played until then counts, and no folder stays without a violation."""

import asyncio
import os
import signal
import sys

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Ending:
    def __init__(self):
        self.signal = None

    def cancel_by_signals(self, work):
        """`work`: a task or what asyncio.gather has made."""
        for number in SIGNALS:
            # Who started it with nohup wants it to go on.
            if signal.getsignal(number) != signal.SIG_IGN:
                asyncio.get_running_loop().add_signal_handler(number, self._end, number, work)

    def _end(self, number, work):
        # A second one would cancel the clean-up.
        if self.signal is None:
            self.signal = number
            work.cancel()

    def leave(self, found):
        """At once: clients and threads that still wait for a daemon that is gone would take up to their patience."""
        sys.stdout.flush()
        os._exit(1 if found else 128 + self.signal)
