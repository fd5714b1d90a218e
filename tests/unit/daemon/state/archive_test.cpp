// Values as bytes, in both formats: they are read as written, and all other bytes are refused.
#include "state/archive.hpp"

#include <doctest/doctest.h>

#include <deque>
#include <map>
#include <set>
#include <vector>

using namespace bridge;
using namespace std::chrono_literals;

namespace {

using Kind = Archive::Kind;

enum class Colour : std::uint8_t { red, green };
constexpr Colour last_of(Colour) { return Colour::green; }
enum class Number : std::uint64_t {};

struct Small {
  std::string text;
  std::uint32_t number = 7;
  int unlisted = 0;

  template <class A>
  void each_field(A& archive) {
    archive(text, number, archive.not_saved(unlisted));
  }
};

/// The same value in an earlier and in a later version.
struct Earlier {
  std::string text;

  template <class A>
  void each_field(A& archive) {
    archive(text);
  }
};
struct Later {
  std::string text;
  std::uint32_t number = 8;
  std::vector<std::string> more;

  template <class A>
  void each_field(A& archive) {
    archive(text, number, more);
  }
};

struct Large {
  bool flag = false;
  int descriptor = -1;
  Colour colour = Colour::red;
  Number id{};
  std::optional<std::string> maybe;
  std::unique_ptr<Small> pointer;
  std::unique_ptr<const std::string> fixed;
  std::vector<Small> list;
  std::deque<Number> queue;
  std::set<std::string> set;
  std::map<std::string, Small> map;
  std::chrono::milliseconds time{};
  WallTime wall{};
  SteadyTime steady{};

