"""Ports at which nothing answers, and which no other test is given: tests run beside one another."""

import errno
import socket
import time

from .waiting import DEADLINE


def hold(port=0, host="127.0.0.1"):
    """A socket that owns the port and does not listen. One that sets SO_REUSEADDR can still listen there.

    A connection of another test may have the port for a moment, as its own end.
    """
    one = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    deadline = time.monotonic() + DEADLINE
    while True:
        try:
            one.bind((host, port))
            return one
        except OSError as error:
            if port == 0 or error.errno != errno.EADDRINUSE or time.monotonic() > deadline:
                one.close()
                raise
            time.sleep(0.05)
