#!/usr/bin/env bash
# The files of a release where they will live: the folder in bare Debians, in roots laid out as Alpine's and Fedora's, in
# an empty one, on a read-only file system, for a user without root; install, upgrade, removal; packages and image. As
# root, with the network.
#
#   bash tests/packages/release.sh [--dist FOLDER] [--arch amd64,arm64] [--twice] [--ubuntu]
#
# FOLDER (default: one made by docker/release.sh) has the files. With --twice they are made again, and are the same. With
# --ubuntu the folder is tried in an Ubuntu, too: nothing in Debian can verify its packages.
set -euo pipefail
cd "$(dirname "$0")/../.."
dist='' architectures=amd64 twice='' with_ubuntu=''
while [ $# -gt 0 ]; do
  case $1 in
    --dist) dist=$2; shift ;;
    --arch) architectures=$2; shift ;;
    --twice) twice=yes ;;
    --ubuntu) with_ubuntu=yes ;;
    *) sed -n '1d;/^#/!q;s/^# \{0,1\}//p' "$0" >&2; exit 64 ;;
  esac
  shift
done
# shellcheck source=tests/packages/roots.sh
. tests/packages/roots.sh

trap finish EXIT
needs setpriv util-linux python3 python3 podman podman runc runc conmon conmon
needs_packages golang-github-containers-common

readonly place=/opt/mcp-session-bridge

# enter ROOT COMMAND…: in it, with nothing of this machine's environment. Each is the machine's init of its own no more
# than a container's first process is.
enter() {
  local root=$1
  shift
  env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME="${home:-/root}" XDG_STATE_HOME=/tmp/state \
    chroot ${as:+--userspec="$as"} "$root" "$@"
}

# typed ROOT N: line N of the page, where the files are in /tmp.
typed() { enter "$1" sh -ec "cd /tmp; $(printed README.md "Get it" 1 | sed -n "$2p")"; }
readonly release_line=1 package_line=3 folder_line=4 image_line=5
name_of_folder() { basename "$tarball" .tar.gz; }

# first_contact ROOT PROGRAMS: the first command that the page names starts a daemon, and prints what the server offers.
first_contact() {
  local root=$1 client=$2/mcp-nc command
  # shellcheck disable=SC2016  # no expansion
  command=$(sed -n 's/^The first command to type is `mcp-nc \(.*\)`:.*/\1/p' README.md)
  # shellcheck disable=SC2086  # words
  enter "$root" "$client" ${command/URL/"$url"} >"$scratch/said" 2>&1 || { cat "$scratch/said" >&2; fail "the first command in $root"; }
  grep -qx echo "$scratch/said" || fail "the first command in $root prints: $(cat "$scratch/said")"
  enter "$root" "$client" --url "$url" stop >"$scratch/said" 2>&1 || fail "its daemon does not end: $(cat "$scratch/said")"
  rm -rf "$root"/tmp/state "$root"/tmp/mcp-bridged-*
}

# serves ROOT PROGRAMS [SOCKET]: a tool is called through the daemon, which ends in order. With upgraded=yes it is called
# again after an upgrade in place.
serves() {
  local root=$1 programs=$2 socket=${3:-/tmp/mcp.sock} daemon
  first_contact "$root" "$programs"
  # shellcheck disable=SC2086  # an option or nothing
  env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME="${home:-/root}" MCP_SERVER_URL="$url" chroot ${as:+--userspec="$as"} "$root" \
    "$programs/mcp-bridged" --socket "$socket" 2>"$scratch/daemon.log" &
  daemon=$!
  children+=("$daemon")
  [ "$(enter "$root" "$programs/mcp-nc" -s "$socket" --wait 20s call echo message=here)" = here ] ||
    { cat "$scratch/daemon.log" >&2; fail "no tool can be called in $root"; }
  if [ -n "${upgraded:-}" ]; then
    upgrade "$daemon"
    [ "$(enter "$root" "$programs/mcp-nc" -s "$socket" --wait 20s call echo message=again)" = again ] ||
      { cat "$scratch/daemon.log" >&2; fail "no tool can be called in $root after an upgrade"; }
  fi
  kill "$daemon"
  wait "$daemon" || fail "the daemon ended with $?: $(cat "$scratch/daemon.log")"
}

