# shellcheck shell=bash
# What building and testing need of Debian's packages, and how what is missing gets there: sourced.

# What the programs, the demo upstream and the benchmark are made of, in Debian 12 and 13.
readonly build_libraries=(libasio-dev libcurl4-openssl-dev libcpp-httplib-dev libsimdjson-dev libfmt-dev libspdlog-dev libtomlplusplus-dev
                          prometheus-cpp-dev libssl-dev zlib1g-dev libbrotli-dev)
# A program, and the package that has it, a line each.
readonly build_tools='g++ g++
cmake cmake
ninja ninja-build
pkg-config pkg-config
ccache ccache'

as_root() {
  if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi
}

# missing_tools: of the lines read, the packages of programs that are not there.
missing_tools() {
  local tool package
  while read -r tool package; do
    PATH=$PATH:/usr/sbin command -v "$tool" >/dev/null || echo "$package"
  done
}

# missing_packages PACKAGE…: for what is no program.
missing_packages() {
  local package
  for package in "$@"; do
    dpkg-query -W -f='${Status}\n' "$package" 2>/dev/null | grep -q 'ok installed' || echo "$package"
  done
}

# install_packages PACKAGE…: none is well.
install_packages() {
  [ $# -gt 0 ] || return 0
  printf '\n== installing %s\n' "$*"
  as_root apt-get -q update
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y install --no-install-recommends "$@" </dev/null
}

# install_to_build "TOOL PACKAGE"…: what is missing of what builds everything but the tests, and of these programs.
install_to_build() {
  local missing
  mapfile -t missing < <(printf '%s\n' "$build_tools" "$@" | missing_tools
                         missing_packages "${build_libraries[@]}")
  install_packages "${missing[@]}"
}
