#!/usr/bin/env bash
# What .clang-tidy asks for, of the daemon and the client. On demand: it takes five minutes.
#   bash tests/structure/tidy.sh [CLANG_TIDY [CLANG]]
# A folder is one translation unit here, as with MCP_BRIDGE_UNITY: a file at a time would take ten times as long.
set -euo pipefail
cd "$(dirname "$0")/../.."
tidy=${1:-clang-tidy-14} compiler=${2:-clang++-14} build=build/tidy
cmake -S . -B "$build" -G Ninja -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_BUILD_TYPE=Debug -DMCP_BRIDGE_UNITY=ON \
  -DMCP_BRIDGE_DOCUMENTS=OFF >"$build.log" 2>&1 || { cat "$build.log"; exit 1; }
# A unit of a whole folder includes .cpp files, which the check for that would report.
python3 - "$build/compile_commands.json" <<'UNITS' | nice -n 10 xargs -P "$(nproc)" -n 1 \
  "$tidy" -p "$build" --quiet --warnings-as-errors='*' --checks=-bugprone-suspicious-include
import json, sys
print("\n".join(entry["file"] for entry in json.load(open(sys.argv[1], encoding="utf-8"))))
UNITS