# upgrade DAEMON: in place.
upgrade() {
  local left=600
  kill -USR2 "$1"
  until grep -q 'continues serving' "$scratch/daemon.log"; do
    left=$((left - 1))
    if [ $left -le 0 ] || ! kill -0 "$1"; then fail "the daemon is not upgraded: $(cat "$scratch/daemon.log")"; fi
    sleep 0.1
  done
}

paths_of() { find "$1" -xdev \( -path "$1/tmp" -o -path "$1/proc" -o -path "$1/sys" -o -path "$1/dev" -o -path "$1/var/cache" -o -name '*-' \) -prune -o -printf '%P %l\n' | sort; }

# life ROOT: installed, used, upgraded while it runs, removed.
life() {
  local root=$1 daemon name
  name=$(name_of_folder)
  mkdir -p "$root/tmp"
  chmod 1777 "$root/tmp"
  cp "$tarball" "$root/tmp"
  paths_of "$root" >"$scratch/before"
  mkdir -p "$root/usr/local/bin"
  echo mine >"$root/usr/local/bin/mcp-nc"
  typed "$root" $folder_line >"$scratch/said" 2>&1 || { cat "$scratch/said" >&2; fail "install.sh in $root"; }
  grep -q 'left alone.*/usr/local/bin/mcp-nc' "$scratch/said" || fail "a program of another origin is not mentioned"
  [ "$(cat "$root/usr/local/bin/mcp-nc")" = mine ] || fail "a program of another origin was replaced"
  rm "$root/usr/local/bin/mcp-nc"
  enter "$root" sh "/tmp/$name/install.sh" >"$scratch/said" 2>&1 || { cat "$scratch/said" >&2; fail "install.sh again in $root"; }
  for file in bin/mcp-nc bin/mcp-bridged share/man/man1/mcp-nc.1 share/bash-completion/completions/mcp-bridged \
    share/zsh/site-functions/_mcp-nc share/fish/vendor_completions.d/mcp-bridged.fish; do
    [ -L "$root/usr/local/$file" ] || fail "there is no link $file"
  done
  serves "$root" /usr/local/bin

  # An upgrade over the one that runs, which had a file more.
  echo ./share/of-the-older >>"$root$place/lib/files"
  : >"$root$place/share/of-the-older"
  env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root MCP_SERVER_URL="$url" chroot "$root" /usr/local/bin/mcp-bridged \
    --socket /tmp/mcp.sock 2>"$scratch/daemon.log" &
  daemon=$!
  children+=("$daemon")
  enter "$root" mcp-nc -s /tmp/mcp.sock --wait 20s call echo message=before >/dev/null
  enter "$root" sh "/tmp/$name/install.sh" >"$scratch/said" 2>&1 || fail "install.sh over a running daemon: $(cat "$scratch/said")"
  if [ -e "$root/proc/self" ]; then
    grep -q "kill -USR2.* $daemon" "$scratch/said" || fail "the daemon of the old version is not named: $(cat "$scratch/said")"
    upgrade "$daemon"
  fi
  [ "$(enter "$root" mcp-nc -s /tmp/mcp.sock --wait 20s call echo message=after)" = after ] || fail "the upgraded daemon does not serve"
  [ ! -e "$root$place/share/of-the-older" ] || fail "a file of the older version stays"
  kill "$daemon"
  wait "$daemon" || fail "the upgraded daemon ended with $?: $(cat "$scratch/daemon.log")"

  # At another place, which is removed alone.
  enter "$root" sh "/tmp/$name/install.sh" --folder /srv/bridge --prefix /srv/prefix >/dev/null 2>&1 || fail "install.sh --folder"
  mv "$root$place" "$root$place.away"
  serves "$root" /srv/prefix/bin
  mv "$root$place.away" "$root$place"
  enter "$root" sh /srv/bridge/install.sh --remove >/dev/null || fail "install.sh --remove of another place"
  [ -z "$(find "$root/srv/prefix" ! -type d)" ] || fail "removal left $(find "$root/srv/prefix" ! -type d)"
  rm -rf "$root/srv/prefix"
  serves "$root" /usr/local/bin

  enter "$root" sh $place/install.sh --remove >/dev/null || fail "install.sh --remove"
  # Folders of a shared prefix stay, and so do the user and its configuration.
  paths_of "$root" | grep -vE "^(usr/local|etc/(passwd|group|shadow|gshadow|mcp-bridged|\.pwd)|srv|opt)" >"$scratch/after"
  grep -vE "^(usr/local|etc/(passwd|group|shadow|gshadow|mcp-bridged|\.pwd)|srv|opt)" "$scratch/before" | diff - "$scratch/after" || fail "removal left something"
  [ -z "$(find "$root/usr/local" "$root/opt" ! -type d ! -lname '*/share/man' -newer "$scratch/before" 2>/dev/null)" ] ||
    fail "removal left $(find "$root/usr/local" "$root/opt" ! -type d -newer "$scratch/before")"
  rm -rf "$root/tmp/$name"
}

