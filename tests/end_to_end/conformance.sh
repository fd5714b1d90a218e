#!/usr/bin/env bash
# The public conformance suite against a server of the SDK by itself and through the HTTP face before it, in both eras.
#
#   bash tests/end_to_end/conformance.sh [--build DIR] [--direct] [--scenario NAME]
#
# --build DIR      the programs to judge (build/release, build/asan or build/dev, the first there is)
# --direct         the server alone, without a bridge
# --scenario NAME  one scenario of the suite, told in full
#
# Needs the network once, for npm. Its table, each check that was lost on the way, and an exit code of 1 if there is one.
# What the suite itself offers: conformance/README.md.
set -euo pipefail
cd "$(dirname "$0")/../.."
here=tests/end_to_end
# shellcheck source=tests/end_to_end/peers.sh
source $here/peers.sh

build='' direct='' scenario=''
while [ $# -gt 0 ]; do
  case $1 in
    --build) build=$2; shift ;;
    --direct) direct=yes ;;
    --scenario) scenario=$2; shift ;;
    *) sed -n '2,12s/^# \{0,1\}//p' "$0"; exit 64 ;;
  esac
  shift
done
if [ -z "$build" ]; then
  for one in build/release build/asan build/dev; do
    if [ -z "$build" ] && [ -x $one/daemon/mcp-bridged ]; then build=$one; fi
  done
fi

install_peers
if ! cmp -s $here/conformance/package-lock.json $here/conformance/node_modules/.installed-lock.json; then
  (cd $here/conformance && npm ci --no-audit --no-fund --loglevel=error </dev/null)
  cp $here/conformance/package-lock.json $here/conformance/node_modules/.installed-lock.json
fi
# The suite needs a newer Node than the peers do.
node=$MCP_E2E_NODE
if [ "$("$node" -p 'process.versions.node.split(".")[0]')" -lt 22 ]; then
  case $(uname -m) in
    x86_64) machine=x64 ;;
    aarch64) machine=arm64 ;;
    *) echo "Node 22 or newer is needed, and this is $("$node" --version)" >&2; exit 1 ;;
  esac
  node=$PWD/build/node22/node_modules/node-linux-$machine/bin/node
  [ -x "$node" ] || npm install --prefix build/node22 --no-audit --no-fund --loglevel=error "node-linux-$machine@22.23.3" </dev/null
fi

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

# judge NAME URL REVISION
judge() {
  local what=(--requirements "$3")
  [ -z "$scenario" ] || what=(--scenario "$scenario" --spec-version "$3" --verbose)
  echo "# $3: $1" >&2
  "$node" $here/conformance/node_modules/@modelcontextprotocol/conformance/dist/index.js server --url "$2" "${what[@]}" \
    -o "$work/$3-$1" >"$work/log-$3-$1" 2>&1 || true
  [ -z "$scenario" ] || cat "$work/log-$3-$1"
}

"$node" $here/conformance/server.mjs >"$work/server" 2>"$work/server.err" &
running+=("$!")
server=$(first_line "$work/server" $!)

names=(directly)
declare -A urls=([directly]=$server)
if [ -z "$direct" ]; then
  # The server is of both eras, so each of its halves is one upstream.
  for era in modern legacy; do
    # The suite's scenarios share the session, so it declares what any of them may be asked.
    "$build/daemon/mcp-bridged" --url "$server" --era $era --socket "$work/$era.sock" --http 127.0.0.1:0 \
      --client-capabilities '{"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{}}' \
      >"$work/$era" 2>"$work/$era.err" &
    pid=$!
    running+=("$pid")
    until url=$(grep -o 'HTTP face on http[^ ]*' "$work/$era.err" | head -1) && [ -n "$url" ]; do
      kill -0 $pid 2>/dev/null || { cat "$work/$era.err" >&2; exit 1; }
      sleep 0.05
    done
    names+=("$era")
    urls[$era]=${url#HTTP face on }
  done
fi

code=0
for revision in 2026-07-28 2025-11-25; do
  runs=()
  for name in "${names[@]}"; do
    judge "$name" "${urls[$name]}" $revision
    runs+=("${name/#directly/the server itself}=$work/$revision-$name")
  done
  echo
  echo "Revision $revision; the other columns are the HTTP face before it, with the server's modern and its legacy half"
  echo
  python3 $here/conformance/compare.py "${runs[@]}" || code=1
done
exit $code
