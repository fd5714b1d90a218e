# shellcheck shell=bash
# shellcheck disable=SC2154  # variables of run.sh and roots.sh
# The commands of docker/README.md as they are printed, with podman in docker's place. Sourced by run.sh, whose
# variables and functions it uses.

# typed HEADING N [FOLDER]: runs that block of the page, in that folder; prints what it prints.
typed() {
  local block
  block=$(printed_in docker/README.md "$1" "$2")
  [ -n "$block" ] || fail "docker/README.md has no block $2 under $1"
  block=${block//https:\/\/example.com\/mcp/$url}
  block=${block//\/run\/mcp-bridged:\/run/$recipes\/host:\/run}
  (
    # shellcheck disable=SC2317  # called by what is evaluated
    docker() { as_docker "$@"; }
    # shellcheck disable=SC2317
    getent() { echo "mcp-bridged:x:2000:"; }
    cd "${3:-.}"
    eval "$block"
  ) >"$recipes/printed" 2>&1 || { cat "$recipes/printed" >&2; fail "a command of docker/README.md, $1"; }
  cat "$recipes/printed"
}

# What is under "" is what stands before the first heading of that level.
printed_in() {
  if [ -n "$2" ]; then printed "$@"; else sed '/^## /,$d; 1s/.*/## /' "$1" >"$recipes/top" && printed "$recipes/top" "" "$3"; fi
}

# Podman's own words for the same: there is no registry, and no network but the machine's.
as_docker() {
  local verb=$1
  shift
  case $verb in
    build) podman build --format docker --pull=never --network=host --target bridge "$@" ;;
    create) podman create "${@/#mcp-session-bridge/$bridge}" ;;
    run) podman run --network host "$@" ;;
    *) podman "$verb" "$@" ;;
  esac
}

shows_tools() { grep -q '^echo$' <<<"$1" || fail "no tools: $1"; }

check_recipes() {
  recipes=$scratch/recipes
  mkdir -p "$recipes/host"
  typed "" 2 >/dev/null
  passed "the image is built as printed"

  # The container that one has: nothing of ours in it.
  podman run -d --name box --network host "localhost/debian:$base_suite-slim" sleep infinity >/dev/null
  shows_tools "$(typed "A container you already have" 1 "$recipes")"
  podman rm -f --time 0 box >/dev/null
  passed "the folder is copied into a container that runs, and serves there"

  # In the place of the host's daemon: another container, with the folder of the socket.
  chmod 777 "$recipes/host"
  podman run -d --name host-daemon --network host --group-add 2000 -v "$recipes/host:/run/mcp-bridged" -e MCP_SERVER_URL="$url" \
    -e MCP_BRIDGE_SOCKET_MODE=0660 -e MCP_BRIDGE_SOCKET_GROUP=2000 "$bridge" >/dev/null
  until_true "the host's daemon serves" podman exec host-daemon mcp-nc status
  chmod 755 "$recipes/host"
  printf 'FROM localhost/debian:%s-slim\nUSER 1000:1000\nCMD ["sleep", "infinity"]\n' "$base_suite" |
    podman build --pull=never -t localhost/my-image - >"$scratch/build" 2>&1 || { cat "$scratch/build" >&2; fail "my-image"; }
  shows_tools "$(typed "A container you already have" 2 "$recipes")"
  podman rm -f --time 0 box host-daemon >/dev/null
  passed "a container with the socket's folder and the group is served by the host's daemon"

  local lines
  lines=$(printed docker/README.md "In the agent's own container" 1)
  mkdir -p "$recipes/agent"
  printf 'FROM localhost/debian:%s-slim\n%s\n' "$base_suite" "${lines/=mcp-session-bridge/=$bridge}" >"$recipes/agent/Dockerfile"
  podman build --format docker --pull=never -t localhost/my-agent "$recipes/agent" >"$scratch/build" 2>&1 ||
    { cat "$scratch/build" >&2; fail "my-agent"; }
  shows_tools "$(typed "In the agent's own container" 2)"
  podman rm -f --time 0 box >/dev/null
  passed "an image with the folder serves itself"

  printed docker/README.md "As a sidecar" 2 | grep -qxF 'COPY --from=mcp-session-bridge /usr/bin/mcp-nc /usr/local/bin/' || fail "another line for the client"
  printed docker/README.md "As a sidecar" 1 | grep -qF 'docker compose -f docker/compose.yaml up -d' || fail "another line for compose"
}
