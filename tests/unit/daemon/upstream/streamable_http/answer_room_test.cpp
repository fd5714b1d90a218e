#include "upstream/streamable_http/answer_room.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace bridge {
namespace {

constexpr std::size_t kib = 1024;
constexpr std::size_t limit = 16 * 1024 * kib;
constexpr std::size_t most = 8 * 1024 * kib;  ///< --max-frame

/// Large answers under way, and what others hold.
struct RoomFixture {
  AnswerRoom::Answer& add(std::size_t size) {
    auto& added = *answers.emplace_back(
        std::make_unique<AnswerRoom::Answer>(room, static_cast<UpstreamId>(++last), most));
    added.set_size(size);
    return added;
  }
  std::vector<std::size_t> admitted() {
    std::vector<std::size_t> numbers;
    for (const UpstreamId id : room.admit()) numbers.push_back(value_of(id));
    return numbers;
  }

  ByteBudget budget{limit};
  ByteBudget::Share others{budget};
  AnswerRoom room{budget};
  std::deque<std::unique_ptr<AnswerRoom::Answer>> answers;
  std::size_t last = 0;
};

using Numbers = std::vector<std::size_t>;

}  // namespace

TEST_CASE("as many large answers as fit are granted all of their room, and count as that") {
  RoomFixture all;
  for (int n = 0; n < 3; ++n) CHECK(all.add(20 * kib).may_grow(4096 * kib));
  CHECK(all.budget.used() == 3 * 4096 * kib);
  AnswerRoom::Answer& fourth = all.add(20 * kib);
  CHECK_FALSE(fourth.may_grow(4096 * kib));
  CHECK(fourth.is_held());
  CHECK(all.budget.used() == 3 * 4096 * kib + 20 * kib);
  CHECK(all.admitted().empty());
  int released = 0;
  all.budget.on_release([&] { ++released; });
  all.answers.pop_front();
  CHECK(released == 1);
  CHECK(all.admitted() == Numbers{4});
  CHECK_FALSE(fourth.is_held());
  CHECK(fourth.may_grow(4096 * kib));
}

TEST_CASE("an answer of unknown length is granted as much again as has come") {
  RoomFixture all;
  AnswerRoom::Answer& one = all.add(100 * kib);
  CHECK(one.may_grow(0));
  CHECK(one.granted() == 200 * kib);
  one.set_size(7000 * kib);
  CHECK(one.may_grow(0));
  CHECK(one.granted() == most);
}

TEST_CASE("room goes to the answer that holds most, then to the one that came first") {
  RoomFixture all;
  all.others.set(limit);
  for (const std::size_t size : {20, 30, 30, 10})
    CHECK_FALSE(all.add(size * kib).may_grow(2048 * kib));
  CHECK(all.admitted().empty());
  all.others.set(6 * 1024 * kib);
  CHECK(all.admitted() == Numbers{2, 3, 1, 4});
}

TEST_CASE("a later answer does not pass those that wait") {
  RoomFixture all;
  AnswerRoom::Answer& large = all.add(1024 * kib);
  CHECK(large.may_grow(most));
  AnswerRoom::Answer& second = all.add(64 * kib);
  CHECK_FALSE(second.may_grow(most));
  AnswerRoom::Answer& third = all.add(32 * kib);
  CHECK_FALSE(third.may_grow(100 * kib));
  all.answers.pop_front();
  CHECK(all.admitted() == Numbers{2, 3});
}

TEST_CASE("the answer that holds most goes on whatever others hold") {
  struct Row {
    const char* what;
    std::size_t size;        ///< of the answer that asks
    std::size_t of_another;  ///< held by another answer
    std::size_t of_others;   ///< by everything else
    bool grows;
  };
  const Row rows[] = {
      {"alone, larger than all that answers may have", 15 * 1024 * kib, 0, 0, true},
      {"into the room for small things", 1024 * kib, 0, 14 * 1024 * kib, true},
      {"beyond the limit, if answers fill the buffers", 9 * 1024 * kib, 8 * 1024 * kib, 0, true},
      {"not if clients that do not read fill them", 2048 * kib, 0, 15 * 1024 * kib, false},
      {"not if another one holds more", 1024 * kib, 8 * 1024 * kib, 6 * 1024 * kib, false},
  };
  for (const Row& row : rows) {
    CAPTURE(row.what);
    RoomFixture all;
    all.others.set(row.of_others);
    if (row.of_another > 0) all.add(row.of_another);
    AnswerRoom::Answer& one = all.add(row.size);
    CHECK(one.may_grow(0) == row.grows);
    CHECK(one.is_held() != row.grows);
    if (row.grows) CHECK(one.granted() == row.size + AnswerRoom::piece);
  }
}

TEST_CASE("an answer that hardly grows for a second loses its grant and its precedence") {
  RoomFixture all;
  AnswerRoom::Answer& silent = all.add(4096 * kib);
  CHECK(silent.may_grow(most));
  AnswerRoom::Answer& other = all.add(2048 * kib);
  CHECK_FALSE(other.may_grow(most));
  all.room.note_time();  // within this second it was granted room
  CHECK(all.admitted().empty());
  all.room.note_time();
  CHECK(silent.granted() == 4096 * kib);
  CHECK(all.admitted() == Numbers{2});
  CHECK_FALSE(all.room.most_useless());

  SUBCASE("with the limit exceeded by answers, it is the one to end") {
    other.set_size(13 * 1024 * kib);
    CHECK(all.room.most_useless() == static_cast<UpstreamId>(1));
  }
  SUBCASE("with the limit exceeded by other things, none is") {
    all.others.set(2 * limit);
    CHECK_FALSE(all.room.most_useless());
  }
  SUBCASE("it asks again when more of it comes") {
    other.set_size(6000 * kib);
    silent.set_size(4200 * kib);
    CHECK_FALSE(silent.may_grow(most));
    all.answers.pop_back();
    CHECK(all.admitted() == Numbers{1});
  }
}

