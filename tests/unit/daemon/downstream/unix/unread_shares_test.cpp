#include "downstream/unix/unread_shares.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <deque>
#include <vector>

using namespace bridge;

namespace {

constexpr std::size_t total = 1200;
constexpr std::size_t least = 50;
constexpr std::size_t unlimited = UnreadShares::unlimited;

struct One {
  uid_t uid;
  std::size_t holds;
  std::size_t limit;
};

TEST_CASE("only clients of a user over its equal part have a limit: a part of that part") {
  struct Row {
    const char* what;
    std::vector<One> clients;
  };
  const std::vector<Row> rows{
      {"nobody holds anything", {{1, 0, unlimited}, {2, 0, unlimited}}},
      {"one user has all", {{1, 1200, unlimited}, {1, 0, unlimited}}},
      {"over that, its clients that hold something have equal parts",
       {{1, 1000, 600}, {1, 300, 600}, {1, 0, 600}}},
      {"a second user gets half", {{1, 900, 600}, {2, 100, unlimited}}},
      {"one large client of a user within its part", {{1, 600, unlimited}, {2, 601, 600}}},
      {"a user with many clients has no more than one with one",
       {{1, 200, 150}, {1, 200, 150}, {1, 200, 150}, {1, 200, 150}, {2, 600, unlimited}}},
      {"who holds nothing takes no part",
       {{1, 1200, unlimited}, {2, 0, unlimited}, {3, 0, unlimited}}},
      {"a little is allowed however many there are", std::vector<One>(30, {1, 50, least})},
  };
  for (const Row& row : rows) {
    CAPTURE(row.what);
    UnreadShares shares(total, least);
    std::deque<UnreadShares::Holder> holders;
    for (const One& client : row.clients)
      holders.emplace_back(shares, User{false, client.uid}).set(client.holds);
    for (std::size_t i = 0; i < holders.size(); ++i) {
      CAPTURE(i);
      CHECK(holders[i].limit() == row.clients[i].limit);
    }
  }
}

TEST_CASE("what is read or left behind is the others' again") {
  UnreadShares shares(total, least);
  UnreadShares::Holder mine(shares, {false, 1});
  mine.set(1000);
  {
    UnreadShares::Holder other(shares, {false, 2});
    other.set(500);
    CHECK(mine.limit() == 600);
    other.set(0);
    CHECK(mine.limit() == unlimited);
    other.set(500);
    CHECK(mine.limit() == 600);
  }
  CHECK(mine.limit() == unlimited);

  UnreadShares::Holder gone(shares, {false, 2});
  gone.set(500);
  gone.release();
  gone.set(500);  // a response that comes late
  CHECK(gone.limit() == unlimited);
  CHECK(mine.limit() == unlimited);
}

}  // namespace
