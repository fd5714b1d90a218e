#!/usr/bin/env bash
# Installs the package in a Debian with systemd, boots it in a container of systemd's own, and tests the
# units in it: activation, kill, watchdog, reload, stop, journal. As root, with the network; some minutes
# the first time.
#
#   bash tests/systemd/run.sh [SUITE [unittest's options]]
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=tests/packages/roots.sh
. tests/packages/roots.sh

nspawn=
leader=
upstream=

# is_over PID SECONDS: false if it still runs after that time.
is_over() {
  local left=$(($2 * 10))
  while kill -0 "$1" 2>/dev/null; do
    [ $left -gt 0 ] || return 1
    left=$((left - 1))
    sleep 0.1
  done
}

finish() {
  [ -z "$upstream" ] || kill "$upstream" 2>/dev/null || true
  if [ -n "$nspawn" ]; then
    # Power off, by the machine itself, then by force: what nspawn has started ends with it.
    [ -z "$leader" ] || kill -s RTMIN+4 "$leader" 2>/dev/null || true
    is_over "$nspawn" 30 || kill "$nspawn" 2>/dev/null || true
    is_over "$nspawn" 10 || kill -KILL "$nspawn" 2>/dev/null || true
    wait "$nspawn" 2>/dev/null || true
  fi
  leave_roots
}
trap finish EXIT

