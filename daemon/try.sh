#!/usr/bin/env bash
# Builds the two programs (build/release) and the demo upstream (build/demo), starts them, and shows the
# main job: short-lived clients that share one session, and the notifications that came between them.
# As root or with sudo, on Debian 12 or 13; it needs nothing that the tests need. Everything it starts
# ends with it.
set -euo pipefail
cd "$(dirname "$0")/.."

packages="g++ cmake ninja-build pkg-config libasio-dev libcurl4-openssl-dev libcpp-httplib-dev
  libsimdjson-dev libfmt-dev libspdlog-dev libcli11-dev prometheus-cpp-dev libssl-dev zlib1g-dev libbrotli-dev"
missing=
for package in $packages; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=" $package"
done
if [ -n "$missing" ]; then
  sudo=; [ "$(id -u)" = 0 ] || sudo=sudo
  echo "== installing:$missing"
  $sudo apt-get update -qq
  # shellcheck disable=SC2086  # a list of names
  $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
fi

echo "== building"
cmake --preset release >/dev/null
cmake --build --preset release --target mcp-bridged mcp-nc
cmake --preset demo >/dev/null
cmake --build --preset demo

work=$(mktemp -d)
children=()
finish() {
  for child in "${children[@]}"; do kill "$child" 2>/dev/null || true; done
  wait 2>/dev/null || true
  rm -rf "$work"
}
trap finish EXIT

build/demo/tests/support/demo-upstream >"$work/upstream" 2>&1 &
children+=($!)
until [ -s "$work/upstream" ]; do sleep 0.05; done
url=$(sed -n 's/^listening on //p;q' "$work/upstream")

export PATH=$PWD/build/release/daemon:$PWD/build/release/client:$PATH
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
printf '\n== All of it has ended. To go on by yourself, before a server of yours:\n\n'
# shellcheck disable=SC2016  # it is for who pastes it
printf 'export PATH=%q:%q:$PATH\n' "$PWD/build/release/daemon" "$PWD/build/release/client"
echo 'MCP_SERVER_URL=https://example.com/mcp mcp-bridged &'
echo 'mcp-nc tools'