# check_units ROOT: with systemd there, though not running.
check_units() {
  local root=$1 name unit
  name=$(name_of_folder)
  enter "$root" apt-get -qq update
  enter "$root" apt-get -qq -y install --no-install-recommends systemd </dev/null >"$scratch/apt" 2>&1 || { tail "$scratch/apt" >&2; fail "systemd"; }
  enter "$root" sh "/tmp/$name/install.sh" >"$scratch/said" 2>&1 || { cat "$scratch/said" >&2; fail "install.sh beside systemd"; }
  if [ "$(enter "$root" systemctl --version | sed -n '1s/^systemd \([0-9]*\).*/\1/p')" -lt 250 ]; then
    grep -q 'the units want systemd 250' "$scratch/said" || fail "nothing is said of the old systemd: $(cat "$scratch/said")"
    [ -z "$(find "$root/usr/local/lib/systemd" ! -type d 2>/dev/null)" ] || fail "units are installed for an old systemd"
    enter "$root" sh $place/install.sh --remove >/dev/null || fail "--remove beside systemd"
    return
  fi
  for unit in mcp-bridged.service mcp-bridged@one.service mcp-bridged-child@one.service; do
    enter "$root" systemd-analyze verify --man=no "/usr/local/lib/systemd/system/${unit/@one/@}" >"$scratch/said" 2>&1 || true
    if grep mcp-bridged "$scratch/said"; then fail "systemd does not take $unit"; fi
  done
  enter "$root" id mcp-bridged >/dev/null || fail "there is no user"
  enter "$root" sh $place/install.sh --remove >/dev/null || fail "--remove beside systemd"
  [ -z "$(find "$root/usr/local/lib" ! -type d)" ] || fail "removal left $(find "$root/usr/local/lib" ! -type d)"
}

# packages_from_machine ROOT: apt inside reaches what it reaches here, and asks nothing.
packages_from_machine() {
  cp /etc/resolv.conf "$1/etc/resolv.conf"
  apt-config dump | grep -E '^Acquire::(https?|Retries|Check)' >"$1/etc/apt/apt.conf.d/99machine" || true
  echo 'APT::Get::Assume-Yes "true";' >>"$1/etc/apt/apt.conf.d/99machine"
}

