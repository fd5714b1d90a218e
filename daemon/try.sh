#!/usr/bin/env bash
# Builds the two programs (build/release) and the demo upstream (build/demo), and shows the main job by
# demo.sh. As root or with sudo, on Debian 12 or 13; it needs nothing that the tests need. Everything it
# starts ends with it.
set -euo pipefail
cd "$(dirname "$0")/.."

packages="g++ cmake ninja-build pkg-config libasio-dev libcurl4-openssl-dev libcpp-httplib-dev
  libsimdjson-dev libfmt-dev libspdlog-dev libtomlplusplus-dev prometheus-cpp-dev libssl-dev zlib1g-dev libbrotli-dev"
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

echo "== running daemon/demo.sh"
PATH=$PWD/build/release/daemon:$PWD/build/release/client:$PATH bash daemon/demo.sh build/demo/tests/support/demo-upstream
printf '\n== All of it has ended. To go on by yourself, before a server of yours:\n\n'
# shellcheck disable=SC2016  # it is for who pastes it
printf 'export PATH=%q:%q:$PATH\n' "$PWD/build/release/daemon" "$PWD/build/release/client"
echo 'mcp-nc --url https://example.com/mcp tools'