tested_suite=${1:-bookworm}
[ $# -eq 0 ] || shift
needs debootstrap debootstrap systemd-nspawn systemd-container nsenter util-linux pgrep procps python3 python3

build_demo

build_package "$tested_suite"
make_root "$tested_suite" systemd systemd systemd-sysv dbus python3
overlay machine "$roots/$tested_suite-systemd"
root=$scratch/machine/root
cp "$scratch/$tested_suite.deb" "$root/root/bridge.deb"
chroot "$root" apt-get -qq update
DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 chroot "$root" \
  apt-get -qq -y install --no-install-recommends /root/bridge.deb </dev/null >"$scratch/apt" 2>&1 ||
  { tail -20 "$scratch/apt" >&2; fail "the package does not install"; }
# Core dumps of tests are of no use, and slow.
mkdir -p "$root/etc/systemd/system.conf.d"
printf '[Manager]\nDefaultLimitCORE=0\n' >"$root/etc/systemd/system.conf.d/test.conf"

say "booting it"
systemd-nspawn --quiet -D "$root" -M "mcp-test-$$" --boot --register=no --keep-unit \
  </dev/null >"$scratch/console" 2>&1 &
nspawn=$!
# Its first child only makes the machine, and goes: the machine's process 1 is the child that has become systemd.
for _ in $(seq 600); do
  leader=$(pgrep -P $nspawn -x systemd || true)
  [ -z "$leader" ] || break
  kill -0 $nspawn 2>/dev/null || break
  sleep 0.1
done
[ -n "$leader" ] || { cat "$scratch/console" >&2; fail "it does not boot"; }
inside() { nsenter -t "$leader" -m -u -i -n -p -C -- env PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 "$@"; }
state=$(inside timeout 120 \
  sh -c 'until systemctl is-system-running --wait 2>/dev/null | grep -E "running|degraded"; do sleep 0.2; done')
say "it is $state"

MCP_MACHINE_LEADER=$leader DEMO_UPSTREAM=$demo_upstream \
  MCP_NC=$PWD/build/release/client/mcp-nc MCP_BRIDGED=$PWD/build/release/daemon/mcp-bridged \
  python3 tests/systemd/booted.py "$@"

say "upgrade, removal, purge"
inside sh -c 'echo MCP_SERVER_URL=http://127.0.0.1:9/mcp >/etc/mcp-bridged/mcp-bridged.env'
inside systemctl --quiet enable --now mcp-bridged.socket
inside mcp-nc status >/dev/null
daemon=$(inside systemctl show -P MainPID mcp-bridged)
inside sh -c 'dpkg -i --force-confold /root/bridge.deb' >"$scratch/dpkg" 2>&1 || { cat "$scratch/dpkg" >&2; fail "the upgrade"; }
[ "$(inside systemctl show -P MainPID mcp-bridged)" = "$daemon" ] || fail "an upgrade restarts the daemon: $(cat "$scratch/dpkg")"
grep -q 'mcp-bridged.service: upgraded in place' "$scratch/dpkg" || fail "the daemon is not upgraded: $(cat "$scratch/dpkg")"
inside mcp-nc status >/dev/null || fail "nobody serves after an upgrade"
# What an operator leaves: an instance that has failed, a member of the group, tokens, a drop-in.
inside sh -ec 'echo MCP_SERVER_URL=nonsense >/etc/mcp-bridged/broken.env
  systemctl --quiet enable --now mcp-bridged@broken.socket
  ! systemctl start mcp-bridged@broken.service 2>/dev/null
  install -d -m 700 /etc/credstore
  touch /etc/credstore/mcp-bridged.token /etc/credstore/mcp-bridged-broken.token /etc/credstore/of-another
  install -d /etc/systemd/system/mcp-bridged@broken.service.d
  printf "[Service]\nProtectProc=default\n" >/etc/systemd/system/mcp-bridged@broken.service.d/override.conf
  id alice >/dev/null 2>&1 || useradd alice
  adduser --quiet alice mcp-bridged'
inside dpkg -r mcp-session-bridge >"$scratch/dpkg" 2>&1 || { cat "$scratch/dpkg" >&2; fail "the removal"; }
left=$(inside systemctl list-units --all --plain --no-legend 'mcp-bridged*')
[ -z "$left" ] || fail "after the removal there is $left"
[ -z "$(inside find /etc/systemd -type l -name 'mcp-bridged*')" ] || fail "units are enabled after the removal"
inside test ! -e /run/mcp-bridged || fail "the removal leaves /run/mcp-bridged"
inside test -e /etc/mcp-bridged/broken.env || fail "the removal takes the configuration"
inside dpkg -P mcp-session-bridge >"$scratch/dpkg" 2>&1 || { cat "$scratch/dpkg" >&2; fail "the purge"; }
for kind in passwd group; do
  if inside getent $kind mcp-bridged; then fail "the purge leaves it in $kind"; fi
done
left=$(inside find / /run -xdev \( -path /proc -o -path /var/log \) -prune -o \
  \( -name '*mcp-bridged*' -o -name '*mcp-nc*' -o -name '*mcp-session*' \) -print)
[ -z "$left" ] || fail "the purge leaves $left"
inside test -e /etc/credstore/of-another || fail "the purge takes a token of another"
inside rm /etc/credstore/of-another

say "without a package, as systemd/README.md has it"
cp -a "$scratch/$tested_suite-local/." "$root/usr/local/"
"$demo_upstream" >"$scratch/upstream" &
upstream=$!
until [ -s "$scratch/upstream" ]; do sleep 0.05; done
url=$(sed -n 's/^listening on //p;q' "$scratch/upstream")
printed systemd/README.md "Without the package" 1 | grep -v '^cmake ' >"$root/root/commands"
printed systemd/README.md "The service" 1 | sed "/^mcp-nc/d; s|https://example.com/mcp|$url|" >>"$root/root/commands"
[ "$(wc -l <"$root/root/commands")" -ge 7 ] || fail "there are other commands in systemd/README.md: $(cat "$root/root/commands")"
inside sh -ec 'cd /root && echo as-printed >token && . ./commands' >"$scratch/commands" 2>&1 ||
  { cat "$scratch/commands" >&2; fail "a command of systemd/README.md"; }
inside runuser -l alice -c mcp-nc\ tools | grep -q echo || fail "no tool is listed for alice"
inside systemctl show -P ExecStart mcp-bridged | grep -q /usr/local/bin/mcp-bridged || fail "another program runs"
say "all passed: $tested_suite"
