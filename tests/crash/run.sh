#!/usr/bin/env bash
# Kills the daemon at random moments under load, and judges what both of its ends have recorded (README.md).
#   bash tests/crash/run.sh [--kills N] [--seed N] [--kind http|resumption|stdio]     400 kills of each kind by default
set -euo pipefail
cd "$(dirname "$0")/../.."
mkdir -p build
{ cmake --preset release && cmake --build --preset release; } >build/crash.log 2>&1 ||
  { tail -40 build/crash.log >&2; exit 1; }
MCP_BRIDGED=$PWD/build/release/daemon/mcp-bridged exec python3 tests/crash/run.py --kills 400 "$@"
