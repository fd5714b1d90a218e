#!/usr/bin/env bash
# One step of an agent, a process that starts, calls one tool and ends: through the bridge, with the SDK and a session
# of its own, through mcp-remote, and through mcpc. All of them before the same demo upstream.
#
#   bash tests/bench/step.sh [ROUNDS]        default 15
#
# On demand, not in CI: it wants the npm registry. Measured in turns; the medians are printed.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=tests/end_to_end/peers.sh
. tests/end_to_end/peers.sh
# shellcheck source=tests/bench/shared.sh
. tests/bench/shared.sh

readonly rounds=${1:-15}
build=build/bench
peers=$PWD/$bench_peers
be_the_only_one
folder=$(mktemp -d)
running=()
trap 'for one in "${running[@]}"; do kill "$one" 2>/dev/null || true; done; wait; rm -rf "$folder"' EXIT

install_peers || exit 2
cmake --preset bench >"$build.log" 2>&1 ||
  { cat "$build.log" >&2; exit 2; }
cmake --build "$build" -j "$(nproc)" --target mcp-bridged mcp-nc demo-upstream >"$build.log" 2>&1 ||
  { tail -40 "$build.log" >&2; exit 2; }
install_bench_peers || exit 2

"$build/tests/support/demo-upstream" >"$folder/upstream" &
running+=($!)
until [ -s "$folder/upstream" ]; do sleep 0.05; done
url=$(sed -n 's/^listening on //p;q' "$folder/upstream")
"$build/daemon/mcp-bridged" --url "$url" --socket "$folder/s" --log-level warning &
running+=($!)
daemon=$!
"$build/client/mcp-nc" -s "$folder/s" --wait 10s status >/dev/null

echo "load before: $(cut -d' ' -f1-3 /proc/loadavg) on $(nproc) CPUs; the figures want an idle machine"
"$MCP_E2E_NODE" tests/bench/step.mjs "$rounds" "$url" "$build/client/mcp-nc" "$folder/s" "$daemon" "$peers" "$folder"
