#!/bin/sh
# Makes a folder that brings the bridge into any Linux image: both programs, the daemon's libraries, its
# loader, and a copy of the certificate authorities for images without any.
#
#   sh docker/self_contained.sh PROGRAMS FOLDER PATH
#
# PROGRAMS: where mcp-bridged (linked with -DMCP_BRIDGE_FOLDER=PATH) and a static mcp-nc are. FOLDER is made.
# PATH: where it will stand; the loader's path is part of a program, so it can stand nowhere else.
set -eu
programs=$1 folder=$2 path=$3

fail() { echo "self_contained.sh: $*" >&2; exit 1; }

mkdir -p "$folder/bin" "$folder/lib" "$folder/share/mcp-session-bridge" "$folder/share/doc"
cp "$programs/mcp-bridged" "$programs/mcp-nc" "$folder/bin/"

# LIBRARY => FILE (ADDRESS); the loader stands alone, or behind the name it will have.
ldd "$folder/bin/mcp-bridged" >"$folder/needed"
! grep 'not found' "$folder/needed" || fail "a library of mcp-bridged is not on this machine"
if ldd "$folder/bin/mcp-nc" 2>/dev/null | grep -q '=>'; then fail "mcp-nc is not static"; fi
loader=$(grep -o '/[^ ]*/ld-linux[^ ]*' "$folder/needed" | tail -1)
[ -n "$loader" ] || fail "mcp-bridged has no loader"
libraries=$(sed -n 's/.*=> \(\/[^ ]*\) (.*/\1/p' "$folder/needed" | grep -v '/ld-linux')
rm "$folder/needed"
cp -L "$loader" "$folder/lib/ld.so"
for library in $libraries; do cp -L "$library" "$folder/lib/"; done

# What each library's licence asks for.
for library in $libraries "$loader"; do
  package=$(dpkg-query -S "$(realpath "$library")" 2>/dev/null || dpkg-query -S "*/$(basename "$library")" 2>/dev/null) || continue
  package=$(printf '%s\n' "$package" | sed -n '1s/:.*//p')
  [ -e "/usr/share/doc/$package/copyright" ] || continue
  cp -L "/usr/share/doc/$package/copyright" "$folder/share/doc/$package"
done

cp /etc/ssl/certs/ca-certificates.crt "$folder/share/mcp-session-bridge/"

# It has to hold together without anything of this machine's.
mkdir -p "$(dirname "$path")"
[ "$folder" = "$path" ] || ln -sfn "$folder" "$path"
"$path/bin/mcp-bridged" --version >/dev/null || fail "it does not start"
outside=$("$path/lib/ld.so" --list "$path/bin/mcp-bridged" | grep '=> /' | grep -v "=> $path/" || true)
[ -z "$outside" ] || fail "it uses $outside"