# A root of busybox alone, with another C library or none.
plain_root() {
  local root=$scratch/$1/root
  mkdir -p "$root"/{usr/bin,usr/lib,usr/lib64,tmp,run,etc,proc,dev,root,opt,srv}
  ln -s usr/bin "$root/bin"
  ln -s usr/lib "$root/lib"
  : >"$root/dev/null"
  overlay "$1-packages" "$roots/bookworm"
  packages_from_machine "$scratch/$1-packages/root"
  chroot "$scratch/$1-packages/root" sh -ec 'apt-get -qq update; cd /tmp; apt-get -qq download musl busybox-static' >/dev/null 2>&1
  local deb
  for deb in "$scratch/$1-packages"/root/tmp/*.deb; do
    dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$root" --keep-directory-symlink --exclude='./usr/share/*'
  done
  local applet
  for applet in $("$root/bin/busybox" --list); do [ -e "$root/bin/$applet" ] || ln -s busybox "$root/bin/$applet"; done
  mount_at "$root/proc" -t proc proc
}

check_places() {
  local suite root
  for suite in bookworm trixie ${with_ubuntu:+"$ubuntu"}; do
    make_root "$suite" plain
    overlay "$suite" "$roots/$suite"
    root=$scratch/$suite/root
    with_kernel "$root"
    say "the folder in $suite"
    life "$root"
    passed "$suite: installed, used, upgraded while it runs, put elsewhere, removed"

    tar -xzf "$tarball" -C "$root/tmp"
    enter "$root" useradd --create-home --uid 4711 someone
    as=someone:someone home=/home/someone
    enter "$root" sh "/tmp/$(name_of_folder)/install.sh" >"$scratch/said" 2>&1 || { cat "$scratch/said" >&2; fail "install.sh without root"; }
    serves "$root" /home/someone/.local/bin /home/someone/mcp.sock
    enter "$root" sh /home/someone/.local/lib/mcp-session-bridge/install.sh --remove >/dev/null || fail "--remove without root"
    [ -z "$(find "$root/home/someone/.local" ! -type d)" ] || fail "removal left $(find "$root/home/someone/.local" ! -type d)"
    as='' home=''
    passed "$suite: the same for a user without root"

    packages_from_machine "$root"
    check_units "$root"
    passed "$suite: beside systemd its units are installed with their user, and removed, or it is said that systemd is too old"
  done

  plain_root alpine
  mkdir -p "$scratch/alpine/root/etc/ssl"
  life "$scratch/alpine/root"
  passed "musl and busybox, as Alpine has them: the same"

  plain_root fedora
  root=$scratch/fedora/root
  find "$root/usr/lib" -mindepth 1 -delete
  ln -s usr/lib64 "$root/lib64"
  mkdir -p "$root/etc/pki/tls/certs"
  cp "$roots/bookworm-build/etc/ssl/certs/ca-certificates.crt" "$root/etc/pki/tls/certs/ca-bundle.crt" 2>/dev/null || true
  life "$root"
  passed "busybox in Fedora's layout: the same"

  # But for what an engine mounts into every container.
  root=$scratch/empty
  mkdir -p "$root/opt" "$root/tmp" "$root/dev"
  : >"$root/dev/null"
  mount_at "$root/proc" -t proc proc
  tar -xzf "$tarball" -C "$root/opt"
  mv "$root/opt/$(name_of_folder)" "$root$place"
  serves "$root" $place/bin
  passed "an empty root: the folder at $place serves as it was unpacked"

  # With the folder's own authorities alone.
  local secured=$scratch/secured address=127.77.$((RANDOM % 250 + 1)).$((RANDOM % 250 + 1))
  mkdir -p "$secured" "$root/etc"
  python3 tests/containers/secured_upstream.py "$(sed 's/.*:\([0-9]*\)\/.*/\1/' <<<"$url")" "$secured" "$address" &
  children+=($!)
  until [ -s "$secured/url" ]; do sleep 0.05; done
  echo "nameserver $address" >"$root/etc/resolv.conf"
  cp "$secured/authority.pem" "$root$place/share/mcp-session-bridge/ca-certificates.crt"
  url=$(cat "$secured/url") upgraded=yes serves "$root" $place/bin
  passed "an empty root: it trusts what its own copy names, after an upgrade in place, too"

  mount_at "$scratch/read-only" --bind -o ro "$root"
  mount -o remount,ro,bind "$scratch/read-only"
  mount_at "$scratch/read-only/tmp" -t tmpfs tmpfs
  mount_at "$scratch/read-only/proc" -t proc proc
  if touch "$scratch/read-only/opt/x" 2>/dev/null; then fail "it can be written to"; fi
  serves "$scratch/read-only" $place/bin
  passed "a read-only file system: the same"
}

