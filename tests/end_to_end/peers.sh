# shellcheck shell=bash
# The peers from npm, and a Node that runs them: sourced, from the project's top folder.

# The peers need this one; Debian 12 has 18, Debian 13 has 20.
readonly node_least=20 node_version=20.20.0

# install_peers: leaves the peers in tests/end_to_end/node_modules, and exports MCP_E2E_NODE. Where they
# are there already nothing is asked of the network. On failure the reason is on stderr.
install_peers() {
  local folder=tests/end_to_end
  if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
    echo "there is no node or no npm" >&2
    return 1
  fi
  install_locked $folder || return 1
  MCP_E2E_NODE=$(node_of $node_least $node_version build/node) || return 1
  export MCP_E2E_NODE
}

# install_locked FOLDER: what its package-lock.json names.
install_locked() {
  # npm ci starts from nothing each time; the copy of the lock says what the folder holds.
  if ! cmp -s "$1/package-lock.json" "$1/node_modules/.installed-lock.json"; then
    (cd "$1" && npm ci --no-audit --no-fund --loglevel=error </dev/null) || return 1
    cp "$1/package-lock.json" "$1/node_modules/.installed-lock.json" || return 1
  fi
}

# node_of LEAST VERSION FOLDER: prints a Node that is not older than LEAST: the machine's, or VERSION in FOLDER.
node_of() {
  local machine
  if [ "$(node -p 'process.versions.node.split(".")[0]')" -ge "$1" ]; then
    command -v node
    return
  fi
  case $(uname -m) in
    x86_64) machine=x64 ;;
    aarch64) machine=arm64 ;;
    *) echo "Node $1 or newer is needed, and this is $(node --version)" >&2; return 1 ;;
  esac
  local program=$PWD/$3/node_modules/node-linux-$machine/bin/node
  [ -x "$program" ] ||
    npm install --prefix "$3" --no-audit --no-fund --loglevel=error "node-linux-$machine@$2" </dev/null >&2 || return 1
  echo "$program"
}

# install_conformance: leaves the conformance suite in tests/end_to_end/conformance/node_modules, and exports conformance_node:
# the suite needs a newer Node than the peers do.
install_conformance() {
  install_locked tests/end_to_end/conformance && conformance_node=$(node_of 22 22.23.3 build/node22) && export conformance_node
}
