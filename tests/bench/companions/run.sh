#!/usr/bin/env bash
# 27 everyday tasks with mcp-nc, mcpdo, mcpc and mcporter: prints the table of README.md.
#   bash tests/bench/companions/run.sh [--only WORD] [--tool NAME] [--show]
# On demand, not in CI: it wants the npm registry, Node, jq, and about ten minutes. MCP_COMPANIONS names a folder where
# the three are kept for the next time.
set -euo pipefail
cd "$(dirname "$0")/../../.."
folder=${MCP_COMPANIONS:-$(mktemp -d)}
[[ -n ${MCP_COMPANIONS:-} ]] || trap 'rm -rf "$folder"' EXIT
packages=(@modelcontextprotocol/inspector @apify/mcpc mcporter)
if [[ ! -e $folder/node_modules/.bin/mcpdo ]]; then
  npm install --silent --no-audit --no-fund --prefix "$folder" "${packages[@]/%/@latest}" >&2
fi
if [[ -z ${MCP_BRIDGE_RELEASE:-} ]]; then
  cmake --preset release >/dev/null
  cmake --build build/release -j "$(nproc)" --target mcp-bridged mcp-nc mcp-nc-manual >/dev/null
  MCP_BRIDGE_RELEASE=$PWD/build/release
fi
export PATH=$folder/node_modules/.bin:$MCP_BRIDGE_RELEASE/client:$MCP_BRIDGE_RELEASE/daemon:$PATH
export MCP_NC_COMPLETION=$MCP_BRIDGE_RELEASE/client/manual/mcp-nc.bash
state() { echo "$1: $(date +%F\ %R), load $(cut -d' ' -f1-3 /proc/loadavg) on $(nproc) processors" >&2; }
state begun
for package in "${packages[@]}"; do
  echo "$package $(node -p "require('$folder/node_modules/$package/package.json').version")" >&2
done
echo "$(mcp-nc --version), node $(node --version)" >&2
python3 -B tests/bench/companions/tasks.py "$@"
state ended
