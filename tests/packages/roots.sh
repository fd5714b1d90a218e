# shellcheck shell=bash
# Debian in folders, for the tests that install or boot one. Sourced; needs root and the network.
#
# MCP_TEST_ROOTS (default build/roots) holds one folder a suite and kind, made once and never written to
# afterwards: every use is an overlay that is thrown away. MCP_TEST_MIRROR, if set, is where debootstrap
# gets them from.

roots=${MCP_TEST_ROOTS:-$PWD/build/roots}
readonly roots
scratch=$(mktemp -d)
readonly scratch

say() { printf '\n== %s\n' "$*"; }
passed() { printf '   ok: %s\n' "$*"; }
fail() { printf 'FAILED: %s\n' "$*" >&2; exit 1; }

# A command that fails where none may says where.
set -E
trap 'printf "FAILED: %s, line %s\n" "${BASH_SOURCE[0]}" "$LINENO" >&2' ERR

[ "$(id -u)" -eq 0 ] || { echo "this test installs packages in a root of its own: run it as root" >&2; exit 1; }

# needs PROGRAM PACKAGE …: installs what is missing on this machine.
needs() {
  local missing=()
  while [ $# -gt 0 ]; do
    command -v "$1" >/dev/null || missing+=("$2")
    shift 2
  done
  [ ${#missing[@]} -eq 0 ] || install_packages "${missing[@]}"
}

install_packages() {
  say "installing $*"
  apt-get -q update
  DEBIAN_FRONTEND=noninteractive apt-get -q -y install --no-install-recommends "$@" </dev/null
}

# needs_packages PACKAGE …: the same for what is no program.
needs_packages() {
  local package missing=()
  for package in "$@"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] || install_packages "${missing[@]}"
}

# Ubuntu 22.04, whose C library is older than that of Debian 12.
readonly ubuntu=jammy

# make_root SUITE KIND PACKAGE …: $roots/SUITE-KIND is Debian with these packages, of which some may be of another
# architecture (NAME:ARCH).
make_root() {
  local suite=$1 kind=$2 root=$roots/$1-$2 base=$roots/$1 package available=()
  shift 2
  [ ! -e "$root/.complete" ] || return 0
  if [ ! -e "$base/.complete" ]; then
    say "making $base"
    rm -rf "$base"
    mkdir -p "$roots"
    local source=("$suite" "$base" ${MCP_TEST_MIRROR:+"$MCP_TEST_MIRROR"})
    # Debian has no key of Ubuntu's.
    [ "$suite" != "$ubuntu" ] || source=(--no-check-gpg "$suite" "$base")
    debootstrap --variant=minbase "${source[@]}" >"$scratch/debootstrap" </dev/null ||
      { tail -20 "$scratch/debootstrap" >&2; fail "debootstrap $suite"; }
    touch "$base/.complete"
  fi
  [ "$kind" != plain ] || return 0
  say "making $root"
  rm -rf "$root"
  cp -a "$base" "$root"
  rm "$root/.complete"
  local foreign
  foreign=$(printf '%s\n' "$@" | sed -n 's/.*://p' | sort -u)
  [ -z "$foreign" ] || chroot "$root" dpkg --add-architecture "$foreign"
  chroot "$root" apt-get -qq update
  # A name of the other suite is left out.
  for package in "$@"; do
    if chroot "$root" apt-cache show "$package" >/dev/null 2>&1; then available+=("$package"); fi
  done
  env -u TMPDIR DEBIAN_FRONTEND=noninteractive LC_ALL=C chroot "$root" \
    apt-get -qq -y install --no-install-recommends "${available[@]}" </dev/null >"$scratch/apt" 2>&1 ||
    { tail -20 "$scratch/apt" >&2; fail "apt-get in $root"; }
  touch "$root/.complete"
}

# What is mounted, newest last; undone by leave_roots.
mounted=()

mount_at() {
  local where=$1
  shift
  mkdir -p "$where"
  mount "$@" "$where"
  mounted+=("$where")
}

# overlay NAME LOWER: prints nothing; the writable copy is $scratch/NAME/root.
overlay() {
  local folder=$scratch/$1
  mkdir -p "$folder/upper" "$folder/work" "$folder/root"
  mount_at "$folder/root" -t overlay overlay -o "lowerdir=$2,upperdir=$folder/upper,workdir=$folder/work"
}

# What programs inside need of the machine.
with_kernel() {
  mount_at "$1/proc" -t proc proc
  mount_at "$1/sys" --rbind /sys
  mount --make-rslave "$1/sys"
  mount_at "$1/dev" --rbind /dev
  mount --make-rslave "$1/dev"
  mount_at "$1/dev/shm" -t tmpfs tmpfs
}

# bare NAME SUITE: $scratch/NAME/root is a Debian of the smallest kind with a fresh clone of the project
# in it (with what is changed and not yet committed), and nothing of this machine's but its way to the
# package archives: apt's settings for it, and what npm was told.
# Where root has it: other users cannot come to it.
readonly clone=/root/mcp-session-bridge
bare() {
  local suite=$2 root=$scratch/$1/root
  make_root "$suite" plain
  overlay "$1" "$roots/$suite"
  with_kernel "$root"
  cp /etc/resolv.conf "$root/etc/resolv.conf"
  apt-config dump | grep -E '^Acquire::(https?|Retries|Check)' >"$root/etc/apt/apt.conf.d/99machine" || true
  # Who follows the README answers yes.
  echo 'APT::Get::Assume-Yes "true";' >>"$root/etc/apt/apt.conf.d/99machine"
  [ ! -f ~/.npmrc ] || cp ~/.npmrc "$root/root/.npmrc"
  [ -z "${NODE_EXTRA_CA_CERTS:-}" ] || cp "$NODE_EXTRA_CA_CERTS" "$root/etc/machine-authorities.pem"
  mkdir -p "$root$clone"
  chmod 0700 "$root/root"
  git -c safe.directory='*' ls-files -z | tar -c --null --ignore-failed-read --files-from=- 2>/dev/null |
    tar -x --no-same-owner -C "$root$clone"
}

# as_printed ROOT COMMAND: runs it in the clone, with an environment as empty as it comes, below a process 1
# that reaps nothing, as in a container without an init.
as_printed() {
  local root=$1 environment=(PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root)
  [ ! -e "$root/etc/machine-authorities.pem" ] || environment+=(NODE_EXTRA_CA_CERTS=/etc/machine-authorities.pem)
  printf '%s# %s\n' "${clone##*/}" "$2"
  env -i "${environment[@]}" unshare --pid --fork --mount-proc="$root/proc" \
    chroot "$root" perl -e "$process_1" bash -c "cd $clone && $2" </dev/null
}

# Reaps only what it has started itself, and says what still runs at the end.
readonly process_1='
  my $code = system(@ARGV) >> 8;
  for my $file (glob "/proc/[0-9]*/stat") {
    open(my $stat, "<", $file) or next;
    my $line = <$stat> // "";
    next if $line =~ /^1 / || $line =~ /\) [ZX] /;
    print STDERR "left behind: $line";
    $code ||= 97;
  }
  exit $code;'

# printed PAGE HEADING N: the Nth block of code under that heading. Of one with output (`console`) what is typed.
printed() {
  awk -v heading="## $2" -v wanted="$3" '
    /^## / { under = $0 == heading }
    under && /^```/ { inside = !inside; blocks += inside; typed = $0 == "```console"; next }
    under && inside && blocks == wanted && (!typed || sub(/^\$ /, ""))' "$1"
}

# nothing_left ROOT: no process runs in it any more.
nothing_left() {
  local process strays=()
  for process in /proc/[0-9]*; do
    [ "$(readlink "$process/root" 2>/dev/null)" != "$1" ] || strays+=("$process")
  done
  [ ${#strays[@]} -eq 0 ] || { head -c 200 "${strays[@]/%//cmdline}" | tr '\0' ' ' >&2; kill "${strays[@]#/proc/}"; fail "processes were left behind"; }
}

leave_roots() {
  local index
  for ((index = ${#mounted[@]} - 1; index >= 0; index--)); do
    umount -R "${mounted[index]}" 2>/dev/null || umount -l "${mounted[index]}" || true
  done
  mounted=()
  rm -rf --one-file-system "$scratch"
}

# What the test has started (children+=(PID)) ends with it.
children=()
finish() {
  local child
  for child in "${children[@]}"; do kill "$child" 2>/dev/null || true; done
  wait 2>/dev/null || true
  leave_roots
}

# podman_storage DRIVER FOLDER RUN_FOLDER: podman has a storage of the test's own from here on; cgroupfs and runc
# because there may be no systemd here.
podman_storage() {
  cat >"$scratch/containers.conf" <<'CONF'
[containers]
default_ulimits = ["nofile=20000:20000", "nproc=30000:30000"]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
[network]
network_backend = "netavark"
CONF
  printf '[storage]\ndriver = "%s"\ngraphroot = "%s"\nrunroot = "%s"\n' "$@" >"$scratch/storage.conf"
  export CONTAINERS_CONF=$scratch/containers.conf CONTAINERS_STORAGE_CONF=$scratch/storage.conf
}

# The packages a build needs, of both suites.
# shellcheck disable=SC2034  # used by those who source this
build_packages=(g++ cmake ninja-build pkg-config ccache dpkg-dev file libasio-dev libcurl4-openssl-dev
                libsimdjson-dev libfmt-dev libspdlog-dev libtomlplusplus-dev libssl-dev zlib1g-dev libbrotli-dev
                libcpp-httplib-dev prometheus-cpp-dev ca-certificates)
# The same for arm64, built on amd64: tools of this machine, libraries of the other, and what runs its programs.
# shellcheck disable=SC2034  # used by those who source this
arm64_packages=(g++-aarch64-linux-gnu python3-minimal cmake ninja-build pkg-config ccache dpkg-dev file ca-certificates qemu-user-static
                libasio-dev libtomlplusplus-dev:arm64 doctest-dev libc6-dev:arm64 libstdc++6:arm64 libcurl4-openssl-dev:arm64
                libsimdjson-dev:arm64 libfmt-dev:arm64 libspdlog-dev:arm64 libssl-dev:arm64 zlib1g-dev:arm64
                libbrotli-dev:arm64 libcpp-httplib-dev:arm64 prometheus-cpp-dev:arm64)

# build_demo: the demo upstream, on this machine.
# shellcheck disable=SC2034  # used by those who source this
demo_upstream=$PWD/build/demo/tests/support/demo-upstream
build_demo() {
  say "the demo upstream"
  needs_packages "${build_packages[@]}"
  cmake --preset demo >/dev/null
  cmake --build --preset demo >/dev/null
}

# build_package SUITE: leaves $scratch/SUITE.deb, and the trees that `cmake --install` makes with the
# package's prefix and with /usr/local in $scratch/SUITE-installed and $scratch/SUITE-local.
build_package() {
  local suite=$1
  make_root "$suite" build "${build_packages[@]}"
  say "building the package for $suite"
  overlay "$suite-build" "$roots/$suite-build"
  local root=$scratch/$suite-build/root
  with_kernel "$root"
  mount_at "$root/src" --bind -o ro "$PWD"
  mkdir -p "$roots/ccache/$suite"
  mount_at "$root/ccache" --bind "$roots/ccache/$suite"
  # shellcheck disable=SC2016  # expanded by the shell inside
  CCACHE_DIR=/ccache LC_ALL=C.UTF-8 chroot "$root" sh -ec '
    cmake -S /src -B /build -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=/usr \
      -DCMAKE_CXX_COMPILER_LAUNCHER=ccache "-DCPACK_PACKAGE_CONTACT=mcp-session-bridge <root@$(uname -n)>"
    nice cmake --build /build
    cmake --install /build --prefix /installed
    (cd /build && cpack)
    cmake -S /src -B /build -DCMAKE_INSTALL_PREFIX=/usr/local
    cmake --install /build --prefix /local' >"$scratch/$suite-build.log" 2>&1 ||
    { tail -40 "$scratch/$suite-build.log" >&2; fail "the build in $suite"; }
  cp "$root"/build/mcp-session-bridge_*.deb "$scratch/$suite.deb"
  cp -a "$root/installed" "$scratch/$suite-installed"
  cp -a "$root/local" "$scratch/$suite-local"
}
