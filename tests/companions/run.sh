#!/usr/bin/env bash
# mcp-nc beside other command lines of MCP: tries each cell of the table in README.md, and prints it.
#   bash tests/companions/run.sh [--tool NAME] [--only WORD] [--verbose] [--figures] [--write]
# On demand, not in CI: it wants the npm registry once, and five to ten minutes. Exit 1: the page shows another table.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=tests/end_to_end/peers.sh
. tests/end_to_end/peers.sh
install_peers
PATH=$(dirname "$MCP_E2E_NODE"):$PATH
folder=tests/companions
install_companions
if [[ -z ${MCP_NC:-} || -z ${MCP_BRIDGED:-} ]]; then
  cmake --preset release >/dev/null
  cmake --build build/release -j "$(nproc)" --target mcp-bridged mcp-nc mcp-nc-manual >/dev/null
  export MCP_NC=$PWD/build/release/client/mcp-nc MCP_BRIDGED=$PWD/build/release/daemon/mcp-bridged
fi
echo "load before: $(cut -d' ' -f1-3 /proc/loadavg) on $(nproc) CPUs; the figures want an idle machine" >&2
exec python3 $folder/table.py "$@"
