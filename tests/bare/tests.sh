#!/usr/bin/env bash
# The second of the README's two commands in a bare Debian: called by run.sh with a suite, and with
# options for ctest if only some tests are to run.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=tests/packages/roots.sh
. tests/packages/roots.sh
trap leave_roots EXIT
needs debootstrap debootstrap git git

suite=$1
shift
bare tests "$suite"
root=$scratch/tests/root
# Saves time and nothing else: tests/run.sh installs ccache by itself.
mkdir -p "$roots/ccache/$suite" "$root/root/.cache/ccache"
mount_at "$root/root/.cache/ccache" --bind "$roots/ccache/$suite"
command=$(printed README.md "Two commands" 1 | sed -n '2s/ *#.*//p')
[ $# -eq 0 ] || command+=$(printf ' %q' "$@")
code=0
as_printed "$root" "$command" | tee "$scratch/output" || code=$?
cp "$root$clone/build/asan/Testing/Temporary/LastTest.log" "$roots/logs/$suite-ctest.log" 2>/dev/null || true
[ $code -eq 0 ] || fail "tests/run.sh ended with $code"
nothing_left "$root"
passed "tests/run.sh: $(grep 'tests passed' "$scratch/output")"
# A test that is skipped for want of a program has not shown anything; some are on demand only, one is not for
# root, and one wants a newer kubectl than Debian 12 has.
meant="Chromium and its driver are not installed|oidc-provider is not installed|root sees all|kubectl is not installed"
if grep -E '(^|[( ])skipped: |skipped ['"'\"]" "$roots/logs/$suite-ctest.log" | grep -vE "$meant"; then fail "tests were skipped"; fi
passed "no test was skipped that is not on demand"
