#include "session/retries.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <optional>
#include <vector>

using namespace bridge;
using namespace std::chrono_literals;
using Action = RetryDecision::Action;
using News = RetryDecision::News;

namespace {

const SteadyTime now = SteadyTime{} + 1h;

HeldMessage message(std::uint64_t id, std::chrono::seconds not_before,
                    std::chrono::seconds deadline) {
  HeldMessage held;
  held.message.id = static_cast<UpstreamId>(id);
  held.not_before = now + not_before;
  held.deadline = now + deadline;
  return held;
}

std::vector<std::uint64_t> ids(const std::vector<HeldMessage>& messages) {
  std::vector<std::uint64_t> all;
  for (const HeldMessage& held : messages) all.push_back(value_of(held.message.id));
  return all;
}

using Ids = std::vector<std::uint64_t>;

}  // namespace

TEST_CASE("those that are ready at that very time are taken in order, the others stay") {
  HeldMessages held;
  held.hold(message(1, 5s, 10s));
  held.hold(message(2, 0s, 10s));
  held.hold(message(3, 2s, 4s));
  CHECK(ids(held.take_ready(now + 1999ms)) == Ids{2});
  CHECK(held.take_expired(now + 3999ms).empty());
  CHECK(ids(held.take_expired(now + 4s)) == Ids{3});
  held.hold(message(4, 2s, 10s));
  CHECK(ids(held.take_ready(now + 5s)) == Ids{1, 4});
  CHECK(held.empty());
}

TEST_CASE("the next time is when one expires, or may be sent if that is possible at all") {
  HeldMessages held;
  CHECK_FALSE(held.next_time(true));
  held.hold(message(1, 3s, 20s));
  held.hold(message(2, 5s, 10s));
  CHECK(held.next_time(true) == now + 3s);
  CHECK(held.next_time(false) == now + 10s);
  held.hold(message(3, 50s, 2s));
  CHECK(held.next_time(true) == now + 2s);
  CHECK(held.next_time(false) == now + 2s);
}

TEST_CASE("one can be removed, and all can be taken") {
  HeldMessages held;
  for (std::uint64_t id = 1; id <= 3; ++id) held.hold(message(id, 0s, 10s));
  CHECK(held.remove(UpstreamId{2}));
  CHECK_FALSE(held.remove(UpstreamId{2}));
  CHECK(held.size() == 2);
  CHECK(ids(held.take_all()) == Ids{1, 3});
  CHECK(held.empty());
}

namespace {

Failure failure(ErrorKind kind, Delivered delivered) { return failure_of(kind, delivered, "why"); }

/// The outcome for a message that was sent in session 1 and returned while session 1 is open.
struct Row {
  const char* what;
  Failure failure;
  Action action = Action::give_up;
  News news = News::none;
  SessionVerdict verdict = SessionVerdict::kept;
  bool may_repeat = false;
  std::uint8_t rejections = 0;
  std::uint8_t repeats = 0;
  bool is_open = true;
  std::uint32_t session = 1;
  std::optional<std::chrono::milliseconds> retry_after{};
  std::optional<std::chrono::milliseconds> held_for{};  ///< how long it may still wait
  bool definitive = false;
};

RetryDecision decide(const Row& row) {
  Ending ending;
  ending.failure = row.failure;
  ending.failure->retry_after = row.retry_after;
  ending.failure->definitive = row.definitive;
  ending.session = row.verdict;
  ending.unanswered.emplace();
  ending.unanswered->notes.session = 1;
  ending.unanswered->may_repeat = row.may_repeat;
  ending.unanswered->notes.rejections = row.rejections;
  ending.unanswered->notes.repeats = row.repeats;
  if (row.held_for) ending.unanswered->notes.hold_until = now + *row.held_for;
  return decide_retry(ending, {row.is_open, row.session, now, 10s});
}

const Failure unreachable = failure(ErrorKind::connect, Delivered::no);
const Failure closed = failure(ErrorKind::closed, Delivered::unknown);
const Failure refused = failure(ErrorKind::http, Delivered::no);
const Failure unknown = failure(ErrorKind::http, Delivered::unknown);

constexpr auto kept = SessionVerdict::kept;
constexpr auto doubtful = SessionVerdict::doubtful;
constexpr auto lost = SessionVerdict::lost;

const std::vector<Row> table = {
    // The session.
    {"no session", refused, Action::hold, News::session_lost, lost},
    {"no session, the second time", refused, Action::hold, News::session_lost, lost, false, 1},
    {"no session, the third time", refused, Action::give_up, News::session_lost, lost, false, 2},
    {"no session, and it is being opened", refused, Action::hold, News::session_lost, lost, false,
     0, 0, false, 2},
    {"no session, but there is a newer one", refused, Action::send_now, News::none, lost, false, 0,
     0, true, 2},
    {"the third time, though there is a newer one", refused, Action::give_up, News::session_lost,
     lost, false, 2, 0, true, 2},
    {"it speaks of the session", refused, Action::ask, News::none, doubtful},
    {"it speaks of a session that was replaced", refused, Action::send_now, News::none, doubtful,
     false, 0, 0, true, 2},
    {"it speaks of the session and is unreachable", unreachable, Action::ask, News::none, doubtful},
    // The connection.
    {"no connection", unreachable, Action::hold, News::unreachable},
    {"no connection, while away", unreachable, Action::hold, News::unreachable, kept, false, 0, 0,
     false},
    {"no address", failure(ErrorKind::dns, Delivered::no), Action::hold, News::unreachable},
    {"no trust for now", failure(ErrorKind::tls, Delivered::no), Action::hold, News::unreachable},
    {"connecting took too long", failure(ErrorKind::timeout, Delivered::no), Action::hold,
     News::unreachable},
    {"an answer took too long", failure(ErrorKind::timeout, Delivered::unknown), Action::give_up},
    {"no trust for good",
     failure(ErrorKind::tls, Delivered::no),
     Action::give_up,
     News::unreachable,
     kept,
     false,
     0,
     0,
     true,
     1,
     {},
     {},
     true},
    // With a Retry-After.
    {"in 10 s", refused, Action::hold, News::none, kept, false, 0, 0, true, 1, 10s},
    {"in more than --connect-wait", refused, Action::give_up, News::none, kept, false, 0, 0, true,
     1, 10001ms},
    {"after what is left of its time", refused, Action::give_up, News::none, kept, false, 0, 0,
     true, 1, 3s, 2999ms},
    {"within what is left of its time", refused, Action::hold, News::none, kept, false, 0, 0, true,
     1, 3s, 3s},
    {"but it may have been processed", unknown, Action::give_up, News::none, kept, false, 0, 0,
     true, 1, 1s},
    // The connection broke.
    {"a call", closed, Action::give_up},
    {"what only reads", closed, Action::send_now, News::none, kept, true},
    {"what only reads, while away", closed, Action::hold, News::none, kept, true, 0, 0, false},
    {"what only reads, the second time", closed, Action::send_now, News::none, kept, true, 0, 1},
    {"what only reads, the third time", closed, Action::give_up, News::none, kept, true, 0, 2},
    // Any other failure is passed to the client.
    {"a status", refused, Action::give_up},
    {"a status of what only reads", unknown, Action::give_up, News::none, kept, true},
    {"who is it", failure(ErrorKind::auth, Delivered::no), Action::give_up},
    {"no message", failure(ErrorKind::malformed, Delivered::unknown), Action::give_up, News::none,
     kept, true},
};

}  // namespace

