#!/usr/bin/env bash
# Counts the daemon's instructions for one call: two runs of different length, and the difference, so
# that start and end cancel out. Called by run.sh.
#   callgrind.sh DAEMON DEMO_UPSTREAM BRIDGE_BENCH BUILD_FOLDER
set -euo pipefail
daemon=$1 demo=$2 bench=$3 build=$4
few=500
many=2500
# What a call cost when this was written, and a tenth: a change that costs more has to say why.
limit=${MCP_BENCH_INSTRUCTIONS:-0}

folder=$(mktemp -d)
pids=()
cleanup() {
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
  wait
  rm -rf "$folder"
}
trap cleanup EXIT

mkfifo "$folder/out"
"$demo" --no-log --keep-alive-timeout 600 >"$folder/out" &
pids+=($!)
read -r line <"$folder/out"
url=${line#listening on }

# run COUNT: leaves callgrind's file of a daemon that has served so many calls.
run() {
  local count=$1 socket=$folder/$1.sock out=$build/callgrind.$1.out
  valgrind --tool=callgrind --callgrind-out-file="$out" --log-file="$folder/valgrind.log" \
    "$daemon" --url "$url" --socket "$socket" --keepalive 0 --log-level warning &
  local pid=$!
  pids+=("$pid")
  for _ in $(seq 600); do [[ -S $socket ]] && break; sleep 0.1; done
  "$bench" calls "$socket" "$count"
  kill "$pid"
  wait "$pid"
}

instructions() { awk '/^(summary|totals):/ {print $2; exit}' "$build/callgrind.$1.out"; }

run "$few"
run "$many"
per_call=$((($(instructions $many) - $(instructions $few)) / (many - few)))
callgrind_annotate --threshold=100 "$build/callgrind.$many.out" >"$folder/annotated"
report=$build/callgrind.txt
{
  echo "instructions of one call: $per_call"
  echo
  echo "by object (whole run, $many calls and the start):"
  awk '/\[[^]]*\]$/ && $1 ~ /^[0-9,]+$/ {
         n = $1; gsub(",", "", n); object = $NF; sub(".*/", "", object); gsub(/[][]/, "", object)
         sum[object] += n; total += n
       }
       END {for (o in sum) printf "%6.2f%% %15d %s\n", 100 * sum[o] / total, sum[o], o}' "$folder/annotated" | sort -rn | head -12
  echo
  echo "the 25 functions with the most of their own:"
  awk '/\[[^]]*\]$/ && $1 ~ /^[0-9,]+$/' "$folder/annotated" | head -25 | cut -c1-200
} >"$report"
cat "$report"
echo "(written to $report)"
if ((limit > 0 && per_call > limit)); then
  echo "instructions of one call: $per_call, limit $limit: NOT OK"
  exit 1
fi
