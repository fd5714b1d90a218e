#!/usr/bin/env bash
# The first of the README's two commands in a bare Debian: called by run.sh with a suite.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=tests/packages/roots.sh
. tests/packages/roots.sh
trap leave_roots EXIT
needs debootstrap debootstrap git git

suite=$1 output=$scratch/shown
bare try "$suite"
root=$scratch/try/root
as_printed "$root" "$(printed README.md "Two commands" 1 | sed -n 1p)" | tee "$output"
nothing_left "$root"
for line in 'hello from process one' 'ticking for 3 s' '"data":"tick 1"' '"text":"42"'; do
  grep -qF -- "$line" "$output" || fail "try.sh did not show: $line"
done
passed "try.sh shows the main job"

# What it leaves behind is a release build and nothing of the tests'.
[ ! -e "$root/usr/bin/python3" ] || fail "something has installed python3"
if grep -E '^MCP_BRIDGE_(TESTS|DEMO|BENCH):[A-Z]*=ON' "$root$clone/build/release/CMakeCache.txt"; then
  fail "build/release has more in it than the two programs"
fi
passed "build/release is the release binaries alone"

as_printed "$root" "$(printed README.md "Five minutes of use" 1 | sed -n 1p); command -v mcp-bridged mcp-nc" || fail "the programs are not where the README says"
passed "the README's next line finds both programs"