check_packages() {
  local suite number root
  for suite in bookworm trixie; do
    root=$scratch/$suite/root
    # shellcheck source=/dev/null
    number=$(. "$root/etc/os-release" && echo "$VERSION_ID")
    # One that was made for a single Debian is tried there.
    compgen -G "$dist/*~deb${number}_amd64.deb" >/dev/null || { echo "   not tried: there is no package for $suite" >&2; continue; }
    cp "$dist"/mcp-session-bridge_*~deb"$number"_amd64.deb "$root/tmp"
    # The page names the one of Debian 12.
    enter "$root" sh -ec "cd /tmp; $(printed README.md "Get it" 1 | sed -n "${package_line}s/~deb12/~deb$number/p")" </dev/null >"$scratch/apt" 2>&1 ||
      { tail "$scratch/apt" >&2; fail "the package does not install in $suite"; }
    serves "$root" /usr/bin
    passed "$suite: the package installs, and serves"
  done
}

check_image() {
  local image line
  podman_storage vfs "$scratch/podman" "$scratch/podman-run"
  line=$(printed README.md "Get it" 1 | sed -n ${image_line}p)
  (cd "$dist" && eval "${line:?}") >"$scratch/loaded" 2>&1 || { cat "$scratch/loaded" >&2; fail "the image cannot be loaded"; }
  image=$(podman images -q | head -1)
  podman run -d --name bridge --network host --read-only --read-only-tmpfs=false --cap-drop all --security-opt no-new-privileges \
    -v socket:/run/mcp-bridged -v state:/var/lib/mcp-bridged -e MCP_SERVER_URL="$url" "$image" >/dev/null
  [ "$(podman exec bridge mcp-nc --wait 20s -w 60s call echo message=image)" = image ] || { podman logs bridge >&2; fail "no tool can be called in the image"; }
  podman stop --time 20 bridge >/dev/null
  [ "$(podman inspect --format '{{.State.ExitCode}}' bridge)" = 0 ] || fail "the container does not end in order"
  podman rm -f bridge >/dev/null
  passed "the image is loaded and serves, read-only and without capabilities"
}

check_sums_and_bill() {
  (cd "$dist" && sha256sum --quiet -c SHA256SUMS) || fail "SHA256SUMS"
  [ "$(wc -l <"$dist/SHA256SUMS")" = "$(find "$dist" -maxdepth 1 -type f ! -name SHA256SUMS | wc -l)" ] || fail "SHA256SUMS does not list every file"
  python3 - "$dist" <<'PYTHON' || fail "the bill of materials"
import glob, hashlib, json, os, re, sys, tarfile
for path in glob.glob(sys.argv[1] + "/*.cdx.json"):
    with open(path, encoding="utf-8") as file:
        bill = json.load(file)
    assert bill["bomFormat"] == "CycloneDX" and bill["specVersion"] == "1.5", path
    parts = [bill["metadata"]["component"], *bill["components"]]
    hashes = {part["name"]: part["hashes"][0]["content"] for whole in parts for part in whole.get("components", ())}
    assert hashes.pop("share/mcp-session-bridge/ca-certificates.crt"), path
    with tarfile.open(path.replace(".cdx.json", ".tar.gz")) as tar:
        inside = {entry.name.split("/", 1)[1]: hashlib.sha256(tar.extractfile(entry).read()).hexdigest() for entry in tar
                  if entry.isfile() and entry.name.split("/")[1] in ("bin", "lib") and not entry.name.endswith(("/files", "/places", "/packages"))}
    assert inside == hashes, set(inside.items()) ^ set(hashes.items())
    with tarfile.open(path.replace(".cdx.json", ".tar.gz")) as tar:
        notices = {entry.name.split("/share/doc/")[1] for entry in tar if "/share/doc/" in entry.name and entry.isfile()}
    names = {part["name"] for part in bill["components"] if "package for Debian" not in part["properties"][0]["value"]}
    assert names == notices, names ^ notices
    for name in ("libcurl4", "libc6", "libasio-dev", "libspdlog-dev", "libstdc++6"):
        assert name in names, (name, names)
    assert all(part["version"] and part["purl"] for part in bill["components"])
    architecture = bill["metadata"]["properties"][0]["value"]
    for part in bill["components"]:
        native = part["name"] == "libsimdjson-dev" or any(file["name"].startswith("lib/") for file in part.get("components", ()))
        assert re.search(r"arch=(\w+)&", part["purl"])[1] in ((architecture,) if native else (architecture, "all")), part["purl"]
    assert len({part["bom-ref"] for part in bill["components"]}) == len(bill["components"])
    distributions = {re.search(r"distro=(debian-\d+)", part["purl"])[1] for part in bill["components"]}
    assert distributions == {f"debian-{number}" for number in re.findall(r"~deb(\d+)_", " ".join(os.listdir(sys.argv[1])))}, distributions
PYTHON
  python3 - "$dist" "$architectures" <<'PYTHON' || fail "the image's index"
import glob, hashlib, json, sys, tarfile
with tarfile.open(glob.glob(sys.argv[1] + "/*-oci.tar")[0]) as tar:
    def blob(digest):
        content = tar.extractfile("blobs/" + digest.replace(":", "/")).read()
        assert "sha256:" + hashlib.sha256(content).hexdigest() == digest
        return json.loads(content)
    index = json.load(tar.extractfile("index.json"))
    while "manifest.list" in index["manifests"][0]["mediaType"] or "image.index" in index["manifests"][0]["mediaType"]:
        index = blob(index["manifests"][0]["digest"])
    found = {}
    for each in index["manifests"]:
        found[each["platform"]["architecture"]] = blob(blob(each["digest"])["config"]["digest"])["architecture"]
    assert found == {name: name for name in sys.argv[2].split(",")}, found
PYTHON
  passed "the sums are right, the image's index has each architecture, and the bill of materials names each file and its package"
}

