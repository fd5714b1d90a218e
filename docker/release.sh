#!/usr/bin/env bash
# Makes the files of a release in build/dist, in folders with Debian 12 and 13. As root; it needs no container engine,
# and of the network only Debian's packages. The same commit with the same packages makes the same bytes.
#
#   bash docker/release.sh [--arch amd64,arm64] [--suite bookworm,trixie] [--dist FOLDER]
#
#   mcp-nc-VERSION-linux-ARCH                            the client: one static file
#   mcp-session-bridge-VERSION-linux-ARCH.tar.gz         both programs with all they need, and install.sh
#   mcp-session-bridge_VERSION-1~debNN_ARCH.deb          the package for Debian 12, and for Debian 13
#   mcp-session-bridge-VERSION-oci.tar                   the image, of all architectures
#   mcp-session-bridge-VERSION-linux-ARCH.cdx.json       what is in them: CycloneDX
#   SHA256SUMS
#
# The Debians stay in MCP_TEST_ROOTS (default build/roots).
set -euo pipefail
export LC_ALL=C
# The modes in the packages are not those of who makes them.
umask 022

usage() { sed -n '1d;/^#/!q;s/^# \{0,1\}//p' "$0" >&2; exit 64; }
architectures=(amd64) suites=(bookworm trixie) dist=''
while [ $# -gt 0 ]; do
  case $1 in
    --arch) IFS=, read -ra architectures <<<"${2:?}"; shift ;;
    --suite) IFS=, read -ra suites <<<"${2:?}"; shift ;;
    --dist) dist=$(realpath -m -- "${2:?}"); shift ;;
    *) usage ;;
  esac
  shift
done
for architecture in "${architectures[@]}"; do
  case $architecture in amd64 | arm64) ;; *) echo "release.sh: no architecture '$architecture'" >&2; exit 64 ;; esac
done
[ "$(dpkg --print-architecture)" = amd64 ] || { echo "release.sh: only an amd64 machine makes releases" >&2; exit 1; }

cd "$(dirname "$0")/.."
: "${dist:=$PWD/build/dist}"
# shellcheck source=tests/packages/roots.sh
. tests/packages/roots.sh
trap leave_roots EXIT
needs debootstrap debootstrap git git python3 python3

# The folder is built on the first, the oldest: it runs on what is newer.
readonly place=/opt/mcp-session-bridge
version=$(sed -n 's/^project(mcp-session-bridge VERSION \([^ ]*\).*/\1/p' CMakeLists.txt)
# The time of the commit is that of every file.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -c safe.directory='*' log -1 --format=%ct)}
export SOURCE_DATE_EPOCH
[ -z "$(git -c safe.directory='*' status --porcelain --untracked-files=no)" ] || echo "release.sh: with changes that are not committed" >&2

sources=$scratch/sources made=$scratch/made
mkdir -p "$sources" "$made"
git -c safe.directory='*' ls-files -z | tar -c --null --ignore-failed-read --files-from=- 2>/dev/null | tar -x --no-same-owner -C "$sources"
chmod -R u=rwX,go=rX "$sources"
find "$sources" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +

# build SUITE ARCH: $scratch/SUITE-ARCH/root/out gets the package and, on the oldest Debian, the folder.
build() {
  local suite=$1 architecture=$2 root=$scratch/$1-$2/root packages kind=build options=() compiler=c++
  packages=("${build_packages[@]}")
  if [ "$architecture" = arm64 ]; then
    kind=arm64 packages=("${arm64_packages[@]}") options=(-DCMAKE_TOOLCHAIN_FILE=/src/docker/arm64.cmake)
    compiler="aarch64-linux-gnu-g++ -B/usr/lib/aarch64-linux-gnu"
  fi
  make_root "$suite" "$kind" "${packages[@]}"
  say "building for $suite, $architecture"
  overlay "$suite-$architecture" "$roots/$suite-$kind"
  with_kernel "$root"
  mount_at "$root/src" --bind -o ro "$sources"
  mkdir -p "$roots/ccache/$suite" "$root/out"
  mount_at "$root/ccache" --bind "$roots/ccache/$suite"
  env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 CCACHE_DIR=/ccache ${CCACHE_RECACHE:+CCACHE_RECACHE=1} \
    SOURCE_DATE_EPOCH="$SOURCE_DATE_EPOCH" FOLDER="$([ "$suite" != "${suites[0]}" ] || echo "$place")" ARCH="$architecture" COMPILER="$compiler" \
    chroot "$root" bash -euo pipefail -s -- "${options[@]}" <<<"$build_inside" >"$scratch/$suite-$architecture.log" 2>&1 ||
    { tail -40 "$scratch/$suite-$architecture.log" >&2; fail "the build for $suite, $architecture"; }
}

