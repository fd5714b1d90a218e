#!/usr/bin/env bash
# Everything that the pages say in comparison with others, measured in one run on this machine, with the newest versions
# that the npm registry has; writes the tables and pictures of tests/bench/README.md, of its companions/ and figures/.
#
#   bash tests/bench/compare.sh [--try]
#
# It wants Node, 10 minutes and an idle machine: it waits up to 5 minutes for a load under a half of a processor, and says
# so if there is none. --try does everything a few times and changes no page: what it would write is in build/compare.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=tests/end_to_end/peers.sh
. tests/end_to_end/peers.sh
# shellcheck source=tests/packages/needed.sh
. tests/packages/needed.sh
# shellcheck source=tests/bench/shared.sh
. tests/bench/shared.sh
case ${1:-} in '' | --try) ;; *) sed -n '1d;/^#/!q;s/^# \{0,1\}//p' "$0" >&2; exit 64 ;; esac
be_the_only_one
install_to_build "python3 python3" "node nodejs" "npm npm" "jq jq"
# What mcporter asks for; the others take it.
node=$(node_of 24 24.22.3 build/node24)
PATH=$(dirname "$node"):$PATH

readonly packages=(@modelcontextprotocol/sdk mcp-remote @apify/mcpc @modelcontextprotocol/inspector mcporter supergateway mcp-proxy)
folder=$PWD/build/compare build=$PWD/build/bench
mkdir -p "$folder"
# Each time again: the newest may be another.
npm install --prefix "$folder" --no-audit --no-fund --loglevel=error "${packages[@]/%/@latest}" </dev/null >&2
cmake --preset bench -DCMAKE_CXX_COMPILER_LAUNCHER=ccache >"$build.log" 2>&1 || { cat "$build.log" >&2; exit 2; }
cmake --build "$build" --target mcp-bridged mcp-nc mcp-nc-manual demo-upstream bench-child face-load >"$build.log" 2>&1 ||
  { tail -40 "$build.log" >&2; exit 2; }

# Of what was just built, too: the mean of a minute.
busy() { awk '{ exit !($1 > 0.5) }' /proc/loadavg; }
for ((waited = 0; waited < 300; waited += 5)); do
  busy || break
  sleep 5
done
! busy || echo "the load is $(cut -d' ' -f1 /proc/loadavg): the figures are worth less" >&2
export MCP_COMPANIONS=$folder MCP_BRIDGE_RELEASE=$build MCP_E2E_NODE=$node
exec python3 -B tests/bench/compare.py "$build" "$folder" "$node" "${packages[*]}" "$@"
