#include "http/server/http_connection.hpp"

#include <doctest/doctest.h>

#include <array>
#include <string>

namespace bridge {
namespace {

std::string gathered(SendQueue& queue, std::size_t room) {
  std::array<iovec, 4> vectors{};
  const std::size_t count = queue.gather(vectors.data(), room);
  std::string text;
  for (std::size_t i = 0; i < count; ++i)
    text.append(static_cast<const char*>(vectors[i].iov_base), vectors[i].iov_len).append("|");
  return text;
}

TEST_CASE("pieces leave in their order, however much of them is taken at a time") {
  SendQueue queue;
  CHECK(queue.empty());
  CHECK(gathered(queue, 4).empty());
  for (const char* piece : {"abc", "d", "efgh"}) queue.push(piece);
  CHECK(queue.bytes() == 8);
  CHECK(gathered(queue, 4) == "abc|d|efgh|");
  CHECK(gathered(queue, 2) == "abc|d|");
  queue.consume(2);
  CHECK(gathered(queue, 4) == "c|d|efgh|");
  queue.consume(3);
  CHECK(gathered(queue, 4) == "fgh|");
  CHECK(queue.bytes() == 3);
  CHECK(queue.consumed() == 5);
  queue.push("i");
  queue.consume(4);
  CHECK(queue.empty());
  CHECK(queue.bytes() == 0);
  CHECK(queue.consumed() == 9);
}

}  // namespace
}  // namespace bridge
