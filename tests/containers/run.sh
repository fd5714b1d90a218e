#!/usr/bin/env bash
# Builds the image and runs it for real with podman: as a sidecar by hand, by compose.yaml, and as the pod
# of kubernetes.yaml. As root, with the network; some minutes the first time. Needs no engine beforehand
# and leaves the machine's own images and containers alone.
#
#   bash tests/containers/run.sh
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=tests/packages/roots.sh
. tests/packages/roots.sh
# shellcheck source=tests/containers/any_image.sh
. tests/containers/any_image.sh
# shellcheck source=tests/containers/recipes.sh
. tests/containers/recipes.sh

readonly base_suite=trixie other_suite=bookworm most_added_mb=40
readonly bridge=localhost/mcp-session-bridge agent=localhost/mcp-session-bridge-agent

needs debootstrap debootstrap podman podman buildah buildah runc runc catatonit catatonit conmon conmon \
  podman-compose podman-compose iptables iptables curl curl python3 python3 openssl openssl \
  musl-gcc musl-tools
needs_packages netavark aardvark-dns golang-github-containers-common
python3 -c 'import yaml' 2>/dev/null || needs_packages python3-yaml

podman_storage overlay "$roots/podman" "$scratch/podman"
mkdir -p "$roots/podman"

leave() {
  podman pod rm --all --force --time 0 >/dev/null 2>&1 || true
  podman rm --all --force --time 0 >/dev/null 2>&1 || true
  podman volume rm --all --force >/dev/null 2>&1 || true
  podman image umount --all >/dev/null 2>&1 || true
  finish
}
trap leave EXIT


# Waits until a command succeeds; fails with its last words.
until_true() {
  local what=$1 left=300
  shift
  until "$@" >"$scratch/last" 2>&1; do
    left=$((left - 1))
    [ $left -gt 0 ] || { cat "$scratch/last" >&2; fail "$what"; }
    sleep 0.1
  done
}

start_upstream() {
  rm -f "$scratch/upstream"
  "$demo_upstream" --port "${1:-0}" >"$scratch/upstream" &
  upstream=$!
  children+=("$upstream")
  until [ -s "$scratch/upstream" ]; do sleep 0.05; done
  url=$(sed -n 's/^listening on //p;q' "$scratch/upstream")
}

control() { curl -sf "${url%/mcp}/control/$1" -d "$2" >/dev/null; }

build_demo
start_upstream

say "the images"
make_root $base_suite plain
make_root $other_suite plain
podman image exists localhost/debian:$base_suite-slim || tar -C "$roots/$base_suite" -c . | podman import -q \
  --change 'ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' --change 'CMD ["bash"]' \
  - localhost/debian:$base_suite-slim >/dev/null
# Docker's format: the other one knows no health check.
build_image() {
  podman build --format docker --pull=never --network=host --target "$1" -t "$2" -f docker/Dockerfile . >"$scratch/build" 2>&1 ||
    { tail -30 "$scratch/build" >&2; fail "the image does not build"; }
}
build_image bridge $bridge
build_image agent $agent
size_of() { podman image inspect --format '{{.Size}}' "$1"; }
added=$((($(size_of $bridge) - $(size_of localhost/debian:$base_suite-slim)) / 1000000))
[ $added -le $most_added_mb ] || fail "the image has $added MB more than its base"
passed "the image has $added MB more than its base"
[ "$(podman image inspect --format '{{.User}}' $bridge)" = 65532:65532 ] || fail "the image runs as root"

say "a sidecar and an agent"
hardened=(--network host --read-only --read-only-tmpfs=false --cap-drop all --security-opt no-new-privileges)
podman volume create socket >/dev/null
podman volume create state >/dev/null
# No timer runs health checks without systemd; the test runs them itself.
podman run -d --name bridge "${hardened[@]}" --restart always --group-add 2000 -v socket:/run/mcp-bridged \
  -v state:/var/lib/mcp-bridged \
  -e MCP_SERVER_URL="$url" -e MCP_BRIDGE_SOCKET_MODE=0660 -e MCP_BRIDGE_SOCKET_GROUP=2000 $bridge >/dev/null
