// BEHAVIOUR, "HTTP frontend: sessions".
#include "downstream/http/downstream_session.hpp"

#include <doctest/doctest.h>

#include "upstream/stdio/child_upstream.hpp"
#include "upstream/streamable_http/exchange.hpp"

using namespace bridge;
using namespace std::chrono_literals;

namespace {

const SteadyTime start{1000s};
const SessionTimeouts timeouts{30s, 5s};

}  // namespace

TEST_CASE("a session that nobody uses ends") {
  SessionUse use;
  use.last_used = start;
  const auto due = end_of_session(use, timeouts);
  REQUIRE(due);
  CHECK(due->time == start + 30s);
  CHECK(due->why == SessionEnd::idle);
}

TEST_CASE("a session with something open or under way is not idle") {
  SessionUse use;
  use.last_used = start;
  use.has_stream = true;
  CHECK_FALSE(end_of_session(use, timeouts));
  use.has_stream = false;
  use.is_asked = true;
  CHECK_FALSE(end_of_session(use, timeouts));
}

TEST_CASE(
    "over its limit a session ends once nothing was taken for a while, whatever else it does") {
  for (const bool has_stream : {false, true}) {
    for (const bool is_asked : {false, true}) {
      const SessionUse use{has_stream, is_asked, true, start + 100s, start + 1s};
      const auto due = end_of_session(use, timeouts);
      REQUIRE(due);
      CHECK(due->time == start + 6s);
      CHECK(due->why == SessionEnd::stalled);
    }
  }
}

namespace {

/// One downstream session with one request that only its deadlines can end.
struct Walk {
  bool paused;           ///< the session is over its limit, so the response is not read
  bool reads;            ///< the client reads what is queued; a second later it is over again
  bool has_stream;       ///< a connection carries the session's stream
  bool upstream_speaks;  ///< a byte of the response comes every second
  bool elsewhere;        ///< the response is awaited on a shared stream
  bool on_child;         ///< the upstream is a child, which is never paused

  SessionTimeouts session;
  MessageTimeouts request;

  /// The time until both the request and the session have ended, by a clock that is advanced second
  /// by second; nullopt if a day is not enough.
  std::optional<std::chrono::seconds> both_end() const {
    MessageClock clock;
    clock.start_clock(start);
    ChildRequest child_request;
    child_request.clock.start_clock(start);
    SteadyTime last_activity = start;
    SessionUse use{has_stream, true, paused, start, start};
    if (paused && !on_child) clock.pause(start);
    for (std::chrono::seconds passed{}; passed < 24h; ++passed) {
      const SteadyTime now = start + passed;
      if (upstream_speaks && (on_child || elsewhere || !clock.is_paused())) {
        clock.note_activity(now);
        last_activity = now;
      }
      if (paused && reads && passed % 4s == 0s) {
        use.last_taken = now;
        if (!on_child) {
          clock.proceed(now);
          clock.pause(now);
        }
      }
      if (use.is_asked) {
        const SteadyTime deadline =
            on_child
                ? ChildRequests::deadline(child_request, last_activity,
                                          {request.silence, request.in_all})
                : clock.deadline(request, elsewhere ? std::optional(last_activity) : std::nullopt);
        if (deadline <= now) {
          use.is_asked = false;
          use.last_used = now;
        }
      }
      // A client that reads gets everything in the end; another one is dropped with its connection.
      if (!use.is_asked && reads) use.over_limit = use.has_stream = false;
      if (use.has_stream && !reads && passed >= session.stall) use.has_stream = false;
      const auto due = end_of_session(use, session);
      if (due && due->time <= now) {
        // With its client gone nothing holds the request back.
        if (!use.is_asked) return passed;
        if (!on_child) clock.proceed(now);
        const SteadyTime deadline = on_child ? start + request.in_all : clock.deadline(request);
        return std::chrono::duration_cast<std::chrono::seconds>(std::max(deadline, now) - start);
      }
    }
    return std::nullopt;
  }
};

}  // namespace

TEST_CASE("in whatever way a session and its request are paused, both end in their time") {
  const SessionTimeouts session{20s, 5s};
  const MessageTimeouts request{10s, 60s, 5s};
  for (int bits = 0; bits < 64; ++bits) {
    const auto bit = [bits](int n) { return (bits >> n & 1) != 0; };
    const Walk walk{bit(0), bit(1), bit(2), bit(3), bit(4), bit(5), session, request};
    const auto ended = walk.both_end();
    REQUIRE_MESSAGE(ended, "state " << bits);
    // The request has 60 s and one pause, followed by the session's idle time.
    CHECK_MESSAGE(*ended <= 60s + 5s + 20s, "state " << bits << ": " << ended->count() << " s");
  }
}

TEST_CASE("without a bound for requests a session whose answers nobody takes still ends") {
  for (const bool has_stream : {false, true}) {
    const Walk walk{true, false, has_stream, false, false, true, {20s, 5s}, {0s, 0s, 5s}};
    CHECK(walk.both_end().has_value());
  }
}
