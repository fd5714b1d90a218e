#!/usr/bin/env bash
# Counts the daemon's instructions for one call, beside those of the bare relay: two runs of different
# length, and the difference, so that start and end cancel out. Called by run.sh.
#   callgrind.sh DAEMON BENCH_FOLDER BUILD_FOLDER
set -euo pipefail
daemon=$1 bench=$2 build=$3
few=500
many=2500
# Over the bare relay's, in the same run. What it is worth to go over it has to be said.
limit_percent=140
session=00000000-0000-4000-8000-000000000000  # bench-upstream's

folder=$(mktemp -d)
pids=()
cleanup() {
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
  wait
  rm -rf "$folder"
}
trap cleanup EXIT

mkfifo "$folder/out"
"$bench/bench-upstream" >"$folder/out" &
pids+=($!)
read -r line <"$folder/out"
url=${line#listening on }

# run NAME COUNT COMMAND…: leaves callgrind's file of what has served so many calls on $folder/NAME.
run() {
  local name=$1 count=$2 socket=$folder/$1
  shift 2
  rm -f "$socket"
  valgrind --tool=callgrind --callgrind-out-file="$build/callgrind.$name.$count" \
    --log-file="$folder/valgrind.log" "$@" &
  local pid=$!
  pids+=("$pid")
  for _ in $(seq 600); do [[ -S $socket ]] && break; sleep 0.1; done
  "$bench/bridge-bench" calls "$socket" "$count"
  kill "$pid"
  wait "$pid" || true  # the bare relay just dies
}

instructions() { awk '/^(summary|totals):/ {print $2; exit}' "$build/callgrind.$1"; }

for count in $few $many; do
  run daemon "$count" "$daemon" --url "$url" --socket "$folder/daemon" --keepalive 0 --log-level warning
  run bare "$count" "$bench/bare-relay" "$folder/bare" "$url" "$session"
done
daemon_call=$((($(instructions daemon.$many) - $(instructions daemon.$few)) / (many - few)))
bare_call=$((($(instructions bare.$many) - $(instructions bare.$few)) / (many - few)))
percent=$((100 * daemon_call / bare_call))

functions() { awk '/\[[^]]*\]$/ && $1 ~ /^[0-9,]+$/' "$folder/annotated"; }
callgrind_annotate --threshold=100 "$build/callgrind.daemon.$many" >"$folder/annotated"
report=$build/callgrind.txt
{
  echo "instructions of one call: $daemon_call; of the bare relay's: $bare_call"
  echo
  echo "by object ($many calls, and the start):"
  functions | awk '{n = $1; gsub(",", "", n); object = $NF; sub(".*/", "", object); sub("]$", "", object)
                    sum[object] += n; total += n}
                   END {for (o in sum) if (sum[o] > total / 1000)
                          printf "%6.2f%% %15d %s\n", 100 * sum[o] / total, sum[o], o}' | sort -rn
  echo
  echo "the 25 functions with the most of their own:"
  functions | awk 'NR <= 25 {print substr($0, 1, 220)}'
} >"$report"
cat "$report"
echo "(written to $report)"
echo
verdict=ok
((percent <= limit_percent)) || verdict="NOT OK"
echo "instructions of one call, daemon/bare relay: $percent %, limit $limit_percent %: $verdict"
[[ $verdict == ok ]]