podman run -d --name agent --init "${hardened[@]}" --group-add 2000 -v socket:/run/mcp-bridged:ro $agent >/dev/null
in_agent() { podman exec agent mcp-nc --wait 20s -w 60s "$@"; }

[ "$(in_agent call echo message=through)" = through ] ||
  { podman logs bridge >&2; fail "no tool can be called from the agent"; }
passed "exec in the agent's container calls a tool through the sidecar, both read-only and without capabilities"

if podman run --rm "${hardened[@]}" -v socket:/run/mcp-bridged:ro $agent mcp-nc status 2>"$scratch/refused"; then
  fail "a container that is not in the group is served"
fi
grep -q 'permission denied' "$scratch/refused" || fail "another refusal: $(cat "$scratch/refused")"
passed "a container that is not in the group is refused"

# The daemon (as process 1 it has another one beside it, that reaps), and nothing that started it.
[ "$(podman top bridge comm | tail -n +2 | sort -u)" = mcp-bridged ] || fail "$(podman top bridge)"
passed "nothing but the daemon runs in it"

untaken() { in_agent status --json | grep -o '"untaken": *[0-9]*' | grep -o '[0-9]*$'; }
control emit '{"message":{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}}'
has_untaken() { [ "$(untaken)" = "$1" ]; }
until_true "the notification came" has_untaken 1
podman healthcheck run bridge >/dev/null || fail "it is not healthy"
has_untaken 1 || fail "the health check took the agent's notification"
passed "the health check takes no notification"

kill "$upstream"
wait "$upstream" 2>/dev/null || true
# --keep: the notification that waits is read below.
if in_agent --keep request tools/list >/dev/null 2>&1; then fail "tools without a server"; fi
podman healthcheck run bridge >/dev/null || fail "without its upstream it counts as ill"
code=0
in_agent status --ready >/dev/null 2>&1 || code=$?
[ $code = 4 ] || fail "status --ready says $code while the upstream is away"
start_upstream "$(sed 's/.*:\([0-9]*\)\/.*/\1/' <<<"$url")"
passed "without its upstream it is healthy, and not ready"

[ "$(in_agent listen --count 1 --for 20s)" = '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}' ] ||
  fail "the notification has gone"
first=$(podman inspect --format '{{.State.Pid}}' bridge)
kill -9 "$first"
[ "$(in_agent call echo message="after the kill")" = "after the kill" ] || fail "it did not come back"
[ "$(podman inspect --format '{{.State.Pid}}' bridge)" != "$first" ] || fail "it was not killed"
passed "killed, it is started again, and the agent goes on with a new socket in the same volume"

podman stop --time 20 bridge >/dev/null
[ "$(podman inspect --format '{{.State.ExitCode}}' bridge)" = 0 ] || fail "stop: exit $(podman inspect --format '{{.State.ExitCode}}' bridge)"
podman logs bridge 2>&1 | grep -q 'ended$' || fail "it did not end in order"
passed "stopped, it ends in order"
podman rm -f --time 0 bridge agent >/dev/null
podman volume rm state >/dev/null

say "a read-only root without a place for the state"
code=0
podman run --rm "${hardened[@]}" -v socket:/run/mcp-bridged -e MCP_SERVER_URL="$url" $bridge >"$scratch/no-state" 2>&1 || code=$?
[ $code = 73 ] || { cat "$scratch/no-state" >&2; fail "without a place for its state it ends with $code"; }
grep -q -- --state-dir "$scratch/no-state" || { cat "$scratch/no-state" >&2; fail "the option is not named"; }
passed "it ends with 73, and names the option"
podman run -d --name stateless "${hardened[@]}" -v socket:/run/mcp-bridged -e MCP_SERVER_URL="$url" \
  -e MCP_BRIDGE_STATE_DIR= $bridge >/dev/null
[ "$(podman exec stateless mcp-nc --wait 20s call echo message=stateless)" = stateless ] ||
  { podman logs stateless >&2; fail "it does not serve without a state"; }