TEST_CASE("what becomes of a message that failed before its answer began") {
  for (const Row& row : table) {
    CAPTURE(row.what);
    const RetryDecision decision = decide(row);
    CHECK(decision.action == row.action);
    CHECK(decision.news == row.news);
    const bool is_held_for_later = decision.action == Action::hold && row.retry_after;
    CHECK(decision.delay == (is_held_for_later ? *row.retry_after : 0ms));
    const bool is_rejected = row.verdict == lost || (row.verdict == doubtful && row.session != 1);
    CHECK(decision.rejections == row.rejections + (is_rejected ? 1 : 0));
    const bool is_repeated = row.failure.kind == ErrorKind::closed && row.action != Action::give_up;
    CHECK(decision.repeats == row.repeats + (is_repeated ? 1 : 0));
  }
}

TEST_CASE("what finds no session is told so in the end, and nothing of the upstream's error") {
  Row row{"", refused, Action::hold, News::session_lost, lost};
  row.failure.error_object = R"({"code":1})";
  row.failure.summary = "short";
  const Failure told = decide(row).failure;
  CHECK(told.kind == ErrorKind::session);
  CHECK(told.delivered == Delivered::no);
  CHECK(told.message ==
        "the upstream lost the session, and there was no other in time (--connect-wait): why");
  CHECK(told.summary ==
        "the upstream lost the session, and there was no other in time (--connect-wait): short");
  CHECK(told.error_object.empty());
  row.rejections = 2;
  CHECK(decide(row).failure.message == "the upstream keeps losing the session: why");
}

TEST_CASE("with --login-wait a message waits for a login until its own time is over") {
  Ending ending;
  ending.failure = failure(ErrorKind::auth, Delivered::no);
  ending.failure->status = 401;
  ending.failure->login = "mcp-nc login";
  ending.unanswered.emplace();
  const auto at = [&ending](SteadyTime time, std::chrono::milliseconds login_wait) {
    return decide_retry(ending, {true, 1, time, 10s, login_wait});
  };
  CHECK(at(now, 0ms).action == Action::give_up);
  const RetryDecision first = at(now, 10min);
  CHECK(first.action == Action::hold);
  CHECK(first.login_until == now + 10min);
  CHECK(first.delay == 5s);
  ending.unanswered->notes.login_until = first.login_until;
  CHECK(at(now + 20s, 10min).delay == 20s);
  CHECK(at(now + 5min, 10min).delay == 60s);
  CHECK(at(now + 5min, 10min).login_until == now + 10min);
  CHECK(at(now + 10min, 10min).action == Action::give_up);
  // A missing scope is not waited for as a login is.
  ending.failure->status = 403;
  ending.unanswered->notes.login_until.reset();
  CHECK(at(now, 10min).action == Action::give_up);
}
