#!/usr/bin/env bash
# The HTTP frontend beside `supergateway --stateful` and `mcp-proxy`, each in front of the same stdio
# server: calls answered a second, and anonymous memory.
#
#   bash tests/bench/face.sh [CLIENTS]        default 16
#
# On demand, not in CI: it wants an idle machine and the npm registry. Measured in turns, five rounds;
# the median of the rounds' ratios counts. Exit 1 if a figure is over its limit (5 times the calls, a
# tenth of the memory), 2 if something could not be measured.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=tests/bench/shared.sh
. tests/bench/shared.sh

readonly clients=${1:-16} rounds=${MCP_BENCH_ROUNDS:-5} milliseconds=2000
build=build/bench
# Called by compare.sh: what stands between stdio and HTTP as the bridge does is there, the newest of it. Else pinned.
peers=${MCP_BENCH_PEERS:-$PWD/build/bench-peers}
readonly pins=(supergateway@4.0.0 mcp-proxy@6.7.19)
[ -n "${MCP_BENCH_PEERS:-}" ] || be_the_only_one
folder=$(mktemp -d)
running=()
# Killed: supergateway takes a while to end when it is asked to.
trap 'for one in "${running[@]}"; do kill -KILL -- "-$one" 2>/dev/null || true; done; rm -rf "$folder"' EXIT

node=${MCP_E2E_NODE:-$(command -v node)} || { echo "this wants node and npm" >&2; exit 2; }
cmake --preset bench >"$build.log" 2>&1 ||
  { cat "$build.log" >&2; exit 2; }
cmake --build "$build" -j "$(nproc)" --target mcp-bridged bench-child face-load >"$build.log" 2>&1 ||
  { tail -40 "$build.log" >&2; exit 2; }
# Where just these are there already nothing is asked of the network.
if [[ -z ${MCP_BENCH_PEERS:-} && $(cat "$peers/installed" 2>/dev/null) != "${pins[*]}" ]]; then
  mkdir -p "$peers"
  npm install --prefix "$peers" --no-audit --no-fund --loglevel=error "${pins[@]}" </dev/null || exit 2
  echo "${pins[*]}" >"$peers/installed"
fi
child=$PWD/$build/tests/bench/bench-child

free_port() {
  "$node" -e 'const s = require("net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close() })'
}
# start NAME COMMAND…: in a process group of its own; its pid is in $pid.
start() {
  local name=$1
  shift
  setsid "$@" >"$folder/$name.log" 2>&1 </dev/null 9>&- &
  pid=$!
  running+=("$pid")
}
bin_of() { # bin_of PACKAGE: the script that its package.json names
  "$node" -p "const p = require('$peers/node_modules/$1/package.json'); require('path').join('$peers/node_modules/$1', typeof p.bin === 'string' ? p.bin : p.bin['$1'])"
}

declare -A ports pids calls
ports[bridge]=$(free_port)
start bridge "$build/daemon/mcp-bridged" --socket "$folder/s" --log-level warning --http "127.0.0.1:${ports[bridge]}" -- "$child"
pids[bridge]=$pid
ports[supergateway]=$(free_port)
start supergateway "$node" "$(bin_of supergateway)" --stdio "$child" --outputTransport streamableHttp --stateful \
  --port "${ports[supergateway]}" --logLevel none
pids[supergateway]=$pid
ports[mcp-proxy]=$(free_port)
start mcp-proxy "$node" "$(bin_of mcp-proxy)" --host 127.0.0.1 --port "${ports[mcp-proxy]}" --server stream -- "$child"
pids[mcp-proxy]=$pid

load() { "$build/tests/bench/face-load" "${ports[$1]}" /mcp "$clients" "$2"; }
for name in bridge supergateway mcp-proxy; do
  for ((i = 0; i < 200; ++i)); do
    load "$name" 1 >/dev/null 2>"$folder/why" && break
    kill -0 "${pids[$name]}" 2>/dev/null || { cat "$folder/$name.log" >&2; exit 2; }
    sleep 0.1
  done
  ((i < 200)) || { echo "$name does not answer: $(cat "$folder/why")" >&2; exit 2; }
done

echo "load before: $(cut -d' ' -f1-3 /proc/loadavg) on $(nproc) CPUs; $clients clients; the figures want an idle machine"
for ((round = 0; round < rounds; ++round)); do
  for name in bridge supergateway mcp-proxy; do
    calls[$name]+="$(load "$name" "$milliseconds") "
  done
done

# While they call: the memory of what was started, in KiB, and how many processes of the local server there are below it.
declare -A servers memory
count_servers() {
  ps -eo pid=,ppid=,comm= | awk -v root="$1" '{parent[$1] = $2; name[$1] = $3}
    END {for (pid in name) if (name[pid] == "bench-child") for (up = pid; up in parent; up = parent[up]) if (up == root) ++count
         print count + 0}'
}
for name in bridge supergateway mcp-proxy; do
  load "$name" 1000 >/dev/null &
  sleep 0.5
  servers[$name]=$(count_servers "${pids[$name]}")
  memory[$name]=$(awk '/^RssAnon/ {print $2}' "/proc/${pids[$name]}/status")
  wait $!
done

median() { tr ' ' '\n' | sed '/^$/d' | sort -n | awk '{v[NR] = $1} END {print v[int((NR + 1) / 2)]}'; }
over=0
verdict() { awk -v a="$1" -v op="$2" -v b="$3" 'BEGIN {exit !(op == ">=" ? a >= b : a <= b)}' && echo ok || { echo 'NOT OK'; return 1; }; }
for name in supergateway mcp-proxy; do
  ratio=$(paste <(tr ' ' '\n' <<<"${calls[bridge]}") <(tr ' ' '\n' <<<"${calls[$name]}") | awk 'NF == 2 {print $1 / $2}' | tr '\n' ' ' | median)
  printf 'calls a second, beside %-13s %6.2f times   at least 5     %s\n' "$name:" "$ratio" "$(verdict "$ratio" '>=' 5)" || true
  verdict "$ratio" '>=' 5 >/dev/null || over=1
  part=$(awk -v a="${memory[bridge]}" -v b="${memory[$name]}" 'BEGIN {print a / b}')
  printf 'RssAnon, beside %-20s %6.3f times   at most 0.1    %s\n' "$name:" "$part" "$(verdict "$part" '<=' 0.1)" || true
  verdict "$part" '<=' 0.1 >/dev/null || over=1
done
for name in bridge supergateway mcp-proxy; do
  printf '  note: %-13s %8s calls a second, %7s KiB RssAnon, %3s processes of the local server\n' "$name" "$(median <<<"${calls[$name]}")" \
    "${memory[$name]}" "${servers[$name]}"
done
exit $over
