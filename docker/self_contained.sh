#!/bin/sh
# Makes a folder that brings the bridge into any Linux image: both programs, the daemon's libraries, its
# loader, and a copy of the certificate authorities for images without any.
#
#   sh docker/self_contained.sh PROGRAMS FOLDER PATH
#
# PROGRAMS: where mcp-bridged (linked with -DMCP_BRIDGE_FOLDER=PATH) and a static mcp-nc are. FOLDER is made.
# PATH: where it will stand. The path is part of the program, and FOLDER/lib/places says at which bytes:
# install.sh of a release writes another one there.
#
# RUN (environment): what runs programs of another architecture, for example qemu-aarch64-static.
set -eu
programs=$1 folder=$2 path=$3
run=${RUN:-}

fail() { echo "self_contained.sh: $*" >&2; exit 1; }

mkdir -p "$folder/bin" "$folder/lib" "$folder/share/mcp-session-bridge" "$folder/share/doc"
cp "$programs/mcp-bridged" "$programs/mcp-nc" "$folder/bin/"

# The path is there with slashes behind it, so that a longer one has room.
padded=$(LC_ALL=C grep -ao "$path/*lib/ld\.so" "$folder/bin/mcp-bridged" | head -1)
padded=${padded%/lib/ld.so}
[ -n "$padded" ] || fail "mcp-bridged is not linked for $path"
LC_ALL=C grep -abo "$padded/lib" "$folder/bin/mcp-bridged" | sed "s/:.*/ ${#padded}/" >"$folder/lib/places"

# This machine's loader of the program's architecture, since the program's own is not there yet.
for loader in /lib64/ld-linux-x86-64.so.2 /lib/ld-linux-aarch64.so.1 none; do
  # shellcheck disable=SC2086  # nothing, or a program
  ! $run "$loader" --list "$folder/bin/mcp-bridged" >"$folder/needed" 2>&1 || break
done
[ "$loader" != none ] || fail "no loader of this machine lists the libraries of mcp-bridged: $(cat "$folder/needed")"
! grep 'not found' "$folder/needed" || fail "a library of mcp-bridged is not on this machine"
if readelf -lW "$folder/bin/mcp-nc" | grep -q INTERP; then fail "mcp-nc is not static"; fi
# LIBRARY => FILE (ADDRESS)
libraries=$(sed -n 's/.*=> \(\/[^ ]*\) (.*/\1/p' "$folder/needed" | grep -v '/ld\(-linux[^ ]*\)\{0,1\}\.so')
rm "$folder/needed"
cp -L "$loader" "$folder/lib/ld.so"
for library in $libraries; do cp -L "$library" "$folder/lib/"; done

authorities=/etc/ssl/certs/ca-certificates.crt
cp $authorities "$folder/share/mcp-session-bridge/"

# What each library's licence asks for, and which package a file is from: FILE PACKAGE VERSION SOURCE VERSION.
from() {
  dpkg-query -W -f="$1 \${Package}:\${Architecture} \${Version} \${source:Package} \${source:Version}\n" "$2" >>"$folder/lib/packages"
  [ ! -e "/usr/share/doc/${2%:*}/copyright" ] || cp -L "/usr/share/doc/${2%:*}/copyright" "$folder/share/doc/${2%:*}"
}
# package_of LIBRARY: a package names its files as they were before /lib was a link to /usr/lib, or after.
package_of() {
  real=$(realpath "$1")
  for path in "$real" "$1" "${real#/usr}" "/usr$1"; do
    if found=$(dpkg-query -S "$path" 2>/dev/null); then printf '%s\n' "$found" | sed -n '1s/: .*//p'; return; fi
  done
  return 1
}
for library in $loader $libraries; do
  package=$(package_of "$library") || continue
  if [ "$library" = "$loader" ]; then from lib/ld.so "$package"; else from "lib/$(basename "$library")" "$package"; fi
done
from share/mcp-session-bridge/ca-certificates.crt ca-certificates

# It has to hold together without anything of this machine's.
mkdir -p "$(dirname "$path")"
[ "$folder" = "$path" ] || ln -sfn "$folder" "$path"
# shellcheck disable=SC2086  # nothing, or a program
$run "$path/bin/mcp-bridged" --version >/dev/null || fail "it does not start"
# shellcheck disable=SC2086  # nothing, or a program
outside=$($run "$path/lib/ld.so" --list "$path/bin/mcp-bridged" | grep '=> /' | grep -v "=> $path/" || true)
[ -z "$outside" ] || fail "it uses $outside"
