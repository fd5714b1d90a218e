# shellcheck shell=bash
# What the benchmark's scripts share: sourced, from the project's top folder.

# be_the_only_one: until this process has ended, and what it becomes by exec. Two would share the build, the CPUs and what is written.
be_the_only_one() {
  mkdir -p build
  exec 9>build/bench.lock
  flock -n 9 || { echo "a benchmark is running in this folder already" >&2; exit 2; }
}
