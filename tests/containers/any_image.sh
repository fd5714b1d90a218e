# shellcheck shell=bash
# shellcheck disable=SC2154  # variables of run.sh and roots.sh
# The folder that the image offers, copied into images that have nothing to do with it. Sourced by run.sh,
# whose variables and functions it uses.

readonly self_contained=/opt/mcp-session-bridge

# import_root FOLDER IMAGE
import_root() {
  tar -C "$1" -c . | podman import -q --change 'ENV PATH=/usr/local/bin:/usr/bin:/bin' - "$2" >/dev/null
}

# What is nearest to Alpine among Debian's packages: musl's library and loader, busybox, nothing of glibc.
# Its authorities stand where Alpine has them.
make_musl_root() {
  local root=$scratch/musl
  overlay musl-packages "$roots/$base_suite"
  chroot "$scratch/musl-packages/root" sh -ec 'apt-get -qq update; cd /tmp; apt-get -qq download musl busybox-static' 2>/dev/null
  mkdir -p "$root"/{usr/bin,usr/lib,tmp,run,etc/ssl,proc,dev}
  ln -s usr/bin "$root/bin"
  ln -s usr/lib "$root/lib"
  local deb
  for deb in "$scratch"/musl-packages/root/tmp/*.deb; do
    dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$root" --keep-directory-symlink
  done
  local name
  for name in sh env cat ls; do ln -s busybox "$root/bin/$name"; done
  [ -z "$(find "$root" -name 'libc.so.6' -o -name 'ld-linux*')" ] || fail "there is glibc in the root without it"
  # A program that needs musl's loader, to be run by the daemon.
  printf '%s\n' '#include <stdlib.h>' '#include <unistd.h>' \
    'int main(int n, char** words) { return n < 2 || getenv("LD_LIBRARY_PATH") ? 1 : execv(words[1], words + 1); }' >"$scratch/start.c"
  musl-gcc -o "$root/bin/start" "$scratch/start.c"
  cp "$secured/authority.pem" "$root/etc/ssl/cert.pem"
  import_root "$root" localhost/musl-root
}

# Another Debian than the one the folder was built on.
make_debian_root() {
  overlay other-debian "$roots/$other_suite"
  local root=$scratch/other-debian/root
  mkdir -p "$root/etc/ssl/certs"
  cp "$secured/authority.pem" "$root/etc/ssl/certs/ca-certificates.crt"
  printf '#!/bin/sh\nexec "$@"\n' >"$root/bin/start"
  chmod 755 "$root/bin/start"
  import_root "$root" localhost/other-debian
}

# with_folder BASE IMAGE [LINE]: an image that has the folder as docker/README.md says.
with_folder() {
  mkdir -p "$scratch/context"
  cp "$secured/authority.pem" "$scratch/context/"
  local copy
  copy=$(printed docker/README.md "In the agent's own container" 1 | sed -n "1s|=mcp-session-bridge|=$bridge|p")
  printf 'FROM %s\n%s\n%s\n' "$1" "$copy" "${3:-}" >"$scratch/context/Dockerfile"
  podman build --format docker --pull=never -t "$2" "$scratch/context" >"$scratch/build" 2>&1 ||
    { tail -20 "$scratch/build" >&2; fail "no image can be made of $1 and the folder"; }
}

# serves_in IMAGE [WORD …]: a server behind TLS and a name, and a local server, whose command begins with
# these words.
serves_in() {
  local image=$1 sockets=$scratch/sockets-of-folder
  shift
  rm -rf "$sockets" && install -d -o 65532 -g 65532 "$sockets"
  podman run -d --name outer "${hardened[@]}" --user 65532:65532 -v "$sockets:/run/mcp-bridged" \
    -v "$secured/resolv.conf:/etc/resolv.conf:ro" -e MCP_SERVER_URL="$(cat "$secured/url")" \
    -e MCP_SOCKET_PATH=/run/mcp-bridged/mcp.sock "$image" $self_contained/bin/mcp-bridged >/dev/null
  [ "$(podman exec outer $self_contained/bin/mcp-nc --wait 20s -w 60s call echo message=outer)" = outer ] ||
    { podman logs outer >&2; fail "no tool can be called through the folder in $image"; }
  # The local server is the relay to the first daemon.
  podman exec -d outer $self_contained/bin/mcp-bridged --socket /run/mcp-bridged/inner.sock -- "$@" $self_contained/bin/mcp-nc
  [ "$(podman exec outer $self_contained/bin/mcp-nc -s /run/mcp-bridged/inner.sock --wait 20s -w 60s call echo message=inner)" = inner ] ||
    fail "no tool of a local server can be called in $image"
  local processes
  processes=$(podman top outer comm | tail -n +2 | sort -u | tr '\n' ' ')
  [ "$processes" = "mcp-bridged mcp-nc mcp-watcher " ] || fail "in $image there run: $processes"
  podman stop --time 20 outer >/dev/null
  [ "$(podman inspect --format '{{.State.ExitCode}}' outer)" = 0 ] || fail "in $image it does not end in order"
  podman rm -f --time 0 outer >/dev/null
}

check_folder() {
  secured=$scratch/secured
  mkdir "$secured"
  local address=127.77.$((RANDOM % 250 + 1)).$((RANDOM % 250 + 1))
  echo "nameserver $address" >"$secured/resolv.conf"
  python3 tests/containers/secured_upstream.py "$(sed 's/.*:\([0-9]*\)\/.*/\1/' <<<"$url")" "$secured" "$address" &
  children+=($!)
  until [ -s "$secured/url" ]; do sleep 0.05; done

  make_musl_root
  with_folder localhost/musl-root localhost/folder-on-musl
  serves_in localhost/folder-on-musl /bin/start
  passed "the folder serves in a root with musl and no glibc, trusts what Alpine's place names, and runs musl's programs"

  make_debian_root
  with_folder localhost/other-debian localhost/folder-on-debian
  serves_in localhost/folder-on-debian /bin/start
  passed "the folder serves in $other_suite, and trusts what Debian's place names"

  with_folder scratch localhost/folder-alone "COPY authority.pem $self_contained/share/mcp-session-bridge/ca-certificates.crt"
  serves_in localhost/folder-alone
  passed "the folder serves in an empty root, and trusts what its own copy names"

  with_folder scratch localhost/folder-as-it-is
  podman run --rm "${hardened[@]}" --tmpfs /tmp localhost/folder-as-it-is $self_contained/bin/mcp-bridged --check --url https://example.com/mcp >/dev/null ||
    fail "the folder as it is does not start"
}
