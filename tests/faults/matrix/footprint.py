"""What a daemon holds: descriptors, memory, timers, requests."""

import os
import re
import time

from harness import eventually
from harness.binaries import is_sanitized

IDLE_CONNECTIONS = 16
FAR = 60.0  # seconds
# KiB: what libcurl and the allocator keep of 64 connections, of more of them at once on a busy machine (up to 3.1 MiB were
# seen), and 4 MiB by which the heap grows at once (M_TOP_PAD). That nothing more is kept of more rounds of
# them e2e.resources_release shows.
MEMORY_ALLOWANCE = 8192


def is_connection(path):
    """Is a descriptor a socket that is not local? The list in /proc/net/unix cannot say so: it leaves out some while others
    come and go."""
    try:
        return not os.getxattr(path, "system.sockprotoname").startswith(b"UNIX")
    except FileNotFoundError:
        raise
    except OSError:  # no socket
        return False


class Footprint:
    def __init__(self, daemon):
        self.daemon = daemon
        self.others = min(self._samples())
        self.memory = daemon.status_field("RssAnon")

    def _samples(self):
        """The connection that asked for a status last may still be there: not in all of them."""
        for _ in range(20):
            yield self.descriptors()[0]
            time.sleep(0.005)

    def descriptors(self):
        """(others than TCP connections, TCP connections, also those that have ended and not been closed yet)."""
        folder, others, connections = f"/proc/{self.daemon.pid}/fd", 0, 0
        for name in os.listdir(folder):
            try:
                if is_connection(os.path.join(folder, name)):
                    connections += 1
                else:
                    others += 1
            except FileNotFoundError:
                continue
        return others, connections

    def next_timer(self):
        """Seconds to the next wake-up by a timer."""
        folder, soonest = f"/proc/{self.daemon.pid}/fdinfo", FAR
        for name in os.listdir(folder):
            try:
                with open(os.path.join(folder, name), encoding="ascii") as file:
                    value = re.search(r"it_value: \((\d+), (\d+)\)", file.read())
            except FileNotFoundError:
                continue
            if value and (value[1], value[2]) != ("0", "0"):
                soonest = min(soonest, int(value[1]) + int(value[2]) / 1e9)
        return soonest

    def check_back(self, case):
        daemon = self.daemon
        daemon.status_when(lambda status: status["requests"]["inFlight"] == status["requests"]["queued"] ==
                           status["requests"]["parked"] == 0, "nothing in flight, queued or parked")
        eventually(lambda: self.descriptors()[0] == self.others,
                   lambda: f"{self.others} descriptors that are no TCP: {self.descriptors()}")
        # What is left of many is closed without a request that looks for a connection.
        eventually(lambda: self.descriptors()[1] <= IDLE_CONNECTIONS + 1,
                   lambda: f"at most {IDLE_CONNECTIONS} idle connections and a stream: {self.descriptors()}")
        eventually(lambda: self.next_timer() >= FAR / 2, lambda: f"no timer before long: {self.next_timer()} s")
        if not is_sanitized(daemon.popen.args[0]):
            eventually(lambda: daemon.status_field("RssAnon") <= self.memory + MEMORY_ALLOWANCE,
                       lambda: f"{self.memory} KiB of memory before, {daemon.status_field('RssAnon')} now")