# The programs of another architecture, if this machine can run them.
check_arm64() {
  local root=$scratch/arm64
  mkdir -p "$root/opt" "$root/tmp"
  mount_at "$root/proc" -t proc proc
  tar -xzf "$dist"/mcp-session-bridge-*-linux-arm64.tar.gz -C "$root/opt"
  mv "$root"/opt/mcp-session-bridge-* "$root$place"
  needs qemu-aarch64-static qemu-user-static
  cp "$(command -v qemu-aarch64-static)" "$root/qemu"
  MCP_SERVER_URL=$url chroot "$root" /qemu $place/lib/ld.so $place/bin/mcp-bridged --socket /tmp/mcp.sock 2>"$scratch/daemon.log" &
  children+=($!)
  [ "$(chroot "$root" /qemu $place/bin/mcp-nc -s /tmp/mcp.sock --wait 60s call echo message=arm)" = arm ] ||
    { cat "$scratch/daemon.log" >&2; fail "no tool can be called through the programs for arm64"; }
  kill $!
  wait $! || fail "the daemon for arm64 ended with $?"
  for deb in "$dist"/*_arm64.deb; do
    dpkg-deb --field "$deb" Depends | grep -q libcurl4 || fail "$deb depends on no library"
  done
  passed "arm64: the folder serves in an empty root (qemu), and the packages name their libraries"
}

if [ -z "$dist" ]; then
  dist=$PWD/build/dist
  $(printed README.md "Get it" 1 | sed -n "${release_line}s/--arch .*//p") --arch "$architectures"
fi
dist=$(cd "$dist" && pwd)
if [ -n "$twice" ]; then
  # By another locale; what else is there is left alone.
  mkdir -p "$scratch/again/mcp-session-bridge"
  : >"$scratch/again/mcp-session-bridge/mine"
  (cd "$scratch" && LC_ALL=C.UTF-8 CCACHE_RECACHE=1 bash "$OLDPWD/docker/release.sh" --arch "$architectures" --dist again)
  rm "$scratch/again/mcp-session-bridge/mine" || fail "a file of another origin was removed"
  rmdir "$scratch/again/mcp-session-bridge"
  diff -r "$dist" "$scratch/again" || fail "the second time the files are others"
  passed "made twice, the files are the same"
fi
tarball=$(echo "$dist"/mcp-session-bridge-*-linux-amd64.tar.gz)
as='' home=''

build_demo
"$demo_upstream" >"$scratch/upstream" &
children+=($!)
until [ -s "$scratch/upstream" ]; do sleep 0.05; done
url=$(sed -n 's/^listening on //p;q' "$scratch/upstream")

check_sums_and_bill
check_places
check_packages
check_image
[[ ",$architectures," != *,arm64,* ]] || check_arm64
say "all passed"
