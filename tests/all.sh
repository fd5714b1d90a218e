#!/usr/bin/env bash
# Runs the suites that are not in tests/run.sh, and prints one line for each: passed, failed or not run, and why.
#
#   bash tests/all.sh [--for TIME] [NAME…]    all of them, or these; TIME is that of fuzz and soak, 10m by default
#   bash tests/all.sh --list                  their names, how long they take, and what they do
#
# They run one after the other. What a suite prints is in build/all/NAME.log. Exit code: 1 if one has failed, else 2 if one
# that was asked for was not run, else 0; 64 for wrong usage. A suite that exits with 77 was not run, for the reason in its
# last line.
set -uo pipefail
cd "$(dirname "$0")/.." || exit

usage() { sed -n '1d;/^#/!q;s/^# \{0,1\}//p' "$0" >&2; exit 64; }

# name | minutes on two cores, the first time more | what it needs | what it does
suites='
instructions |  2 |          | instructions of one operation against the recorded figures
alone        |  8 |          | each source and each header compiles alone
tidy         |  2 | clang-tidy | what .clang-tidy asks for
conformance  |  9 | npm      | the public conformance suite, directly and through the bridge
login        |  2 | npm      | the authorization scenarios of the public conformance suite
fuzz         |    |          | the stateful fuzzer with random seeds, for TIME
crash        | 20 |          | 400 kills of a daemon under load before each kind of server
soak         |    |          | fuzzer and crash test in turns, for TIME
packages     | 15 | root     | the life of the package in a bare Debian 12 and 13
release      | 70 | root     | the files of a release for amd64 and arm64, in bare Debians, other layouts and an empty root
arm64        | 30 | root     | unit tests and end-to-end tests of the programs for arm64, with qemu
systemd      | 15 | root     | the units of the package in a booted Debian 12 and 13
containers   | 15 | root     | the image, the recipes, compose.yaml and kubernetes.yaml with podman
sandbox      |  1 | npm root | mcp-nc inside the Linux sandbox of coding agents
bare         | 60 | root     | the two commands of the README in a bare Debian 12 and 13
bench        |  6 | idle     | the parts of the benchmark against their limits
state        |  3 | idle     | what --state-dir costs, against its limits
face         |  3 | npm idle | the HTTP frontend beside other gateways
'

# build PRESET …: into the log of the suite.
build() {
  local preset launcher=()
  if command -v ccache >/dev/null; then launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
  for preset in "$@"; do
    cmake --preset "$preset" "${launcher[@]}" && cmake --build --preset "$preset" || return
  done
}

run() {
  case $1 in
    instructions) bash tests/bench/run.sh --instructions ;;
    alone | tidy) cmake --preset asan -DMCP_BRIDGE_UNITY=ON && python3 "tests/structure/$1.py" build/asan ;;
    conformance) build release && bash tests/end_to_end/conformance.sh --build build/release ;;
    login) build release && bash tests/end_to_end/login_conformance.sh --build build/release ;;
    fuzz)
      build release asan &&
        MCP_BRIDGED=$PWD/build/asan/daemon/mcp-bridged MCP_BRIDGED_RELEASE=$PWD/build/release/daemon/mcp-bridged \
          python3 tests/fuzz/stateful/run.py --seconds "$seconds" --go-on ;;
    crash) bash tests/crash/run.sh ;;
    soak) bash tests/soak.sh "${seconds}s" ;;
    packages) bash tests/packages/run.sh ;;
    release) bash tests/packages/release.sh --arch amd64,arm64 --twice ;;
    arm64)
      # Those of this commit, if they are there.
      log=$(git -c safe.directory='*' rev-parse --git-path logs/HEAD) &&
        { [ build/dist/SHA256SUMS -nt "$log" ] && grep -q arm64 build/dist/SHA256SUMS || bash docker/release.sh --arch amd64,arm64; } &&
        bash tests/packages/arm64.sh ;;
    systemd) bash tests/systemd/run.sh bookworm && bash tests/systemd/run.sh trixie ;;
    containers) bash tests/containers/run.sh ;;
    sandbox) build release demo && bash tests/sandbox/run.sh ;;
    bare) bash tests/bare/run.sh ;;
    bench) bash tests/bench/run.sh --parts ;;
    state) bash tests/bench/run.sh --state ;;
    face) bash tests/bench/face.sh ;;
  esac
}

