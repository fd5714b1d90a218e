#!/usr/bin/env bash
# The main job: short-lived clients that share one session, and the notifications that came between them.
# try.sh builds the programs first. Everything this starts ends with it.
#
#   bash daemon/demo.sh DEMO_UPSTREAM        with mcp-bridged and mcp-nc in the PATH
set -euo pipefail

work=$(mktemp -d)
children=()
finish() {
  for child in "${children[@]}"; do kill "$child" 2>/dev/null || true; done
  wait 2>/dev/null || true
  rm -rf "$work"
}
trap finish EXIT

"$1" >"$work/upstream" 2>&1 &
children+=($!)
until [ -s "$work/upstream" ]; do sleep 0.05; done
url=$(sed -n 's/^listening on //p;q' "$work/upstream")

export MCP_SOCKET_PATH=$work/mcp.sock
MCP_SERVER_URL=$url mcp-bridged 2>"$work/log" &
children+=($!)

# show COMMAND: what is printed is what is run.
show() {
  printf '\n$ %s\n' "$1"
  eval "$1"
}

echo "== the upstream is $url, the bridge is on \$MCP_SOCKET_PATH"
mcp-nc --wait 10 status >/dev/null

printf '\n# A short-lived client opens the session with its first call, and is gone.'
show 'mcp-nc call echo message="hello from process one"'
printf '\n# It asks for three seconds of notifications, and is gone before the first one comes.'
show 'mcp-nc call ticker seconds:=3 intervalMs:=1000'
printf '\n# Nobody is connected now. The notifications wait in the ring.\n'
newest() { mcp-nc status --json | grep -o '"newest": *[0-9]*' | grep -o '[0-9]*$'; }
for _ in $(seq 100); do [ "$(newest)" -ge 4 ] && break; sleep 0.1; done
printf '\n# The next client has them before anything else, in the order they came.'
show 'mcp-nc listen --count 4 --for 5s'
printf '\n# One session for all of them: the upstream has seen one initialize.'
show 'mcp-nc status'

printf '\n# No client needed either: one line in, one line out. Perl, since every Debian has it.'
show "perl -MIO::Socket::UNIX -e '\$s = IO::Socket::UNIX->new(\$ENV{MCP_SOCKET_PATH});
  print \$s qq({\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"add\",\"arguments\":{\"a\":2,\"b\":40}}}\\n);
  print scalar <\$s>'"
printf '\n== the log of the daemon\n'
cat "$work/log"
