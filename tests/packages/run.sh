#!/usr/bin/env bash
# The package's life as systemd/README.md prints it: built in a bare Debian 12 and a bare Debian 13, installed
# in another bare one, the daemon started from it, removed and purged. As root, with the network; some minutes.
#
#   bash tests/packages/run.sh [SUITE …]
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=tests/packages/roots.sh
. tests/packages/roots.sh

trap finish EXIT


# What every installation has, relative to the prefix.
expected_files=(bin/mcp-bridged bin/mcp-nc
  lib/systemd/system/mcp-bridged.service lib/systemd/system/mcp-bridged.socket
  lib/systemd/system/mcp-bridged@.service lib/systemd/system/mcp-bridged@.socket
  lib/systemd/system/mcp-bridged-child@.service lib/systemd/system/mcp-bridged-child@.socket
  lib/systemd/system/mcp-bridged-handler@.service lib/sysusers.d/mcp-bridged.conf share/man/man8/mcp-bridged.8 share/man/man1/mcp-nc.1
  share/bash-completion/completions/mcp-bridged share/bash-completion/completions/mcp-nc
  share/zsh/vendor-completions/_mcp-bridged share/zsh/vendor-completions/_mcp-nc
  share/fish/vendor_completions.d/mcp-bridged.fish share/fish/vendor_completions.d/mcp-nc.fish)

