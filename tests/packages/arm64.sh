#!/usr/bin/env bash
# The programs for arm64 on an amd64 machine, under qemu: the unit tests, built by Debian's cross compiler, and end-to-end
# tests of the released folder. As root, with the network. It registers qemu with the kernel, and takes that back.
#
#   bash tests/packages/arm64.sh [--dist FOLDER] [--no-units] [TEST…]
#
# FOLDER (default build/dist) is of docker/release.sh. TEST: of tests/end_to_end, without test_ and .py.
set -euo pipefail
cd "$(dirname "$0")/../.."
dist=build/dist units=yes tests=()
while [ $# -gt 0 ]; do
  case $1 in
    --dist) dist=$2; shift ;;
    --no-units) units= ;;
    -*) sed -n '1d;/^#/!q;s/^# \{0,1\}//p' "$0" >&2; exit 64 ;;
    *) tests+=("$1") ;;
  esac
  shift
done
# What a program for another processor could get wrong: bytes, numbers, descriptors, clocks. Not local servers and the
# upgrade in place: qemu 7.2 has neither PR_SET_CHILD_SUBREAPER nor execveat.
[ ${#tests[@]} -gt 0 ] || tests=(routing ring session frames_bytes frames_refused nc_tools nc_verbs face_messages)
# shellcheck source=tests/packages/roots.sh
. tests/packages/roots.sh

readonly registry=/proc/sys/fs/binfmt_misc name=mcp-session-bridge-arm64
finish() {
  [ ! -e $registry/$name ] || echo -1 >$registry/$name
  leave_roots
}
trap finish EXIT
needs debootstrap debootstrap python3 python3 qemu-aarch64-static qemu-user-static

run_units() {
  make_root bookworm arm64 "${arm64_packages[@]}"
  say "the unit tests"
  overlay units "$roots/bookworm-arm64"
  local root=$scratch/units/root target
  with_kernel "$root"
  mount_at "$root/src" --bind -o ro "$PWD"
  mkdir -p "$roots/ccache/bookworm"
  mount_at "$root/ccache" --bind "$roots/ccache/bookworm"
  env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 CCACHE_DIR=/ccache chroot "$root" sh -ec '
    cmake -S /src -B /build -G Ninja -DCMAKE_TOOLCHAIN_FILE=/src/docker/arm64.cmake -DCMAKE_BUILD_TYPE=Release -DMCP_BRIDGE_UNITY=ON \
      -DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DMCP_BRIDGE_TESTS=ON -DMCP_BRIDGE_DOCUMENTS=OFF
    cmake --build /build --target daemon_tests client_tests' >"$scratch/units.log" 2>&1 || { tail -40 "$scratch/units.log" >&2; fail "the unit tests do not build"; }
  for target in daemon client; do
    env -i PATH=/usr/sbin:/usr/bin:/bin LC_ALL=C.UTF-8 HOME=/root chroot "$root" sh -c "cd /build/tests/unit/$target && exec qemu-aarch64-static ./${target}_tests" \
      >"$scratch/units.log" 2>&1 || { tail -60 "$scratch/units.log" >&2; fail "unit tests of $target"; }
    passed "$target: $(grep 'test cases' "$scratch/units.log")"
  done
}

# The kernel gives programs for arm64 to qemu, in every root: F opens it now.
register_qemu() {
  mountpoint -q $registry || mount -t binfmt_misc none $registry || fail "this kernel cannot be told what runs programs for arm64"
  grep -ls 'magic 7f454c46.*b700' $registry/* | grep -q . && return
  printf '%s' ":$name:M:0:"'\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00:\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff:'"$(command -v qemu-aarch64-static):FP" >$registry/register
}

run_end_to_end() {
  local test failed=()
  say "end to end"
  build_demo
  register_qemu
  tar -xzf "$dist"/mcp-session-bridge-*-linux-arm64.tar.gz -C "$scratch"
  sh "$scratch"/mcp-session-bridge-*-linux-arm64/install.sh --folder "$scratch/folder" --prefix "$scratch/prefix" >/dev/null
  for test in "${tests[@]}"; do
    if MCP_BRIDGED=$scratch/folder/bin/mcp-bridged MCP_NC=$scratch/folder/bin/mcp-nc DEMO_UPSTREAM=$demo_upstream LINKED_AND_EMPTY=/bin/true \
      python3 -B "tests/end_to_end/test_$test.py" >"$scratch/$test.log" 2>&1; then
      passed "$test: $(grep -o 'Ran [0-9]* tests*' "$scratch/$test.log")"
    else
      failed+=("$test")
      grep -E '^(FAIL|ERROR):|Error' "$scratch/$test.log" | head -20 >&2
    fi
  done
  [ ${#failed[@]} -eq 0 ] || fail "for arm64: ${failed[*]}"
}

[ -z "$units" ] || run_units
run_end_to_end
say "all passed"