# prevented NEED…: prints why a suite with these needs cannot run here.
prevented() {
  local need load
  for need in "$@"; do
    case $need in
      root) [ "$(id -u)" -eq 0 ] || echo "needs root" ;;
      npm) { command -v npm && command -v node; } >/dev/null || echo "needs node and npm" ;;
      clang-tidy) command -v clang-tidy-14 >/dev/null || echo "needs clang-tidy-14" ;;
      idle)
        read -r load _ </proc/loadavg
        awk -v load="$load" -v cores="$(nproc)" 'BEGIN { exit load > cores }' ||
          echo "needs an idle machine, and the load is $load" ;;
    esac
  done | head -1
}

field() { awk -F' *[|] *' -v name="$1" -v column="$2" '$1 == name { print $column }' <<<"$suites"; }

mapfile -t names < <(awk -F' *[|]' 'NF > 1 { print $1 }' <<<"$suites")
asked=() seconds=600
while [ $# -gt 0 ]; do
  case $1 in
    --list)
      for name in "${names[@]}"; do
        minutes=$(field "$name" 2)
        printf '%-13s %7s  %-10s %s\n' "$name" "${minutes:-TIME}${minutes:+ min}" "$(field "$name" 3)" "$(field "$name" 4)"
      done
      exit 0 ;;
    --for)
      [[ ${2:-} =~ ^([0-9]+)([smh])$ ]] || usage
      case ${BASH_REMATCH[2]} in s) unit=1 ;; m) unit=60 ;; h) unit=3600 ;; esac
      seconds=$((BASH_REMATCH[1] * unit))
      shift ;;
    -*) usage ;;
    *)
      [ -n "$(field "$1" 4)" ] || { echo "tests/all.sh: no suite '$1'; --list names them" >&2; exit 64; }
      asked+=("$1") ;;
  esac
  shift
done
[ ${#asked[@]} -gt 0 ] || asked=("${names[@]}")

logs=build/all
mkdir -p "$logs"
code=0
ended=

# tell NAME OUTCOME SECONDS [REASON]
tell() { printf '%-13s %-8s %3d min %02d s%s\n' "$1" "$2" $(($3 / 60)) $(($3 % 60)) "${4:+  $4}"; }

# A suite is a job with a process group of its own, so that all of it is interrupted, and then waited for.
set -m
pid=
# shellcheck disable=SC2317  # called by a trap
interrupt() {
  ended=$1
  [ -z "$pid" ] || kill -INT -- "-$pid" 2>/dev/null || true
}
trap 'interrupt 129' HUP
trap 'interrupt 130' INT
trap 'interrupt 143' TERM
for name in "${names[@]}"; do
  if [[ " ${asked[*]} " != *" $name "* ]]; then
    tell "$name" "not run" 0 "not asked for"
    continue
  fi
  reason=${ended:+interrupted}
  # shellcheck disable=SC2046  # a list
  [ -n "$reason" ] || reason=$(prevented $(field "$name" 3))
  if [ -n "$reason" ]; then
    tell "$name" "not run" 0 "$reason"
    [ $code -ne 0 ] || code=2
    continue
  fi
  began=$SECONDS log=$logs/$name.log
  run "$name" >"$log" 2>&1 </dev/null &
  pid=$!
  # A signal ends wait, not the suite.
  until wait $pid; outcome=$?; ! kill -0 $pid 2>/dev/null; do :; done
  pid=
  took=$((SECONDS - began))
  case ${ended:-$outcome} in
    0) tell "$name" passed $took ;;
    77)
      tell "$name" "not run" $took "$(tail -n 1 "$log")"
      [ $code -ne 0 ] || code=2 ;;
    *)
      tell "$name" failed $took "${ended:+interrupted; }exit code $outcome; $log"
      # What a suite itself calls a failure, else its last words.
      { grep -E 'FAILED|VIOLATION|NOT OK' "$log" || tail -n 5 "$log"; } | head -20 | sed 's/^/    /'
      code=1 ;;
  esac
done
exit "${ended:-$code}"
