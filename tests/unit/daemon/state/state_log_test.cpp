// The state's log in its folder: appended to, rewritten, and its behaviour when it cannot be
// written.
#include "state/state_log.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "../../temporary_folder.hpp"
#include "../event/simulated_clock.hpp"
#include "base/start_error.hpp"

using namespace bridge;

namespace {

/// Keeps texts by number; each is one record.
struct Texts final : StateSource {
  std::map<std::uint32_t, std::string> kept;
  std::uint32_t said = 0;
  int steps = 0;

  void begin_snapshot() override { said = 0; }
  bool continue_snapshot(LogWriter& out, std::size_t bytes) override {
    ++steps;
    const std::uint64_t before = out.size();
    for (auto at = kept.upper_bound(said); at != kept.end(); ++at) {
      if (out.size() - before >= bytes) return true;
      out.append(at->first, at->second);
      said = at->first;
    }
    return false;
  }
  std::size_t saved_bytes() const override {
    std::size_t bytes = 0;
    for (const auto& [number, text] : kept) bytes += record_size(text.size());
    return bytes;
  }
};

struct StateLogFixture {
  TemporaryFolder place;
  SimulatedClock clock;
  EventLoop loop{clock};
  Log messages{LogLevel::off};
  StateFolder folder{place.path("state")};
  Texts texts;
  StateLog log{loop, folder, TargetHash{}, Sync::process, texts, messages};

  std::filesystem::path file(const char* name) const { return place.folder / "state" / name; }
  void set(std::uint32_t number, std::string text) {
    log.append_payload(number, text);
    texts.kept[number] = std::move(text);
  }
  /// What a daemon would read now: the last text of each number.
  std::map<std::uint32_t, std::string> read() const {
    std::ifstream in(file("state"), std::ios::binary);
    std::string bytes(std::filesystem::file_size(file("state")), '\0');
    in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    std::map<std::uint32_t, std::string> found;
    const LogReading reading = read_log(bytes, [&](std::uint32_t number, std::string_view text) {
      found[number] = text;
      return true;
    });
    CHECK(reading.verdict == LogVerdict::good);
    return found;
  }
};

}  // namespace

TEST_CASE("a log is begun with all there is, and what is appended is in it once it is written") {
  StateLogFixture t;
  t.texts.kept = {{1, "one"}, {2, "two"}};
  t.log.begin();
  CHECK(t.log.is_durable());
  const auto begun = t.texts.kept;
  CHECK(t.read() == begun);
  t.set(2, "two again");
  t.set(3, "three");
  CHECK(t.read() == begun);
  t.log.write();
  CHECK(t.read() == t.texts.kept);
  CHECK(t.log.report().bytes == std::filesystem::file_size(t.file("state")));
}

TEST_CASE("a log that has grown is written anew, in steps, with what changes meanwhile") {
  StateLogFixture t;
  for (std::uint32_t number = 1; number <= 40; ++number)
    t.texts.kept[number] = std::string(50'000, 'a');
  t.log.begin();
  t.texts.steps = 0;
  std::size_t largest = 0;
  for (std::uint32_t round = 0; round < 400; ++round) {
    t.set(1 + round * 7 % 40, std::string(50'000, static_cast<char>('b' + round % 20)));
    t.log.write();
    largest = std::max<std::size_t>(largest, std::filesystem::file_size(t.file("state")));
    // Each reading looks at megabytes; 9 and the 40 texts, and the steps of a rewriting, meet in
    // new combinations.
    if (round % 9 == 0) REQUIRE(t.read() == t.texts.kept);
  }
  CHECK(t.read() == t.texts.kept);
  CHECK(t.log.report().rewrites > 2);
  CHECK(t.texts.steps > 20);
  CHECK(largest <= 3 * t.texts.saved_bytes() + (1u << 20));
}

TEST_CASE("a rewriting goes on though nothing changes any more") {
  StateLogFixture t;
  for (std::uint32_t number = 1; number <= 40; ++number) t.set(number, std::string(50'000, 'a'));
  t.log.begin();
  for (int round = 0; round < 60; ++round) t.set(1, std::string(50'000, 'b'));
  t.log.write();
  CHECK(std::filesystem::exists(t.file("state.new")));
  let_pass(t.clock, t.loop, std::chrono::milliseconds(100));
  CHECK_FALSE(std::filesystem::exists(t.file("state.new")));
  CHECK(t.read() == t.texts.kept);
}

TEST_CASE("it goes on behind what was read") {
  StateLogFixture t;
  t.texts.kept = {{1, "one"}};
  t.log.begin();
  const auto size = std::filesystem::file_size(t.file("state"));
  LogHeader header;
  {
    std::ifstream in(t.file("state"), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(in), {}};
    header = read_log(bytes, [](std::uint32_t, std::string_view) { return true; }).header;
  }
  std::ofstream(t.file("state"), std::ios::app | std::ios::binary) << "a torn end";
  StateLog next(t.loop, t.folder, TargetHash{}, Sync::power, t.texts, t.messages);
  auto opened = t.folder.open("state");
  REQUIRE(opened.is_writable);
  CHECK(next.proceed(std::move(opened.file), header, size));
  next.append_payload(2, "two");
  next.write();
  CHECK(t.read() == std::map<std::uint32_t, std::string>{{1, "one"}, {2, "two"}});
}

TEST_CASE("a folder is made for this user alone, and is nobody else's") {
  TemporaryFolder place;
  const std::string path = place.path("state");
  {
    const StateFolder folder(path + "//");
    struct stat status {};
    CHECK(stat(path.c_str(), &status) == 0);
    CHECK((status.st_mode & 07777) == 0700);
    CHECK_THROWS_AS(StateFolder{path}, StartError);
  }
  CHECK_NOTHROW(StateFolder{path});
  CHECK(chmod(path.c_str(), 0720) == 0);
  CHECK_THROWS_AS(StateFolder{path}, StartError);
  CHECK(chmod(path.c_str(), 0700) == 0);
  std::filesystem::create_directory_symlink(path, place.folder / "link");
  CHECK_THROWS_AS(StateFolder{(place.folder / "link").string()}, StartError);
  std::filesystem::create_symlink("/etc/passwd", place.folder / "state" / "state");
  const StateFolder folder(path);
  CHECK_THROWS_AS(folder.open("state"), StartError);
  CHECK_FALSE(folder.open("none").file);
}
