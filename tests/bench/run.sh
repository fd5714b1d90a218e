#!/usr/bin/env bash
# Builds everything with optimisation and runs the benchmark.
#   bash tests/bench/run.sh [PART…]       all parts, or these: latency throughput connect process
#                                         cpu bytes notifications idle stdio
#   bash tests/bench/run.sh --callgrind   instructions of one call, and where they go
# Exit 1: a figure is over its limit.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=build/bench
cmake -S . -B "$build" -DCMAKE_BUILD_TYPE=Release -DMCP_BRIDGE_TESTS=ON -DMCP_BRIDGE_BENCH=ON >"$build.log" 2>&1 ||
  { cat "$build.log" >&2; exit 1; }
cmake --build "$build" -j "$(nproc)" \
  --target mcp-bridged mcp-nc demo-upstream bridge-bench bench-upstream bare-relay bench-child pipe-relay >"$build.log" 2>&1 ||
  { tail -40 "$build.log" >&2; exit 1; }

bench=$build/tests/bench
daemon=$build/daemon/mcp-bridged
demo=$build/tests/support/demo-upstream
if [[ ${1:-} == --callgrind ]]; then
  exec bash tests/bench/callgrind.sh "$daemon" "$bench" "$build"
fi
node_server=tests/end_to_end/real/echo_server.mjs
[[ -d tests/end_to_end/node_modules ]] || echo "the part stdio wants the peers from npm: npm ci in tests/end_to_end" >&2
echo "load before: $(cut -d' ' -f1-3 /proc/loadavg) on $(nproc) CPUs; the figures want an idle machine"
exec "$bench/bridge-bench" "$daemon" "$build/client/mcp-nc" "$demo" "$bench/bench-upstream" "$bench/bare-relay" \
  "$bench/pipe-relay" "$bench/bench-child" "${MCP_E2E_NODE:-node}" "$node_server" "$@"
