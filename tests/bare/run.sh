#!/usr/bin/env bash
# What the README prints, in Debian 12 and 13 as bare as debootstrap makes them: both commands. As root, with
# the network, on demand; half an hour a suite. Ends with a summary; exit 1 if a part has failed.
#
#   bash tests/bare/run.sh [try] [tests] [bookworm] [trixie]     default: all of it
#
# The commands are read out of README.md, so neither can change without the other.
# MCP_TEST_ROOTS (default build/roots) keeps the Debians, and the logs in its folder `logs`.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit

suites=() parts=()
for argument in "$@"; do
  case $argument in
    try | tests) parts+=("$argument") ;;
    bookworm | trixie) suites+=("$argument") ;;
    *) sed -n '1d;/^#/!q;s/^# \{0,1\}//p' "$0" >&2; exit 64 ;;
  esac
done
[ ${#suites[@]} -gt 0 ] || suites=(bookworm trixie)
[ ${#parts[@]} -gt 0 ] || parts=(try tests)

logs=${MCP_TEST_ROOTS:-build/roots}/logs
mkdir -p "$logs"
summary=() outcome=0
for suite in "${suites[@]}"; do
  for part in "${parts[@]}"; do
    log=$logs/$suite-$part.log
    printf '\n== %s, %s: %s\n' "$suite" "$part" "$log"
    began=$SECONDS verdict=passed
    bash "tests/bare/$part.sh" "$suite" >"$log" 2>&1 || { verdict=FAILED; outcome=1; tail -20 "$log"; }
    grep -E '^(   ok: |FAILED: )' "$log"
    summary+=("$(printf '%-9s %-8s %s after %d min %02d s' "$suite" "$part" "$verdict" \
      $(((SECONDS - began) / 60)) $(((SECONDS - began) % 60)))")
  done
done
printf '\n== as printed, on a bare machine\n'
printf '%s\n' "${summary[@]}"
exit $outcome
