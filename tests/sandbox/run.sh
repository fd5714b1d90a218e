#!/usr/bin/env bash
# Calls a tool from inside the Linux sandbox of coding agents (npm @anthropic-ai/sandbox-runtime with bubblewrap): through
# the socket, through pipes, and where neither is possible. As root, with the registries of Debian and npm; a minute.
#
#   bash tests/sandbox/run.sh [BUILD]     the programs of BUILD, by default build/release; the server of build/demo
#
# Exit code 77: the sandbox cannot be installed or does not start here; the last line says why.
set -euo pipefail
cd "$(dirname "$0")/../.."
readonly build=$PWD/${1:-build/release} version=0.0.83 installed=$PWD/build/sandbox

not_run() { echo "$*"; exit 77; }
passed() { printf 'ok: %s\n' "$*"; }
fail() { printf 'FAILED: %s\n' "$*" >&2; exit 1; }

[ "$(uname)" = Linux ] || not_run "needs Linux"
command -v npm >/dev/null || not_run "needs node and npm"
missing=()
for pair in bwrap:bubblewrap socat:socat rg:ripgrep; do
  command -v "${pair%:*}" >/dev/null || missing+=("${pair#*:}")
done
if [ ${#missing[@]} -gt 0 ]; then
  [ "$(id -u)" -eq 0 ] || not_run "needs ${missing[*]}"
  { apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q -y install --no-install-recommends "${missing[@]}"; } </dev/null ||
    not_run "cannot install ${missing[*]}"
fi
npm install --silent --no-save --no-audit --no-fund --prefix "$installed" "@anthropic-ai/sandbox-runtime@$version" ||
  not_run "cannot install @anthropic-ai/sandbox-runtime $version"
srt=$installed/node_modules/.bin/srt

scratch=$(mktemp -d)
mkdir "$scratch/writable" "$scratch/elsewhere"
children=()
finish() {
  local child
  for child in "${children[@]}"; do kill "$child" 2>/dev/null || true; done
  wait 2>/dev/null || true
  rm -rf "$scratch"
}
trap finish EXIT

# settings NAME ALLOW_ALL_UNIX_SOCKETS
settings() {
  printf '{"network":{"allowedDomains":[],"deniedDomains":[],"allowAllUnixSockets":%s},
    "filesystem":{"denyRead":[],"allowWrite":["%s/writable"],"denyWrite":[]}}' "$2" "$scratch" >"$scratch/$1.json"
}
settings usual false
settings open true
export PATH=$build/client:$PATH
unset MCP_SOCKET_PATH MCP_PIPES_PATH
inside() { "$srt" --settings "$scratch/$1.json" -c "$2" </dev/null >"$scratch/out" 2>"$scratch/err"; }
inside usual true || not_run "the sandbox does not start here: $(tail -1 "$scratch/err")"

build/demo/tests/support/demo-upstream --no-log >"$scratch/upstream" &
children+=($!)
until grep -q listening "$scratch/upstream"; do
  kill -0 $! 2>/dev/null || fail "no demo upstream: cmake --preset demo && cmake --build --preset demo"
  sleep 0.05
done
url=$(sed -n 's/^listening on //p' "$scratch/upstream")

# serve SOCKET [OPTION…]
serve() {
  "$build/daemon/mcp-bridged" --url "$url" --socket "$@" 2>>"$scratch/log" &
  children+=($!)
  mcp-nc -s "$1" --wait 20s ping >/dev/null
}
serve "$scratch/writable/with" --pipes
serve "$scratch/elsewhere/with" --pipes
serve "$scratch/writable/without"

# row NAME SETTINGS CODE COMMAND STDOUT STDERR: the last two are patterns of the only line, or empty.
row() {
  local name=$1 code=0 said
  inside "$2" "$4" || code=$?
  [ "$code" -eq "$3" ] || fail "$name: exit code $code, not $3: $(cat "$scratch/out" "$scratch/err")"
  for said in "out=$5" "err=$6"; do
    if [ -z "${said#*=}" ]; then
      [ ! -s "$scratch/${said%%=*}" ] || fail "$name: std${said%%=*}: $(cat "$scratch/${said%%=*}")"
    else
      { [ "$(wc -l <"$scratch/${said%%=*}")" -eq 1 ] && grep -Eq "${said#*=}" "$scratch/${said%%=*}"; } ||
        fail "$name: std${said%%=*}: $(cat "$scratch/${said%%=*}")"
    fi
  done
  passed "$name: exit code $code $(cat "$scratch/out" "$scratch/err")"
}
readonly call='call echo message=hi' ask='{"jsonrpc":"2.0","id":1,"method":"ping"}'
row "the folder of pipes by name" usual 0 "mcp-nc -s $scratch/writable/with.pipes $call" '^hi$' ''
row "the pipes beside the socket" usual 0 "mcp-nc -s $scratch/writable/with $call" '^hi$' ''
row "the pipes of a variable" usual 0 "MCP_PIPES_PATH=$scratch/writable/with.pipes mcp-nc $call" '^hi$' ''
row "the relay" usual 0 "echo '$ask' | mcp-nc -s $scratch/writable/with" '"id":1' ''
row "no pipes" usual 3 "mcp-nc -s $scratch/writable/without $call" '' 'this sandbox forbids Unix sockets; .*--pipes DIR.*settings'
row "pipes where nothing may be written" usual 3 "mcp-nc -s $scratch/elsewhere/with $call" '' 'cannot make pipes in .*Read-only file system'
row "sockets are allowed" open 0 "mcp-nc -s $scratch/writable/without $call" '^hi$' ''
[ "$(ls -A "$scratch/writable/with.pipes")" = .lock ] || fail "left in the folder: $(ls -A "$scratch/writable/with.pipes")"
passed "nothing is left in the folder"
