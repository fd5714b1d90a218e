#!/usr/bin/env bash
# The authorization scenarios of the public conformance suite, through mcp-nc and the daemon.
#
#   bash tests/end_to_end/login_conformance.sh [--build DIR] [--scenario NAME]
#
# --build DIR      the programs to judge (build/release, build/asan or build/dev, the first there is)
# --scenario NAME  one scenario, told in full
#
# Needs the network once, for npm. A line a scenario; exit code 1 if one fails that is supported.
set -euo pipefail
cd "$(dirname "$0")/../.."
here=tests/end_to_end
# shellcheck source=tests/end_to_end/peers.sh
source $here/peers.sh

build='' only=''
while [ $# -gt 0 ]; do
  case $1 in
    --build) build=$2; shift ;;
    --scenario) only=$2; shift ;;
    *) sed -n '1d;/^#/!q;s/^# \{0,1\}//p' "$0"; exit 64 ;;
  esac
  shift
done
for one in build/release build/asan build/dev; do
  if [ -z "$build" ] && [ -x $one/daemon/mcp-bridged ]; then build=$one; fi
done

suite=$here/conformance/node_modules/@modelcontextprotocol/conformance/dist/index.js
install_conformance
node=$conformance_node
command="python3 $PWD/$here/conformance/login_client.py $(realpath "$build/daemon/mcp-bridged") $(realpath "$build/client/mcp-nc")"

if [ -n "$only" ]; then
  exec "$node" $suite client --command "$command" --scenario "$only" --verbose
fi

# What is not supported: other grants and kinds of tokens, and an issuer that differs only in the slash of an empty path.
unsupported='dpop|enterprise-managed-authorization|iss-normalized'
failed=0
for scenario in $("$node" $suite list --client | grep -o 'auth/[a-z0-9-]*' | sort -u); do
  if grep -qE "$unsupported" <<<"$scenario"; then
    printf '%-45s not supported\n' "$scenario"
    continue
  fi
  verdict=$(timeout 120 "$node" $suite client --command "$command" --scenario "$scenario" 2>&1 || true)
  if grep -q 'OVERALL: PASSED' <<<"$verdict"; then
    printf '%-45s passed (%s)\n' "$scenario" "$(grep -o 'Passed: [0-9/]*' <<<"$verdict" | cut -d' ' -f2)"
  else
    printf '%-45s FAILED\n' "$scenario"
    grep -E 'FAILURE|WARNING' <<<"$verdict" | cut -c1-300 | head -5
    failed=1
  fi
done
exit $failed