podman rm -f --time 0 stateless >/dev/null
podman volume rm socket >/dev/null
passed "with MCP_BRIDGE_STATE_DIR= it serves"

say "the folder in any image"
check_folder

say "without a shell"
lower=$(podman image mount $bridge)
overlay shell-less "$lower"
rm -f "$scratch"/shell-less/root/usr/bin/{sh,bash,dash,perl}
install -d -o 65532 -g 65532 "$scratch/sockets"
podman run -d --name bare "${hardened[@]}" --user 65532:65532 -e MCP_SERVER_URL="$url" \
  -v "$scratch/sockets:/run/mcp-bridged" -e MCP_SOCKET_PATH=/run/mcp-bridged/mcp.sock \
  --rootfs "$scratch/shell-less/root" mcp-bridged >/dev/null
[ "$(podman exec bare mcp-nc --wait 20s call echo message=bare)" = bare ] ||
  { podman logs bare >&2; fail "it needs a shell"; }
podman rm -f --time 0 bare >/dev/null
passed "it runs in a root without any shell"

say "the recipes of docker/README.md"
check_recipes

say "compose.yaml"
# The upstream listens on this machine's loopback; and without systemd nobody runs the health check that
# the agent would wait for.
cat >"$scratch/host.yaml" <<'YAML'
services:
  bridge: {network_mode: host}
  agent: {network_mode: host, depends_on: {bridge: {condition: service_started}}}
YAML
# Debian 12's knows neither group_add nor a default that is empty; the one of Debian 13 runs here as well.
if [ ! -x "$roots/podman-compose/usr/bin/podman-compose" ]; then
  overlay compose "$roots/$base_suite"
  chroot "$scratch/compose/root" sh -ec 'apt-get -qq update; cd /tmp; apt-get -qq download podman-compose' 2>/dev/null
  dpkg-deb -x "$scratch"/compose/root/tmp/podman-compose_*.deb "$roots/podman-compose"
fi
compose() {
  PYTHONPATH=$roots/podman-compose/usr/lib/python3/dist-packages MCP_SERVER_URL=$url \
    timeout 120 /usr/bin/python3 "$roots/podman-compose/usr/bin/podman-compose" -p bridge-test -f "$PWD/docker/compose.yaml" -f "$scratch/host.yaml" "$@" \
    >"$scratch/compose.log" 2>&1 || { tail -30 "$scratch/compose.log" >&2; fail "podman-compose $1"; }
}
compose up -d --no-build
composed=$(podman ps --format '{{.Names}}' | grep agent) || { cat "$scratch/compose.log" >&2; fail "no agent runs"; }
[ "$(podman exec "$composed" mcp-nc --wait 20s call echo message=composed)" = composed ] || fail "no tool in the agent's service"
compose down
passed "the agent's service calls a tool through the bridge's"

say "kubernetes.yaml"
mkdir "$scratch/volume"
python3 tests/containers/as_podman_pod.py docker/kubernetes.yaml "$url" "$scratch/volume" >"$scratch/pod.yaml"
podman kube play --network host "$scratch/pod.yaml" >"$scratch/kube" 2>&1 || { cat "$scratch/kube" >&2; fail "kube play"; }
played=$(podman ps --format '{{.Names}}' | grep -- '-agent$')
[ "$(podman exec "$played" mcp-nc --wait 20s call echo message=played)" = played ] ||
  { podman logs "${played%agent}bridge" >&2; podman ps -a >&2; fail "no tool in the pod"; }
sent=$(curl -sf "${url%/mcp}/control/log?method=tools/call" | grep -o '"authorization":"[^"]*"' | tail -1)
# Podman 4 hands the secret over as it stands in `data`, in Base64.
case $sent in
  *"Bearer replace-me"*) ;;
  *"Bearer $(printf replace-me | base64)"*) ;;
  *) fail "the secret's token is not sent: $sent" ;;
esac
podman kube down "$scratch/pod.yaml" >/dev/null 2>&1
passed "the pod's agent calls a tool through the sidecar, with the token of the secret"

say "all passed"
