#include "base/files.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "../../temporary_folder.hpp"

using namespace bridge;
namespace fs = std::filesystem;

namespace {

struct Folders : TemporaryFolder {
  Folders() {
    for (const char* name : {"safe", "open", "sticky"}) {
      fs::create_directory(top / name);
      write(std::string(name) + "/file", "x");
    }
    ::chmod((top / "open").c_str(), 0777);
    ::chmod((top / "sticky").c_str(), 01777);
  }

  std::string judge(const fs::path& place) const {
    const std::string part = replaceable_part_of((top / place).string(), geteuid());
    return part.empty() ? part : part.substr(top.string().size() + 1);
  }
  const fs::path& top = folder;
};

}  // namespace

TEST_CASE("every folder on the way counts, and sticky ones are safe for what is ours") {
  const Folders t;
  CHECK(t.judge("safe/file").empty());
  CHECK(t.judge("sticky/file").empty());
  CHECK(t.judge("open/file") == "open");
  CHECK(t.judge("safe/../open/file") == "open");
  CHECK(t.judge("safe/./../safe/file").empty());
  CHECK(t.judge("safe/none") == "safe");
}

TEST_CASE("so do the folders of the links in between, wherever they lead") {
  const Folders t;
  fs::create_symlink(t.top / "safe" / "file", t.top / "open" / "link");
  fs::create_symlink("../open/link", t.top / "safe" / "through");
  CHECK(t.judge("safe/through") == "open");
  fs::create_symlink("../safe", t.top / "open" / "folder");
  fs::create_symlink(t.top / "open" / "folder", t.top / "way");
  CHECK(t.judge("way/file") == "open");
  fs::create_symlink("../safe/file", t.top / "sticky" / "ours");
  CHECK(t.judge("sticky/ours").empty());
  fs::create_symlink("loop", t.top / "loop");
  CHECK(t.judge("loop") == "loop");
}

TEST_CASE("what another user owns can be replaced by that user") {
  if (geteuid() != 0) return;
  const Folders t;
  constexpr uid_t other = 12345;
  fs::create_symlink("../safe/file", t.top / "sticky" / "theirs");
  REQUIRE(::lchown((t.top / "sticky" / "theirs").c_str(), other, other) == 0);
  CHECK(t.judge("sticky/theirs") == "sticky/theirs");
  REQUIRE(::chown((t.top / "safe").c_str(), other, other) == 0);
  CHECK(t.judge("safe/file") == "safe");
  CHECK(replaceable_part_of((t.top / "safe" / "file").string(), other).empty());
}
