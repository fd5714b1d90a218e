#!/usr/bin/env bash
# Builds everything and runs all tests, on a bare Debian 12 or 13 too: what is missing is installed.
# The last thing it prints is ctest's summary, and its exit code is ctest's.
#
#   bash tests/run.sh [ctest's options, for example -R e2e.ring]
set -euo pipefail
cd "$(dirname "$0")/.."

# shellcheck source=tests/end_to_end/peers.sh
. tests/end_to_end/peers.sh
# shellcheck source=tests/packages/needed.sh
. tests/packages/needed.sh

say() { printf '\n== %s (after %d s)\n' "$*" $SECONDS; }

# One package a line, for what is not there.
missing() {
  missing_tools <<<"$build_tools"
  missing_tools <<'TOOLS'
python3 python3
socat socat
node nodejs
npm npm
ps procps
openssl openssl
curl curl
nginx nginx-light
setpriv util-linux
zsh zsh
fish fish
man man-db
systemd-analyze systemd
podman-compose podman-compose
valgrind valgrind
gdb gdb
TOOLS
  # The traditional netcat has the same name and no Unix sockets.
  nc -h 2>&1 | grep -q -- '-U' || echo netcat-openbsd
  missing_packages "${build_libraries[@]}" doctest-dev python3-yaml
}

# What only looks at the sources, of the one version that says how they look.
source_tools() {
  command -v clang-format-14 >/dev/null || ! apt-cache show clang-format-14 >/dev/null 2>&1 || echo clang-format-14
}

install_missing() {
  local packages tools
  mapfile -t packages < <(missing)
  [ ${#packages[@]} -eq 0 ] || as_root apt-get -q update
  mapfile -t tools < <(source_tools)
  install_packages "${packages[@]}" "${tools[@]}"
}

# Only the one program that checks metrics and rules: in Debian 13 a package of its own, in Debian 12 a part
# of prometheus (96 MB, and a service).
install_promtool() {
  ! command -v promtool >/dev/null || return 0
  local folder=$PWD/build/promtool package=promtool
  if [ ! -x "$folder/promtool" ]; then
    say "promtool"
    as_root apt-get -q update
    apt-cache show promtool >/dev/null 2>&1 || package=prometheus
    rm -rf "$folder" && mkdir -p "$folder"
    (cd "$folder" && apt-get -q download $package && dpkg-deb --fsys-tarfile ${package}_*.deb |
      tar -x --strip-components=3 ./usr/bin/promtool && rm ${package}_*.deb)
  fi
  export PATH=$PATH:$folder
}

build() {
  local preset=$1
  shift
  say "building $preset"
  local launcher=()
  if command -v ccache >/dev/null; then launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
  cmake --preset "$preset" "${launcher[@]}" "$@"
  cmake --build --preset "$preset"
}

mkdir -p build
install_missing
say "the peers from npm"
install_peers
install_promtool
build release
# That each file compiles alone, and what clang-tidy finds, are suites of their own (tests/all.sh alone tidy).
build asan -DMCP_BRIDGE_RELEASE_DIR="$PWD/build/release" -DMCP_BRIDGE_UNITY=ON

say "testing"
export CTEST_OUTPUT_ON_FAILURE=1
# Most of them mostly wait.
parallel=$((2 * $(nproc)))
exec ctest --test-dir build/asan --parallel $((parallel < 16 ? parallel : 16)) --timeout 900 "$@" </dev/null
