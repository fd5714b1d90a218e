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

leader=
finish() {
  if [ -n "$leader" ]; then
    kill -s RTMIN+4 "$leader" 2>/dev/null || true  # power off
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
for _ in $(seq 300); do
  leader=$(pgrep -P $nspawn || true)
  [ -z "$leader" ] || break
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

say "upgrade and removal"
inside sh -c 'echo MCP_SERVER_URL=http://127.0.0.1:9/mcp >/etc/mcp-bridged/mcp-bridged.env'
inside systemctl --quiet enable --now mcp-bridged.socket
inside mcp-nc status >/dev/null
daemon=$(inside systemctl show -P MainPID mcp-bridged)
inside sh -c 'dpkg -i --force-confold /root/bridge.deb' >"$scratch/dpkg" 2>&1 || { cat "$scratch/dpkg" >&2; fail "the upgrade"; }
[ "$(inside systemctl show -P MainPID mcp-bridged)" != "$daemon" ] || fail "the old daemon runs on after an upgrade"
inside mcp-nc status >/dev/null || fail "nobody serves after an upgrade"
inside dpkg -r mcp-session-bridge >"$scratch/dpkg" 2>&1 || { cat "$scratch/dpkg" >&2; fail "the removal"; }
[ -z "$(inside systemctl list-units --plain --no-legend 'mcp-bridged*')" ] || fail "units run on after the removal"
[ -z "$(inside find /etc/systemd -type l -name 'mcp-bridged*')" ] || fail "units are enabled after the removal"
say "all passed: $tested_suite"
