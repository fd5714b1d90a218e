"""A fault, and what comes of it."""

import dataclasses
import typing

from .outcome import Error, Result


def nothing(_cell):
    pass


def answering(action):
    """Every call is answered so."""
    return lambda cell: cell.server.fault(action, method="tools/call", times=-1)


def well(cell):
    cell.server.clear_faults()


@dataclasses.dataclass(frozen=True)
class Row:
    name: str
    strike: typing.Callable  # makes the fault; given the cell
    gets: typing.Union[Result, Error]  # each request
    heal: typing.Callable = nothing  # ends it
    # How often the upstream sees a call with one argument: in all (at least, at most), and in one session. What
    # is more than once was refused before.
    seen: tuple = (1, 1)
    in_a_session: int = 1
    # When: before the daemon starts ("at start"), before the requests are sent, or once the upstream has them.
    strikes: str = "before"
    # When: after the answers, or while the requests still wait for them ("waiting"), as `noticed` tells.
    heals: str = "after"
    noticed: typing.Callable = nothing
    way: str = "proxy"  # to the upstream: "direct", "proxy", "tls", "name"
    upstream: tuple = ()  # options
    daemon: tuple = ()  # options
    tool: tuple = ("echo", {})
    # What is so afterwards.
    reopened: int = 0  # how many sessions have taken the place of a lost one
    failed_tries: int = 0  # to open one, before that
    stream: str = "open"
    keeps_stream: bool = True  # no notification is lost