# Every folder has the same paths at every build, so nothing of this machine is in the programs.
# shellcheck disable=SC2016  # expanded by the shell inside
readonly build_inside='
  set -x
  make() {
    cmake -S /src -B /build -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DMCP_BRIDGE_UNITY=ON \
      -DMCP_BRIDGE_STATIC_CLIENT=ON "$@"
    cmake --build /build
  }
  make -DMCP_BRIDGE_PACKAGE=ON -DCMAKE_INSTALL_PREFIX=/usr "$@"
  (cd /build && DEB_HOST_ARCH=$ARCH cpack)
  cp /build/mcp-session-bridge_*.deb /out

  # Which packages have headers, and with them code, in the programs; and those of what mcp-nc is linked with.
  {
    ninja -C /build -t deps | sed -n "s/^    //p" | grep "^/usr/"
    for archive in libc.a libstdc++.a libgcc.a; do $COMPILER -print-file-name=$archive; done
  } | sort -u | xargs realpath | sort -u >/out/code
  xargs dpkg-query -S </out/code 2>/dev/null | sed "s/: .*//" | sort -u |
    xargs dpkg-query -W -f="\${Package}:\${Architecture} \${Version} \${source:Package} \${source:Version}\n" >/out/compiled-in
  [ -n "$FOLDER" ] || exit 0

  make -DCMAKE_INSTALL_PREFIX=$FOLDER -DMCP_BRIDGE_FOLDER=$FOLDER "$@"
  cmake --install /build --strip --prefix /installed
  [ "$ARCH" = amd64 ] || export RUN=qemu-aarch64-static
  sh /src/docker/self_contained.sh /installed/bin $FOLDER $FOLDER
  cp -R /installed/share/man /installed/share/bash-completion /installed/share/zsh /installed/share/fish $FOLDER/share
  own=$FOLDER/share/mcp-session-bridge
  cp -R /installed/lib/systemd/system $own/systemd
  cp /installed/lib/sysusers.d/mcp-bridged.conf $own/sysusers.conf
  cp -R /installed/share/doc/mcp-session-bridge/examples $own
  cp /src/CHANGELOG.md $own
  # Their licences ask for it, as those of the libraries do.
  sed "s/:.*//" /out/compiled-in | while read -r package; do
    cp -L /usr/share/doc/$package/copyright $FOLDER/share/doc/$package
  done
  cp /src/docker/install.sh $FOLDER
  # What install.sh may remove.
  (cd $FOLDER && { find . ! -type d; echo ./lib/files; echo ./lib/installed; } | LC_ALL=C sort >/out/files)
  cp /out/files $FOLDER/lib
  chmod -R u=rwX,go=rX $FOLDER
'

# archive FOLDER NAME: NAME.tar.gz, with that name as its top folder.
archive() {
  tar -C "$1" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" --format=ustar \
    --transform="s|^\.|$2|" -c . | gzip -9n >"$made/$2.tar.gz"
}

images=()
for architecture in "${architectures[@]}"; do
  name=mcp-session-bridge-$version-linux-$architecture
  compiled_in=()
  for suite in "${suites[@]}"; do
    build "$suite" "$architecture"
    cp "$scratch/$suite-$architecture"/root/out/*.deb "$made"
    number=$(sed -n 's/^VERSION_ID="\(.*\)"/\1/p' "$scratch/$suite-$architecture/root/etc/os-release")
    compiled_in+=("$number=$scratch/$suite-$architecture/root/out/compiled-in")
  done
  root=$scratch/${suites[0]}-$architecture/root
  cp "$root$place/bin/mcp-nc" "$made/mcp-nc-$version-linux-$architecture"
  archive "$root$place" "$name"
  python3 docker/sbom.py "$architecture" "$version" "$root$place" "${compiled_in[@]}" >"$made/$name.cdx.json"
  images+=("$architecture=$root$place")
done
python3 docker/oci_archive.py "$version" "$made/mcp-session-bridge-$version-oci.tar" "${images[@]}"
(cd "$made" && sha256sum -- * >SHA256SUMS)

# In place of those of another commit; other files there are left alone.
mkdir -p "$dist"
rm -f "$dist"/mcp-nc-*-linux-* "$dist"/mcp-session-bridge_*.deb "$dist"/mcp-session-bridge-*.{tar.gz,tar,cdx.json} "$dist/SHA256SUMS"
say "made in $dist"
(cd "$made" && du -h --apparent-size -- *)
mv "$made"/* "$dist"
