#!/usr/bin/env bash
# Builds everything, starts the demo upstream and the daemon, and shows the main job: two short-lived
# clients that share one session, and the notifications that came between them.
# As root or with sudo, on Debian 12 or 13. Everything it starts ends with it.
set -euo pipefail
cd "$(dirname "$0")/.."

packages="g++ cmake ninja-build pkg-config libasio-dev libcurl4-openssl-dev libcpp-httplib-dev
  libsimdjson-dev libfmt-dev libspdlog-dev libcli11-dev prometheus-cpp-dev libssl-dev zlib1g-dev libbrotli-dev doctest-dev"
missing=
for package in $packages; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=" $package"
done
if [ -n "$missing" ]; then
  sudo=; [ "$(id -u)" = 0 ] || sudo=sudo
  echo "== installing:$missing"
  $sudo apt-get update -qq
  # shellcheck disable=SC2086  # a list of names
  DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends $missing >/dev/null
fi

echo "== building"
cmake --preset release -DMCP_BRIDGE_TESTS=ON >/dev/null
cmake --build --preset release --target mcp-bridged mcp-nc demo-upstream

work=$(mktemp -d)
children=()
finish() {
  for child in "${children[@]}"; do kill "$child" 2>/dev/null || true; done
  wait 2>/dev/null || true
  rm -rf "$work"
}
trap finish EXIT

build/release/tests/support/demo-upstream >"$work/upstream" 2>&1 &
children+=($!)
until [ -s "$work/upstream" ]; do sleep 0.05; done
url=$(sed -n 's/^listening on //p;q' "$work/upstream")

export MCP_SOCKET_PATH=$work/mcp.sock
MCP_SERVER_URL=$url build/release/daemon/mcp-bridged 2>"$work/log" &
children+=($!)

nc=build/release/client/mcp-nc
show() { printf '\n$ mcp-nc %s\n' "$*"; "$nc" "$@"; }

echo "== the upstream is $url, the bridge is on \$MCP_SOCKET_PATH"
"$nc" --wait 10 status >/dev/null

printf '\n# A short-lived client opens the session with its first call, and is gone.'
show call echo message="hello from process one"
printf '\n# It asks for three seconds of notifications, and is gone before the first one comes.'
show call ticker seconds:=3 intervalMs:=1000
printf '\n# Nobody is connected now. The notifications wait in the ring.\n'
newest() { "$nc" status --json | grep -o '"newest": *[0-9]*' | grep -o '[0-9]*$'; }
for _ in $(seq 100); do [ "$(newest)" -ge 4 ] && break; sleep 0.1; done
printf '\n# The next client has them before anything else, in the order they came.'
show listen --count 4 --for 5s
printf '\n# One session for all of them: the upstream has seen one initialize.'
show status

printf '\n# No client needed either: one line in, one line out.\n'
printf '$ python3 - <<…\n'
command -v python3 >/dev/null && python3 - <<'PY'
import json, os, socket
s = socket.socket(socket.AF_UNIX); s.connect(os.environ["MCP_SOCKET_PATH"])
s.sendall(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
          "params": {"name": "add", "arguments": {"a": 2, "b": 40}}}).encode() + b"\n")
print(json.loads(s.makefile().readline())["result"]["content"][0]["text"])
PY
printf '\n== the log of the daemon\n'
cat "$work/log"