  template <class A>
  void each_field(A& archive) {
    archive(flag, descriptor, colour, id, maybe, pointer, fixed, list, queue, set, map, time, wall,
            steady);
  }
};

const Moment now{SteadyTime(1000s), WallTime(1'700'000'000s)};

Large a_large() {
  Large large;
  large.flag = true;
  large.colour = Colour::green;
  large.id = Number{~std::uint64_t{0}};
  large.maybe = std::string("may\0be", 6);
  large.pointer = std::make_unique<Small>(Small{"pointed", 1});
  large.fixed = std::make_unique<const std::string>("fixed");
  large.list = {{"a", 1}, {"", 2}};
  large.queue = {Number{1}, Number{2}};
  large.set = {"x", "y"};
  large.map = {{"key", {"value", 3}}};
  large.time = 1500ms;
  large.wall = WallTime(1'600'000'000s);
  large.steady = SteadyTime(990s);
  return large;
}

void check_same(const Large& read) {
  CHECK(read.flag);
  CHECK(read.descriptor == -1);
  CHECK(read.colour == Colour::green);
  CHECK(read.id == Number{~std::uint64_t{0}});
  CHECK(read.maybe == std::string("may\0be", 6));
  REQUIRE(read.pointer);
  CHECK(read.pointer->text == "pointed");
  REQUIRE(read.fixed);
  CHECK(*read.fixed == "fixed");
  REQUIRE(read.list.size() == 2);
  CHECK(read.list[1].number == 2);
  CHECK(read.queue == std::deque<Number>{Number{1}, Number{2}});
  CHECK(read.set == std::set<std::string>{"x", "y"});
  CHECK(read.map.at("key").text == "value");
  CHECK(read.time == 1500ms);
  CHECK(read.wall == WallTime(1'600'000'000s));
}

}  // namespace

TEST_CASE("what was written is read again, and its size is known before") {
  for (const Kind kind : {Kind::disk, Kind::memory}) {
    const std::string bytes = Archive::write(kind, now, a_large(), 5u);
    CHECK(bytes.size() == Archive::measure(kind, a_large(), 5u));
    Large read;
    read.set = {"was there before"};
    unsigned five = 0;
    REQUIRE(Archive::read(kind, now, bytes, read, five));
    check_same(read);
    CHECK(read.steady == SteadyTime(990s));
    CHECK(five == 5);
    CHECK(Archive::write(kind, now, read, five) == bytes);
  }
}

TEST_CASE("what is cut, or has more behind it, is refused") {
  for (const Kind kind : {Kind::disk, Kind::memory}) {
    const std::string bytes = Archive::write(kind, now, a_large());
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      Large read;
      CHECK_FALSE(Archive::read(kind, now, bytes.substr(0, size), read));
    }
    Large read;
    CHECK_FALSE(Archive::read(kind, now, bytes + '\0', read));
    CHECK_FALSE(Archive::read(kind, now, bytes + std::string(8, '\0'), read));
  }
}

TEST_CASE("whatever was changed is read in bounds") {
  for (const Kind kind : {Kind::disk, Kind::memory}) {
    const std::string bytes = Archive::write(kind, now, a_large());
    for (std::size_t at = 0; at < bytes.size(); ++at) {
      for (const char other : {'\0', '\x01', '\x7f', '\xff'}) {
        std::string changed = bytes;
        changed[at] = other;
        Large read;
        if (Archive::read(kind, now, changed, read)) CHECK(read.list.size() <= bytes.size() / 8);
      }
    }
  }
}

TEST_CASE("a list or text that says that it is longer than the bytes is refused") {
  for (const Kind kind : {Kind::disk, Kind::memory}) {
    std::vector<Small> list;
    std::vector<std::string> texts;
    std::string text;
    for (const std::uint64_t size : {std::uint64_t{2}, std::uint64_t{1} << 40, ~std::uint64_t{0}}) {
      const std::string bytes = Archive::write(kind, now, size, std::uint64_t{0});
      CHECK_FALSE(Archive::read(kind, now, bytes, list));
      CHECK_FALSE(Archive::read(kind, now, bytes, texts));
    }
    for (const std::uint64_t size : {std::uint64_t{1} << 40, ~std::uint64_t{0}}) {
      CHECK_FALSE(Archive::read(kind, now, Archive::write(kind, now, size), text));
      CHECK(text.empty());
    }
  }
}

TEST_CASE("in memory an older struct may lack the last members, a newer one is refused") {
  const std::string earlier = Archive::write(Kind::memory, now, std::vector<Earlier>{{"a"}, {"b"}});
  std::vector<Small> read;
  REQUIRE(Archive::read(Kind::memory, now, earlier, read));
  REQUIRE(read.size() == 2);
  CHECK(read[0].text == "a");
  CHECK(read[1].number == 7);
  const std::string small = Archive::write(Kind::memory, now, Small{"a", 1}, 9u);
  Later later;
  unsigned nine = 0;
  REQUIRE(Archive::read(Kind::memory, now, small, later, nine));
  CHECK(later.number == 1);
  CHECK(nine == 9);
  Earlier known;
  CHECK_FALSE(Archive::read(Kind::memory, now, small, known, nine));
}

TEST_CASE("on a disk all members are there") {
  Small read;
  CHECK_FALSE(Archive::read(Kind::disk, now, Archive::write(Kind::disk, now, Earlier{"a"}), read));
}

TEST_CASE("a number that the member cannot have is refused") {
  const auto can_be = [](auto one, std::uint64_t number) {
    return Archive::read(Kind::disk, now, Archive::write(Kind::disk, now, number), one);
  };
  CHECK(can_be(Colour{}, 1));
  CHECK_FALSE(can_be(Colour{}, 2));
  CHECK_FALSE(can_be(false, 2));
  CHECK_FALSE(can_be(std::uint8_t{}, 256));
  CHECK_FALSE(can_be(int{}, 1u << 31));
  CHECK(can_be(int{}, ~std::uint64_t{0}));
}

TEST_CASE("on a disk the steady clock is the calendar of whoever reads") {
  const std::string bytes = Archive::write(Kind::disk, now, SteadyTime(990s), SteadyTime{});
  const Moment later{SteadyTime(5s), now.wall + 30s};
  SteadyTime read;
  SteadyTime none(1s);
  REQUIRE(Archive::read(Kind::disk, later, bytes, read, none));
  CHECK(read == SteadyTime(5s) - 40s);
  CHECK(none == SteadyTime{});
}

TEST_CASE("times that no clock can show are brought within what it can") {
  const std::string bytes =
      Archive::write(Kind::disk, now, ~std::uint64_t{0}, ~std::uint64_t{0}, ~std::uint64_t{0});
  SteadyTime steady;
  WallTime wall;
  std::chrono::milliseconds time{};
  REQUIRE(Archive::read(Kind::disk, now, bytes, steady, wall, time));
  CHECK(steady > now.steady);
  CHECK(wall > now.wall);
  CHECK(time.count() == std::int64_t{1} << 40);
}
