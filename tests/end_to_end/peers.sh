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
  # npm ci starts anew each time; the copy of the lock says what the folder holds.
  if ! cmp -s $folder/package-lock.json $folder/node_modules/.installed-lock.json; then
    (cd $folder && npm ci --no-audit --no-fund --loglevel=error </dev/null) || return 1
    cp $folder/package-lock.json $folder/node_modules/.installed-lock.json || return 1
  fi
  MCP_E2E_NODE=$(command -v node)
  if [ "$(node -p 'process.versions.node.split(".")[0]')" -lt $node_least ]; then
    local machine
    case $(uname -m) in
      x86_64) machine=x64 ;;
      aarch64) machine=arm64 ;;
      *) echo "Node $node_least or newer is needed, and this is $(node --version)" >&2; return 1 ;;
    esac
    MCP_E2E_NODE=$PWD/build/node/node_modules/node-linux-$machine/bin/node
    [ -x "$MCP_E2E_NODE" ] ||
      npm install --prefix build/node --no-audit --no-fund --loglevel=error \
        "node-linux-$machine@$node_version" </dev/null || return 1
  fi
  export MCP_E2E_NODE
}
