#!/usr/bin/env bash
# Builds the .deb in a Debian 12 and a Debian 13, installs it in a bare one, starts the daemon from it,
# removes and purges it. As root, with the network; a few minutes the first time.
#
#   bash tests/packages/run.sh [SUITE …]
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=tests/packages/roots.sh
. tests/packages/roots.sh

children=()
finish() {
  local child
  for child in "${children[@]}"; do kill "$child" 2>/dev/null || true; done
  wait 2>/dev/null || true
  leave_roots
}
trap finish EXIT

passed() { printf '   ok: %s\n' "$*"; }

# What every installation has, relative to the prefix.
expected_files=(bin/mcp-bridged bin/mcp-nc
  lib/systemd/system/mcp-bridged.service lib/systemd/system/mcp-bridged.socket
  lib/systemd/system/mcp-bridged@.service lib/systemd/system/mcp-bridged@.socket
  lib/systemd/system/mcp-bridged-child@.service lib/systemd/system/mcp-bridged-child@.socket
  lib/sysusers.d/mcp-bridged.conf share/man/man8/mcp-bridged.8 share/man/man1/mcp-nc.1
  share/bash-completion/completions/mcp-bridged share/bash-completion/completions/mcp-nc
  share/zsh/vendor-completions/_mcp-bridged share/zsh/vendor-completions/_mcp-nc
  share/fish/vendor_completions.d/mcp-bridged.fish share/fish/vendor_completions.d/mcp-nc.fish)

check_installed_tree() {
  local file
  for file in "${expected_files[@]}"; do
    [ -s "$scratch/$1-installed/$file" ] || fail "cmake --install left no $file"
  done
  passed "cmake --install puts everything under the prefix it is given"
}

check_package() {
  local deb=$scratch/$1.deb size
  size=$(dpkg-deb --field "$deb" Installed-Size)
  [ "$size" -lt 3000 ] || fail "the package takes $size KiB"
  passed "installed it takes $size KiB"
  # Who maintains it is for those to say who publish it.
  lintian --fail-on error,warning --allow-root \
    --suppress-tags bogus-mail-host,bogus-mail-host-in-debian-changelog,root-in-contact "$deb" || fail "lintian"
  passed "lintian has nothing to say"
}

inside() { LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive chroot "$root" "$@"; }

# Every path there is, but for what apt and dpkg keep for themselves.
all_paths() {
  inside find / -xdev \( -path /var/lib/apt -o -path /var/lib/dpkg -o -path /var/cache -o -path /var/log \
    -o -path /tmp -o -path '/etc/*-' -o -path /proc -o -path /dev \) -prune -o -print | sort
}

check_running() {
  local url socket=/run/mcp/mcp.sock
  url=$(sed -n 's/^listening on //p;q' "$scratch/upstream")
  mkdir -p "$root/run/mcp"
  inside chown mcp-bridged: /run/mcp
  # No function here: the number of the job has to be the daemon's.
  MCP_SERVER_URL=$url chroot "$root" setpriv --reuid mcp-bridged --regid mcp-bridged --init-groups \
    mcp-bridged --socket $socket --socket-mode 0660 2>"$scratch/daemon.log" &
  local daemon=$!
  children+=("$daemon")
  [ "$(inside mcp-nc -s $socket --wait 20 call echo message="from the package")" = "from the package" ] ||
    { cat "$scratch/daemon.log" >&2; fail "no tool can be called through the installed daemon"; }
  inside useradd --groups mcp-bridged friend
  inside useradd stranger
  inside setpriv --reuid friend --regid friend --init-groups mcp-nc -s $socket status >/dev/null ||
    fail "a member of the group is refused"
  if inside setpriv --reuid stranger --regid stranger --init-groups mcp-nc -s $socket status 2>/dev/null; then
    fail "a stranger is served"
  fi
  inside userdel friend
  inside userdel stranger
  kill "$daemon"
  wait "$daemon" || fail "the daemon ended with $?: $(cat "$scratch/daemon.log")"
  rm -r "$root/run/mcp"
  passed "the installed daemon serves, its group may use it, and nobody else"
}

check_life() {
  local suite=$1
  make_root "$suite" plain
  overlay "$suite" "$roots/$suite"
  root=$scratch/$suite/root
  with_kernel "$root"
  say "installing it in a bare $suite"
  cp "$scratch/$suite.deb" "$root/tmp/bridge.deb"
  inside apt-get -qq update
  # What it depends on stays when it is removed, so it is there before anything is compared.
  inside sh -ec 'apt-get -qq -y install --no-install-recommends /tmp/bridge.deb && apt-get -qq -y purge mcp-session-bridge' \
    >"$scratch/apt" 2>&1 </dev/null || { cat "$scratch/apt" >&2; fail "the first installation"; }
  all_paths >"$scratch/before"

  inside dpkg -i /tmp/bridge.deb >"$scratch/dpkg" 2>&1 || { cat "$scratch/dpkg" >&2; fail "dpkg -i"; }
  inside id mcp-bridged >/dev/null || fail "there is no user"
  [ "$(inside stat -c '%a %U %G' /etc/mcp-bridged)" = "750 root mcp-bridged" ] || fail "the mode of /etc/mcp-bridged"
  inside mcp-nc --version >/dev/null || fail "mcp-nc does not run"
  inside mcp-bridged --version >/dev/null || fail "mcp-bridged does not run"
  passed "it installs, with its user"
  check_running

  echo '# changed by hand' >>"$root/etc/mcp-bridged/mcp-bridged.env"
  inside dpkg -i /tmp/bridge.deb >/dev/null 2>&1 || fail "installing it again"
  grep -q 'changed by hand' "$root/etc/mcp-bridged/mcp-bridged.env" || fail "a changed file was overwritten"
  inside apt-get -qq -y remove mcp-session-bridge >/dev/null 2>&1 </dev/null || fail "remove"
  grep -q 'changed by hand' "$root/etc/mcp-bridged/mcp-bridged.env" || fail "remove took the configuration"
  [ ! -e "$root/usr/bin/mcp-bridged" ] || fail "remove left the program"
  passed "a changed configuration outlives upgrade and removal"

  inside apt-get -qq -y purge mcp-session-bridge >/dev/null 2>&1 </dev/null || fail "purge"
  if inside id mcp-bridged 2>/dev/null; then fail "purge left the user"; fi
  all_paths >"$scratch/after"
  diff "$scratch/before" "$scratch/after" || fail "purge left something"
  passed "purge leaves nothing"
}

suites=("$@")
[ ${#suites[@]} -gt 0 ] || suites=(bookworm trixie)
needs debootstrap debootstrap lintian lintian setpriv util-linux cmake cmake ninja ninja-build

say "the demo upstream"
cmake --preset release -DMCP_BRIDGE_TESTS=ON >/dev/null
cmake --build --preset release --target demo-upstream >/dev/null
build/release/tests/support/demo-upstream >"$scratch/upstream" &
children+=($!)
until [ -s "$scratch/upstream" ]; do sleep 0.05; done

for suite in "${suites[@]}"; do
  build_package "$suite"
  check_installed_tree "$suite"
  check_package "$suite"
  check_life "$suite"
done
say "all passed: ${suites[*]}"
