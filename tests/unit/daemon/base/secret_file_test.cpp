#include "base/secret_file.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <filesystem>

#include "../../temporary_folder.hpp"

using namespace bridge;

TEST_CASE("a regular file is read whole, up to its bound") {
  const TemporaryFolder folder;
  const std::string path = folder.write("a", std::string(5000, 'x'));
  CHECK(read_regular_file(path, 5000).bytes == std::string(5000, 'x'));
  CHECK(read_regular_file(path, 5000).fault.empty());
  CHECK(read_regular_file(path, 4096).fault == "is over 4 KiB");
  CHECK(read_regular_file(path, 4096).bytes.empty());
  CHECK(read_regular_file(folder.write("empty", ""), 10).fault.empty());
}

TEST_CASE("a link to a regular file is as good, and so is a file that does not know its size") {
  const TemporaryFolder folder;
  std::filesystem::create_symlink(folder.write("a", "content"), folder.path("link"));
  CHECK(read_regular_file(folder.path("link"), 100).bytes == "content");
  CHECK(read_regular_file("/proc/self/status", 1u << 20).bytes.starts_with("Name:"));
}

TEST_CASE("what is not a regular file is refused and never waited for") {
  const TemporaryFolder folder;
  const std::string pipe = folder.path("pipe");
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(read_regular_file(pipe, 100).fault.starts_with("is not a regular file but a pipe"));
  CHECK(read_regular_file(folder.path(), 100).fault == "is not a regular file but a folder");
  CHECK(read_regular_file("/dev/zero", 100).fault == "is not a regular file but a device");
  CHECK(read_regular_file(folder.path("nowhere"), 100).fault == "No such file or directory");
}
