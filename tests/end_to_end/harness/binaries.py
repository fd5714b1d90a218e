"""Where the programs are: the environment that ctest sets, else the build that is there."""

import os
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[3]

_PLACES = {
    "MCP_BRIDGED": "daemon/mcp-bridged",
    "MCP_NC": "client/mcp-nc",
    "DEMO_UPSTREAM": "tests/support/demo-upstream",
    "LINKED_AND_EMPTY": "tests/support/linked-and-empty",
}
_BUILDS = ("dev", "asan")

# Of undefined behaviour, which is an illegal instruction there, the address sanitizer shows the stack.
os.environ.setdefault("ASAN_OPTIONS", "handle_sigill=1")
WITHOUT_LEAK_SEARCH = {"ASAN_OPTIONS": os.environ["ASAN_OPTIONS"] + ":detect_leaks=0"}


def binary(variable):
    given = os.environ.get(variable)
    if given:
        return given
    for build in _BUILDS:
        path = ROOT / "build" / build / _PLACES[variable]
        if path.exists():
            return str(path)
    raise SystemExit(f"{variable} is not set and there is no build/{_BUILDS[0]}")


def release_binary(variable):
    """The optimised program where there is one: sanitizers make memory and time say nothing."""
    return os.environ.get(variable + "_RELEASE") or binary(variable)


def is_sanitized(path):
    with open(path, "rb") as program:
        code = program.read()
    return b"__asan_init" in code or b"__tsan_init" in code
