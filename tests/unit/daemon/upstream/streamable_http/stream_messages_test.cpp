#include "upstream/streamable_http/stream_messages.hpp"

#include <doctest/doctest.h>

using namespace bridge;

TEST_CASE("messages are taken in the order in which they came, each as one line") {
  StreamMessages messages;
  messages.add("{\"a\":\n1}");
  messages.add("{\"b\":2}");
  CHECK(messages.next_message().value().bytes == "{\"a\": 1}");
  CHECK(messages.next_message().value().bytes == "{\"b\":2}");
  CHECK_FALSE(messages.next_message());
}

TEST_CASE("a priming event and an empty object are no messages") {
  StreamMessages messages;
  messages.add("");
  messages.add("{}");
  CHECK(messages.empty());
}

TEST_CASE("an event that was too large names the request that it answers") {
  StreamMessages messages;
  messages.add_oversized(R"({"jsonrpc":"2.0","id":7,"result":{"x":")", R"("}})");
  messages.add_oversized(R"({"jsonrpc":"2.0","method":"notifications/message","params":{"x":")",
                         R"("}})");
  CHECK_FALSE(messages.empty());
  CHECK(messages.take_oversized_answers() == std::vector{UpstreamId{7}});
  CHECK(messages.empty());
}

TEST_CASE("what is cleared is not taken") {
  StreamMessages messages;
  messages.add("1");
  messages.add_oversized(R"({"id":7,"result":)", "}");
  messages.clear();
  CHECK(messages.empty());
}