# build_as_printed SUITE: leaves $scratch/SUITE-package/*.deb and $scratch/SUITE-installed.
build_as_printed() {
  local suite=$1 root=$scratch/$1-build/root number packages configure
  packages=$(printed systemd/README.md "The package" 1 | sed -n 1p)
  bare "$suite-build" "$suite"
  say "building the package in a bare $suite"
  as_printed "$root" "${packages/ file dpkg-dev/}"
  configure=$(printed systemd/README.md "The package" 1 | sed -n '2s/ &&.*//p')
  if as_printed "$root" "$configure" >"$scratch/refused" 2>&1; then fail "the preset is configured without file and dpkg-dev"; fi
  grep -q 'apt-get install file dpkg-dev' "$scratch/refused" || { cat "$scratch/refused" >&2; fail "what is missing is not named"; }
  passed "without file and dpkg-dev the preset is refused, and names them"

  as_printed "$root" "$packages"
  as_printed "$root" "$(printed systemd/README.md "The package" 1 | sed -n 2p)"
  # shellcheck source=/dev/null
  number=$(. "$root/etc/os-release" && echo "$VERSION_ID")
  mkdir "$scratch/$suite-package"
  cp "$root$clone"/build/package/mcp-session-bridge_*~deb"$number"_*.deb "$scratch/$suite-package" || fail "its name does not say which Debian it is for"
  dpkg-deb --field "$scratch/$suite-package"/*.deb Depends | grep -q libcurl4 || fail "it does not depend on its libraries"
  passed "it is built with the page's packages: $(basename "$scratch/$suite-package"/*.deb)"
  as_printed "$root" "cmake --install build/package --prefix /installed" >/dev/null
  cp -a "$root/installed" "$scratch/$suite-installed"
}

check_installed_tree() {
  local file
  for file in "${expected_files[@]}"; do
    [ -s "$scratch/$1-installed/$file" ] || fail "cmake --install left no $file"
  done
  passed "cmake --install puts everything under the prefix it is given"
}

check_package() {
  local deb size
  deb=$(echo "$scratch/$1-package"/*.deb)
  size=$(dpkg-deb --field "$deb" Installed-Size)
  # The daemon 3.3 MB, the static client 1.6: more would be symbols or a copy too many.
  [ "$size" -lt 6000 ] || fail "the package takes $size KiB"
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
  inside userdel stranger  # the friend stays in the group until the package is gone
  kill "$daemon"
  wait "$daemon" || fail "the daemon ended with $?: $(cat "$scratch/daemon.log")"
  rm -r "$root/run/mcp"
  passed "the installed daemon serves, its group may use it, and nobody else"
}

check_life() {
  local suite=$1
  bare "$suite" "$suite"
  root=$scratch/$suite/root
  say "installing it in a bare $suite"
  cp "$scratch/$suite-package"/*.deb "$root/tmp/bridge.deb"
  mkdir -p "$root$clone/build/package"
  cp "$scratch/$suite-package"/*.deb "$root$clone/build/package"
  inside apt-get -qq update
  as_printed "$root" "$(printed systemd/README.md "The package" 1 | sed -n 3p)"
  inside mcp-bridged --version >/dev/null || fail "as printed it does not install what it needs"
  passed "it installs as printed, with what it needs"
  # What it depends on stays when it is removed, so it is there before anything is compared.
  inside apt-get -qq -y purge mcp-session-bridge >"$scratch/apt" 2>&1 </dev/null ||
    { cat "$scratch/apt" >&2; fail "the first purge"; }
  if all_paths | grep -v "^$clone" | grep mcp; then fail "the first purge left these"; fi
  all_paths >"$scratch/before"

  inside dpkg -i /tmp/bridge.deb >"$scratch/dpkg" 2>&1 || { cat "$scratch/dpkg" >&2; fail "dpkg -i"; }
  inside id mcp-bridged >/dev/null || fail "there is no user"
  [ "$(inside stat -c '%a %U %G' /etc/mcp-bridged)" = "750 root mcp-bridged" ] || fail "the mode of /etc/mcp-bridged"
  inside mcp-nc --version >/dev/null || fail "mcp-nc does not run"
  [ "$(stat -c %s "$root/usr/bin/mcp-nc")" -le 1600000 ] || fail "mcp-nc is over 1.6 MB"
  inside mcp-bridged --version >/dev/null || fail "mcp-bridged does not run"
  passed "it installs, with its user"
  check_running

  # Made by hand, as systemd/README.md has it; Debian 12 has no such folder.
  inside install -d -m 700 /etc/credstore
  touch "$root/etc/credstore/mcp-bridged.token" "$root/etc/credstore/mcp-bridged-one.token"
  echo '# changed by hand' >>"$root/etc/mcp-bridged/mcp-bridged.env"
  inside dpkg -i /tmp/bridge.deb >/dev/null 2>&1 || fail "installing it again"
  grep -q 'changed by hand' "$root/etc/mcp-bridged/mcp-bridged.env" || fail "a changed file was overwritten"
  inside apt-get -qq -y remove mcp-session-bridge >/dev/null 2>&1 </dev/null || fail "remove"
  grep -q 'changed by hand' "$root/etc/mcp-bridged/mcp-bridged.env" || fail "remove took the configuration"
  [ ! -e "$root/usr/bin/mcp-bridged" ] || fail "remove left the program"
  passed "a changed configuration outlives upgrade and removal"

  inside apt-get -qq -y purge mcp-session-bridge >/dev/null 2>&1 </dev/null || fail "purge"
  if inside getent passwd mcp-bridged; then fail "purge left the user"; fi
  if inside getent group mcp-bridged; then fail "purge left the group"; fi
  inside userdel friend
  all_paths >"$scratch/after"
  diff "$scratch/before" "$scratch/after" || fail "purge left something"
  nothing_left "$root"
  passed "purge leaves nothing"
}

suites=("$@")
[ ${#suites[@]} -gt 0 ] || suites=(bookworm trixie)
needs debootstrap debootstrap lintian lintian setpriv util-linux

build_demo
"$demo_upstream" >"$scratch/upstream" &
children+=($!)
until [ -s "$scratch/upstream" ]; do sleep 0.05; done

for suite in "${suites[@]}"; do
  build_as_printed "$suite"
  check_installed_tree "$suite"
  check_package "$suite"
  check_life "$suite"
done
say "all passed: ${suites[*]}"
