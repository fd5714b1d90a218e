#include "downstream/unix/pipe_entries.hpp"

#include <doctest/doctest.h>

#include <string>

namespace bridge {
namespace {

TEST_CASE("the names in the folder of pipes") {
  using enum PipeEntryKind;
  const std::string name = "0123456789abcdef";
  const struct {
    std::string entry;
    PipeEntryKind kind;
  } rows[] = {
      {name + ".in", request},
      {name + ".out", response},
      {"." + name + ".in", unfinished},
      {"." + name + ".out", unfinished},
      {"A-b_" + name + ".in", request},
      {std::string(64, 'x') + ".in", request},
      {std::string(65, 'x') + ".in", foreign},
      {std::string(15, 'x') + ".in", foreign},
      {".lock", lock},
      {name, foreign},
      {name + ".in.in", foreign},
      {name + ".IN", foreign},
      {".." + name + ".in", foreign},
      {name + "\n.in", foreign},
      {name + "/.in", foreign},
      {".in", foreign},
      {"", foreign},
  };
  for (const auto& [entry, kind] : rows) {
    CAPTURE(entry);
    CHECK(read_pipe_entry(entry).kind == kind);
  }
  CHECK(read_pipe_entry(name + ".in").name == name);
  CHECK(read_pipe_entry("." + name + ".out").name == name);
}

TEST_CASE("which files are a client's pipes") {
  struct stat good {};
  good.st_mode = S_IFIFO | 0600;
  good.st_nlink = 1;
  good.st_uid = 1000;
  CHECK(fault_of_pipes(good, good).empty());
  for (const mode_t type : {S_IFREG, S_IFDIR, S_IFLNK, S_IFSOCK, S_IFCHR, S_IFBLK}) {
    struct stat bad = good;
    bad.st_mode = type | 0600;
    CHECK(fault_of_pipes(bad, good) == "'in' is not a pipe");
    CHECK(fault_of_pipes(good, bad) == "'out' is not a pipe");
  }
  struct stat linked = good;
  linked.st_nlink = 2;
  CHECK(fault_of_pipes(linked, good) == "'in' has several links");
  struct stat other = good;
  other.st_uid = 1001;
  CHECK(fault_of_pipes(good, other) == "they belong to uid 1000 and uid 1001");
}

TEST_CASE("modes of the folder of pipes") {
  for (const mode_t mode : {0700, 01700, 01733, 01730, 01703, 0711, 01711}) {
    CAPTURE(mode);
    CHECK(is_mode_of_pipes_folder(mode));
  }
  for (const mode_t mode : {0600, 0733, 0777, 01777, 01773, 01737, 0755, 02700, 04700, 0}) {
    CAPTURE(mode);
    CHECK_FALSE(is_mode_of_pipes_folder(mode));
  }
}

}  // namespace
}  // namespace bridge
