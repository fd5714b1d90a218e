# shellcheck shell=bash
# What the benchmark's scripts share: sourced, from the project's top folder.

readonly bench_peers=build/bench-peers
# Pinned: what stands between stdio and HTTP as the bridge does, and mcpc.
readonly bench_pins=(supergateway@4.0.0 mcp-remote@0.15.1 mcp-proxy@6.7.19 @apify/mcpc@0.2.6)

# be_the_only_one: until this process has ended, and what it becomes by exec. Two would share the build, the CPUs and what is written.
be_the_only_one() {
  mkdir -p build
  exec 9>build/bench.lock
  flock -n 9 || { echo "a benchmark is running in this folder already" >&2; exit 2; }
}

# install_bench_peers: leaves them in $bench_peers; where just these are there already nothing is asked of the network.
install_bench_peers() {
  local installed=$bench_peers/node_modules/.installed-pins
  [[ $(cat "$installed" 2>/dev/null) == "${bench_pins[*]}" ]] && return
  mkdir -p "$bench_peers" &&
    npm install --prefix "$bench_peers" --no-audit --no-fund --loglevel=error "${bench_pins[@]}" </dev/null &&
    echo "${bench_pins[*]}" >"$installed"
}
