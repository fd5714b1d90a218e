#include "upstream/upstream.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace bridge {
namespace {

std::vector<std::uint64_t> ids_of(const AnsweredRequests& answered) {
  std::vector<std::uint64_t> ids;
  answered.each([&ids](UpstreamId id) { ids.push_back(value_of(id)); });
  return ids;
}

}  // namespace

TEST_CASE("a message that answers nothing has no answered requests") {
  AnsweredRequests answered;
  answered.add(UpstreamId{});
  CHECK(ids_of(answered).empty());
}

TEST_CASE("a batch's answered requests are kept in its order, without what answers nothing") {
  AnsweredRequests answered;
  for (const std::uint64_t id : {0U, 7U, 0U, 3U, 9U, 0U}) answered.add(static_cast<UpstreamId>(id));
  CHECK(ids_of(answered) == std::vector<std::uint64_t>{7, 3, 9});
}

}  // namespace bridge
