#include <doctest/doctest.h>

#include <fmt/format.h>

#include "verbs/listen.hpp"

using namespace client;

namespace {

std::string message(int number) { return fmt::format(R"({{"method":"n{}"}})", number); }

std::string page(int first, int last, int newest, bool more, bool gap = false,
                 int taken_up_to = 0) {
  std::string text = fmt::format(
      R"({{"instance":"i","oldest":{},"newest":{},"dropped":0,"gap":{},"more":{},"notifications":[)",
      first, newest, gap, more);
  for (int at = first; at <= last; ++at) {
    if (at > first) text.push_back(',');
    text += fmt::format(R"({{"seq":{},"time":1,"taken":{},"message":{}}})", at, at <= taken_up_to,
                        message(at));
  }
  return text + "]}";
}

std::vector<std::uint64_t> sequences(const ListenJoin::Page& page) {
  std::vector<std::uint64_t> all;
  for (const Received& heard : page.heard) all.push_back(heard.sequence.value_or(0));
  return all;
}

}  // namespace

TEST_CASE("pages are followed and live ones join without gap or duplicate") {
  ListenJoin join(2);
  CHECK(join.params() == R"({"since":2,"limit":1000})");
  CHECK_FALSE(join.take_live(message(3)));  // the flush on connect: is in the pages
  const auto first = join.take_page(page(3, 4, 6, true));
  REQUIRE(first);
  CHECK(sequences(*first) == std::vector<std::uint64_t>{3, 4});
  CHECK(first->ask_again);
  CHECK(join.params() == R"({"since":4,"limit":1000,"instance":"i"})");
  CHECK_FALSE(join.take_live(message(7)));  // live while paging: is in the last page
  const auto last = join.take_page(page(5, 7, 7, false));
  REQUIRE(last);
  CHECK(sequences(*last) == std::vector<std::uint64_t>{5, 6, 7});
  CHECK_FALSE(last->ask_again);
  CHECK(join.joined());
  CHECK(join.take_live(message(8))->sequence == std::uint64_t{8});
  CHECK(join.take_live(message(9))->sequence == std::uint64_t{9});
}

TEST_CASE("equal messages are told by their place, not by their text") {
  ListenJoin join(0);
  CHECK_FALSE(join.take_live(message(1)));
  CHECK(join.take_page(page(1, 1, 1, false))->heard.size() == 1);
  CHECK(join.take_live(message(1))->sequence == std::uint64_t{2});
}

TEST_CASE("a gap is said") {
  ListenJoin join(2);
  const auto found = join.take_page(page(10, 11, 11, false, true));
  REQUIRE(found);
  CHECK(found->warning == "missed notifications 3 to 9: no longer in the daemon");
  CHECK(sequences(*found) == std::vector<std::uint64_t>{10, 11});
}

TEST_CASE("a restarted daemon is a gap, and all it has is wanted") {
  ListenJoin join(500);
  const auto found = join.take_page(page(1, 0, 3, false));
  REQUIRE(found);
  CHECK(found->warning ==
        "no notification 500, the daemon's newest is 3: it was restarted and some are missed, or "
        "the number is not its own");
  CHECK(found->ask_again);
  CHECK(join.params() == R"({"since":0,"limit":1000,"instance":"i"})");
  CHECK(sequences(*join.take_page(page(1, 3, 3, false))) == std::vector<std::uint64_t>{1, 2, 3});

  ListenJoin empty(500);
  CHECK_FALSE(empty.take_page(page(1, 0, 0, false))->ask_again);
  CHECK(empty.joined());
  CHECK(empty.take_live(message(1))->sequence == std::uint64_t{1});
}

TEST_CASE("without since only the untaken ones are given") {
  ListenJoin join(std::nullopt);
  const auto found = join.take_page(page(1, 5, 5, false, false, 3));
  CHECK(sequences(*found) == std::vector<std::uint64_t>{4, 5});
  CHECK(join.take_live(message(6))->sequence == std::uint64_t{6});
}

TEST_CASE("a daemon that says more without giving more is not asked for ever") {
  ListenJoin join(0);
  CHECK_FALSE(join.take_page(page(1, 0, 5, true))->ask_again);
}

TEST_CASE("a page that cannot be read is none") {
  ListenJoin join(0);
  CHECK_FALSE(join.take_page("{}"));
  CHECK_FALSE(join.take_page("7"));
  CHECK_FALSE(join.take_page(R"({"notifications":[{"seq":"x"}]})"));
}

TEST_CASE("a message is printed byte for byte") {
  CHECK(render_received({7, R"({"n":1e400})"}, true) == "{\"seq\":7,\"message\":{\"n\":1e400}}\n");
  CHECK(render_received({7, R"({"n":0.10})"}, false) == "{\"n\":0.10}\n");
  CHECK(render_received({std::nullopt, "{}"}, true) == "{\"message\":{}}\n");
}
