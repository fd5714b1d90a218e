#!/usr/bin/env bash
# A soak on demand: the stateful fuzzer and the crash test in turns, for as long as it is said (soak/README.md).
#   bash tests/soak.sh DURATION [--record]     24h, 90m or 600s; --record writes the result into soak/README.md
# Ctrl-C, SIGTERM and SIGHUP end it early: the result of what was played is said, and written, all the same.
# Exit 1: something was found, and is printed with the seed that plays it again. Else 129, 130 or 143 if SIGHUP, Ctrl-C
# or SIGTERM has ended it, and 2 if it could not be built.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=tests/packages/needed.sh
. tests/packages/needed.sh
install_to_build "python3 python3"
mkdir -p build
{ cmake --preset release -DCMAKE_CXX_COMPILER_LAUNCHER=ccache && cmake --build --preset release; } >build/soak.log 2>&1 ||
  { tail -40 build/soak.log >&2; exit 2; }
MCP_BRIDGED=$PWD/build/release/daemon/mcp-bridged MCP_BRIDGED_RELEASE=$PWD/build/release/daemon/mcp-bridged \
  exec python3 tests/soak/run.py "$@"
