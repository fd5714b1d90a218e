#include "router/client.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <chrono>
#include <string>
#include <string_view>

#include "../json/frames.hpp"
#include "../lines.hpp"

using namespace bridge;

namespace {

struct Queue {
  ByteBudget budget{1u << 30};
  WaitingFrames frames{budget};

  /// `raw_id` as JSON; the method tells requests of the same id apart.
  void request(std::string_view raw_id, std::string_view method = "m") {
    frames.push(frame_of(fmt::format(R"({{"id":{},"method":"{}"}})", raw_id, method)), {});
  }
  void notification(std::string_view method) {
    frames.push(frame_of(fmt::format(R"({{"method":"{}"}})", method)), {});
  }
  std::string found(std::string_view raw_id) {
    const WaitingFrame* waiting = frames.find_request(raw_id);
    return waiting == nullptr ? "" : waiting->frame.method;
  }
  Lines drained() {
    Lines methods;
    while (!frames.empty()) methods.push_back(frames.take_front().frame.method);
    return methods;
  }
};

}  // namespace

TEST_CASE("waiting frames are taken in the order they came, of whatever kind") {
  Queue queue;
  queue.notification("a");
  CHECK_FALSE(queue.frames.has_request());
  queue.request("1", "b");
  queue.notification("c");
  queue.request("2", "d");
  CHECK(queue.frames.has_request());
  CHECK(queue.frames.size() == 4);
  CHECK(queue.frames.front().frame.method == "a");
  CHECK(queue.drained() == Lines{"a", "b", "c", "d"});
  CHECK(queue.frames.size() == 0);
}

TEST_CASE("a waiting request is found by its id, also one that came after another was looked for") {
  Queue queue;
  queue.request("1", "one");
  queue.request("\"1\"", "text");
  CHECK(queue.found("1") == "one");
  queue.request("2", "two");
  queue.notification("n");
  CHECK(queue.found("2") == "two");
  CHECK(queue.found("\"1\"") == "text");
  CHECK(queue.found("3").empty());
  CHECK(queue.frames.take_request("\"1\"").frame.method == "text");
  CHECK(queue.found("\"1\"").empty());
  CHECK(queue.drained() == Lines{"one", "two", "n"});
  CHECK(queue.found("1").empty());
}

TEST_CASE("a waiting request is found however its id is escaped") {
  Queue queue;
  queue.request(R"("\u0061b")", "escaped");
  queue.request(R"("cd")", "plain");
  queue.request(R"("\"")", "quote");
  CHECK(queue.found(R"("ab")") == "escaped");
  CHECK(queue.found(R"("a\u0062")") == "escaped");
  CHECK(queue.found(R"("\u0063d")") == "plain");
  CHECK(queue.found(R"("\u0022")") == "quote");
  CHECK(queue.found(R"("\\")").empty());
  queue.frames.take_request(R"("ab")");
  CHECK(queue.drained() == Lines{"plain", "quote"});
}

TEST_CASE(
    "of several waiting requests with one id the first is found, and the next once it is gone") {
  Queue queue;
  queue.request("7", "first");
  queue.request("8", "other");
  queue.request("7", "second");
  CHECK(queue.found("7") == "first");
  queue.request("7", "third");
  CHECK(queue.frames.take_front().frame.method == "first");
  CHECK(queue.found("7") == "second");
  CHECK(queue.frames.take_request("7").frame.method == "second");
  CHECK(queue.drained() == Lines{"other", "third"});
}

TEST_CASE("what waits is charged to the budget until it is taken") {
  Queue queue;
  queue.request("1");
  CHECK(queue.frames.held() > 20);
  queue.request("2");
  queue.notification("n");
  CHECK(queue.budget.used() == queue.frames.held());
  queue.frames.take_request("2");
  queue.frames.take_front();
  CHECK(queue.frames.held() > 0);
  queue.frames.take_front();
  CHECK(queue.budget.used() == 0);
}

TEST_CASE("tens of thousands of waiting frames cost no more each than a few") {
  constexpr int count = 50'000;
  Queue queue;
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < count; ++i) {
    queue.request(std::to_string(i));
  }
  for (int i = count - 1; i > count / 2; --i) {
    const std::string id = std::to_string(i);
    if (queue.found(id).empty() || !queue.found("\"unknown\"").empty()) FAIL("not found: ", i);
    queue.frames.take_request(id);
  }
  CHECK(queue.drained().size() == count / 2 + 1);
  // A linear search through them would take a minute.
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(10));
}