TEST_CASE("if nothing is granted for a second, an eighth of the limit is granted nevertheless") {
  RoomFixture all;
  all.others.set(2 * limit);
  for (int n = 0; n < 4; ++n) CHECK_FALSE(all.add(32 * kib).may_grow(1024 * kib));
  CHECK(all.admitted().empty());
  all.room.note_time();
  CHECK(all.admitted() == Numbers{1, 2, 3});
  CHECK(all.admitted().empty());
  all.answers.pop_front();
  all.room.note_time();
  CHECK(all.admitted() == Numbers{4});
  CHECK(all.admitted().empty());
}

TEST_CASE("an answer whose client does not read needs no room meanwhile") {
  RoomFixture all;
  AnswerRoom::Answer& one = all.add(1024 * kib);
  CHECK(one.may_grow(most));
  AnswerRoom::Answer& other = all.add(512 * kib);
  CHECK_FALSE(other.may_grow(most));
  one.set_paused(true);
  all.room.note_time();
  CHECK(one.granted() == 1024 * kib);
  CHECK(all.admitted() == Numbers{2});
}

TEST_CASE("what a message under way holds is counted once, whether its answer is large or not") {
  RoomFixture all;
  HeldAnswer held(all.room, all.budget, static_cast<UpstreamId>(1), most);
  const std::size_t small = all.budget.small();
  held.count(small - 1, 100);
  CHECK(held.has_room(small - 1, 0));
  CHECK(all.budget.used() == small - 1 + 100);
  CHECK_FALSE(all.room.has(static_cast<UpstreamId>(1)));
  held.count(small, 100);
  CHECK(held.has_room(small, 1024 * kib));
  CHECK(all.room.has(static_cast<UpstreamId>(1)));
  CHECK(all.budget.used() == 1024 * kib + 100);
  held.count(2048 * kib, 100);
  CHECK(all.budget.used() == 2048 * kib + 100);
  held.count(0, 300);  // an event is complete
  CHECK(all.budget.used() == 300);
  all.others.set(limit);
  held.count(small, 100);
  CHECK_FALSE(held.has_room(small, 0));
  CHECK(held.is_held());
  held.end();
  held.count(0, 0);
  CHECK_FALSE(held.is_held());
  CHECK_FALSE(all.room.has_held());
  CHECK(all.budget.used() == limit);
}

TEST_CASE(
    "whatever the sizes and the order of arrival, all finish, within the limit and one answer") {
  constexpr std::size_t piece = 16 * kib;
  struct Coming {
    std::unique_ptr<AnswerRoom::Answer> answer;
    std::size_t size;
    std::size_t come;
    bool is_announced;
  };
  for (unsigned seed = 0; seed < 20; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const auto below = [&random](std::size_t bound) {
      return std::uniform_int_distribution<std::size_t>(0, bound - 1)(random);
    };
    RoomFixture all;
    bool released = false;
    all.budget.on_release([&] { released = true; });
    const std::size_t largest = seed % 3 == 0 ? 2 * limit : most;
    std::vector<Coming> coming;
    for (int n = 0; n < 60; ++n) {
      const std::size_t size = piece + below(seed % 2 == 0 ? 4096 * kib : largest);
      coming.push_back(
          {std::make_unique<AnswerRoom::Answer>(all.room, static_cast<UpstreamId>(n), largest),
           size, 0, below(2) == 0});
    }
    std::deque<std::size_t> unread;  // complete ones, until clients have read them
    std::size_t unread_bytes = 0;
    std::size_t highest = 0;
    int turns = 0;
    for (; !coming.empty() && turns < 200'000; ++turns) {
      const auto reads = [](const Coming& each) { return !each.answer->is_held(); };
      const auto from = coming.begin() + static_cast<std::ptrdiff_t>(below(coming.size()));
      auto chosen = std::find_if(from, coming.end(), reads);
      if (chosen == coming.end()) chosen = std::find_if(coming.begin(), from, reads);
      Coming& one = *chosen;
      if (reads(one) && one.answer->may_grow(one.is_announced ? one.size : 0)) {
        one.come = std::min(one.size, one.come + piece);
        one.answer->set_size(one.come);
      }
      if (one.come == one.size) {
        unread.push_back(one.size);
        unread_bytes += one.size;
        std::swap(one, coming.back());
        coming.pop_back();
        all.others.set(unread_bytes);
      }
      if (!unread.empty() && below(50) == 0) {
        unread_bytes -= unread.front();
        unread.pop_front();
        all.others.set(unread_bytes);
      }
      if (turns % 1000 == 0) all.room.note_time();
      if (released || turns % 1000 == 0) {
        released = false;
        all.room.admit();
      }
      highest = std::max(highest, all.budget.used());
    }
    CHECK(coming.empty());
    CHECK(highest <= limit + limit / 8 + largest + 60 * piece);
  }
}

}  // namespace bridge
