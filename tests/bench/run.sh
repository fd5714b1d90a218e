#!/usr/bin/env bash
# Builds everything with optimisation and runs the benchmark.
#   bash tests/bench/run.sh [PART…]       all parts, or these: latency throughput connect process
#                                         cpu bytes notifications idle stdio
#   bash tests/bench/run.sh --callgrind   instructions of one call, and where they go
#   bash tests/bench/run.sh --state       what --state-dir costs, and a detached call
#   bash tests/bench/run.sh --instructions [--record]
#                                         what operations cost, against the figures in instructions.json
# Exit 1: a figure is over its limit.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=tests/end_to_end/peers.sh
. tests/end_to_end/peers.sh
build=build/bench
mkdir -p build
cmake --preset bench >"$build.log" 2>&1 ||
  { cat "$build.log" >&2; exit 1; }
cmake --build "$build" -j "$(nproc)" \
  --target mcp-bridged mcp-nc demo-upstream bridge-bench bench-upstream bare-relay bench-child pipe-relay >"$build.log" 2>&1 ||
  { tail -40 "$build.log" >&2; exit 1; }

bench=$build/tests/bench
daemon=$build/daemon/mcp-bridged
demo=$build/tests/support/demo-upstream
if [[ ${1:-} == --callgrind ]]; then
  command -v valgrind >/dev/null || { echo "this wants valgrind: apt-get install valgrind" >&2; exit 2; }
  exec bash tests/bench/callgrind.sh "$daemon" "$bench" "$build"
fi
if [[ ${1:-} == --instructions ]]; then
  command -v valgrind >/dev/null || { echo "this wants valgrind: apt-get install valgrind" >&2; exit 2; }
  exec python3 tests/bench/instructions.py "$daemon" "$build/client/mcp-nc" "${@:2}"
fi
if [[ ${1:-} == --state ]]; then
  exec python3 tests/bench/state.py "$daemon" "$build/client/mcp-nc" "${@:2}"
fi
node_server=tests/end_to_end/real/echo_server.mjs
if [[ $# -eq 0 || " $* " == *" stdio "* ]] && ! install_peers; then
  echo "the Node server of the part stdio is left out: it wants node and npm, and the npm registry once" >&2
  MCP_E2E_NODE=
fi
echo "load before: $(cut -d' ' -f1-3 /proc/loadavg) on $(nproc) CPUs; the figures want an idle machine"
exec "$bench/bridge-bench" "$daemon" "$build/client/mcp-nc" "$demo" "$bench/bench-upstream" "$bench/bare-relay" \
  "$bench/pipe-relay" "$bench/bench-child" "${MCP_E2E_NODE:-}" "$node_server" "$@"
