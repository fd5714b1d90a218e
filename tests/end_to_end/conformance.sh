#!/usr/bin/env bash
# The public conformance suite against servers of the SDK that speak one era or both, by themselves and through the HTTP frontend.
#
#   bash tests/end_to_end/conformance.sh [--build DIR] [--direct] [--server NAME] [--suite NAME] [--scenario NAME]
#
# --build DIR      the programs to judge (build/release, build/asan or build/dev, the first there is)
# --direct         the server of both alone, without a bridge
# --server NAME    only the bridge before this one: both, legacy, modern, or shared (both, one daemon for all suites)
# --suite NAME     only this one: 2026-07-28, 2025-11-25 or 0.1.16
# --scenario NAME  one scenario of the suite, told in full
#
# Needs the network once, for npm. Its table, each check that was lost on the way, and an exit code of 1 if there is one.
# What the suite itself offers: conformance/README.md.
set -euo pipefail
cd "$(dirname "$0")/../.."
here=tests/end_to_end
# shellcheck source=tests/end_to_end/peers.sh
source $here/peers.sh

build='' direct='' scenario='' servers=(both shared legacy modern) suites=(2026-07-28 2025-11-25 0.1.16)
while [ $# -gt 0 ]; do
  case $1 in
    --build) build=$2; shift ;;
    --direct) direct=yes ;;
    --server) servers=("$2"); shift ;;
    --suite) suites=("$2"); shift ;;
    --scenario) scenario=$2; shift ;;
    *) sed -n '1d;/^#/!q;s/^# \{0,1\}//p' "$0"; exit 64 ;;
  esac
  shift
done
if [ -z "$build" ]; then
  for one in build/release build/asan build/dev; do
    if [ -z "$build" ] && [ -x $one/daemon/mcp-bridged ]; then build=$one; fi
  done
fi

install_peers
install_conformance
node=$conformance_node

work=$(mktemp -d)
running=()
# shellcheck disable=SC2317
finish() {
  for pid in "${running[@]}"; do kill "$pid" 2>/dev/null || true; done
  wait 2>/dev/null || true
  rm -rf "$work"
}
trap finish EXIT

# first_line FILE PID: what a program says when it is there.
first_line() {
  until [ -s "$1" ]; do
    kill -0 "$2" 2>/dev/null || { cat "$1"* >&2; return 1; }
    sleep 0.05
  done
  head -1 "$1"
}

# judge NAME URL SUITE
judge() {
  local modules=$here/conformance/node_modules program what
  if [ "$3" = 0.1.16 ]; then
    # It knows no requirements of a revision; all its scenarios are of 2025-11-25 and before.
    program=$modules/conformance-0.1.16/dist/index.js what=(--suite all)
    [ -z "$scenario" ] || what=(--scenario "$scenario" --verbose)
  else
    program=$modules/@modelcontextprotocol/conformance/dist/index.js what=(--requirements "$3")
    [ -z "$scenario" ] || what=(--scenario "$scenario" --spec-version "$3" --verbose)
  fi
  echo "# $3: $1" >&2
  mkdir -p "$work/$3-$1"
  "$node" "$program" server --url "$2" "${what[@]}" -o "$work/$3-$1" >"$work/log-$3-$1" 2>&1 || true
  [ -z "$scenario" ] || cat "$work/log-$3-$1"
}

# serve ERAS: a server that speaks them; its address is in $url.
serve() {
  "$node" $here/conformance/server.mjs "$1" >"$work/server-$1" 2>"$work/server-$1.err" &
  running+=("$!")
  url=$(first_line "$work/server-$1" $!)
}

# bridge NAME URL: a daemon before it, with the options that are the default; its address is in $url.
bridge() {
  "$build/daemon/mcp-bridged" --url "$2" --socket "$work/$1.sock" --http 127.0.0.1:0 >"$work/$1" 2>"$work/$1.err" &
  local pid=$!
  running+=("$pid")
  until url=$(grep -o 'HTTP frontend on http[^ ]*' "$work/$1.err" | head -1) && [ -n "$url" ]; do
    kill -0 $pid 2>/dev/null || { cat "$work/$1.err" >&2; exit 1; }
    sleep 0.05
  done
  url=${url#HTTP frontend on }
}

declare -A urls=()
serve both
urls[both]=$url
if [ -z "$direct" ]; then
  for eras in "${servers[@]}"; do
    case $eras in
      both) ;;
      shared) bridge shared "${urls[both]}"; urls[shared]=$url ;;
      *) serve "$eras"; urls[$eras]=$url ;;
    esac
  done
fi

code=0
for suite in "${suites[@]}"; do
  judge directly "${urls[both]}" "$suite"
  runs=("the server itself=$work/$suite-directly")
  if [ -z "$direct" ]; then
    # A daemon of its own for each suite, but for one: what a server speaks is found out by the first client of an era.
    for eras in "${servers[@]}"; do
      url=${urls[$eras]}
      [ "$eras" = shared ] || bridge "daemon-$suite-$eras" "$url"
      judge "bridged-$eras" "$url" "$suite"
      runs+=("$eras=$work/$suite-bridged-$eras")
    done
  fi
  echo
  echo "Suite $suite; the other columns are the bridge before a server of both eras, the same with one daemon for all suites, and of one era"
  echo
  known=$here/conformance/known-$suite.txt
  [ -f "$known" ] || known=/dev/null
  python3 $here/conformance/compare.py --known "$known" "${runs[@]}" || code=1
done
exit $code
