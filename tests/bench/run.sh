#!/usr/bin/env bash
# Builds everything with optimisation and runs the benchmark; what is missing is installed with apt and npm.
#   bash tests/bench/run.sh [--parts]     all parts, each against its limits
#   bash tests/bench/run.sh PART…         these: latency throughput connect process bytes results
#                                         notifications idle stdio
#   bash tests/bench/run.sh --state       what --state-dir costs, and a detached call
#   bash tests/bench/run.sh --instructions [--record]
#                                         what operations cost, against the figures in instructions.json
# Exit 1: a figure is over its limit; 2: something could not be measured, or another one runs in this folder.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=tests/end_to_end/peers.sh
. tests/end_to_end/peers.sh
# shellcheck source=tests/packages/needed.sh
. tests/packages/needed.sh
# shellcheck source=tests/bench/shared.sh
. tests/bench/shared.sh
case ${1:-} in
  -h | --help) sed -n '2,/^set /s/^# \{0,1\}//p' tests/bench/run.sh; exit 0 ;;
esac
be_the_only_one
case ${1:-} in
  --instructions) install_to_build "python3 python3" "valgrind valgrind" ;;
  *) install_to_build "python3 python3" "node nodejs" "npm npm" ;;
esac
build=build/bench
cmake --preset bench -DCMAKE_CXX_COMPILER_LAUNCHER=ccache >"$build.log" 2>&1 ||
  { cat "$build.log" >&2; exit 2; }
cmake --build "$build" -j "$(nproc)" \
  --target mcp-bridged mcp-nc demo-upstream bridge-bench bench-upstream bare-relay bench-child pipe-relay >"$build.log" 2>&1 ||
  { tail -40 "$build.log" >&2; exit 2; }

bench=$build/tests/bench
daemon=$build/daemon/mcp-bridged
demo=$build/tests/support/demo-upstream
if [[ ${1:-} == --instructions ]]; then
  exec python3 tests/bench/instructions.py "$daemon" "$build/client/mcp-nc" "${@:2}"
fi
if [[ ${1:-} == --state ]]; then
  exec python3 tests/bench/state.py "$daemon" "$build/client/mcp-nc" "${@:2}"
fi
if [[ ${1:-} == --parts ]]; then shift; fi
node_server=tests/end_to_end/real/echo_server.mjs
if [[ $# -eq 0 || " $* " == *" stdio "* ]] && ! install_peers; then
  echo "the Node server of the part stdio is left out: it wants node and npm, and the npm registry once" >&2
  MCP_E2E_NODE=
fi
echo "load before: $(cut -d' ' -f1-3 /proc/loadavg) on $(nproc) CPUs; the figures want an idle machine"
exec "$bench/bridge-bench" "$daemon" "$build/client/mcp-nc" "$demo" "$bench/bench-upstream" "$bench/bare-relay" \
  "$bench/pipe-relay" "$bench/bench-child" "${MCP_E2E_NODE:-}" "$node_server" "$@"
