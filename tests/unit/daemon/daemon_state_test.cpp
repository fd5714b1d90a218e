// The result of replaying a state's records, by value (BEHAVIOUR, "State: what is kept").
#include "daemon_state.hpp"

#include <doctest/doctest.h>

#include "state/log_format.hpp"

using namespace bridge;

namespace {

template <class... Values>
std::string payload_of(const Values&... values) {
  return Archive::write(Archive::Kind::disk, {}, values...);
}

RingEntry entry_of(std::uint64_t sequence, std::string line, bool taken = false) {
  RingEntry entry;
  entry.sequence = static_cast<Sequence>(sequence);
  entry.time = WallTime(std::chrono::seconds(1700000000 + sequence));
  entry.line = std::move(line) + "\n";
  entry.taken_by = taken ? 7 : 0;
  return entry;
}

std::string plain_entry(std::uint64_t sequence, std::string line, bool taken = false) {
  return payload_of(entry_of(sequence, std::move(line), taken), StreamPosition{});
}

std::vector<std::string> lines_of(RingReplay& ring) {
  std::vector<std::string> all;
  for (const RingEntry& entry : ring.take().entries)
    all.push_back(entry.line.substr(0, entry.line.size() - 1) + (entry.taken() ? " taken" : ""));
  return all;
}

}  // namespace

TEST_CASE("a ring entry is kept with the place of its event in the stream") {
  ReplayedState state{Moment{}};
  CHECK(state.take(record::ring_entry,
                   payload_of(entry_of(5, "five"), StreamPosition{2, "event 9"})));
  CHECK(state.stream == StreamPosition{2, "event 9"});
  CHECK(lines_of(state.ring) == std::vector<std::string>{"five"});
}

TEST_CASE("an entry without an event leaves the place in the stream as it was") {
  ReplayedState state{Moment{}};
  CHECK(state.take(record::server_stream, payload_of(StreamPosition{1, "e"})));
  CHECK(state.take(record::ring_entry, plain_entry(1, "a")));
  CHECK(state.stream == StreamPosition{1, "e"});
}

TEST_CASE("marks, what was superseded and what was pushed out are applied") {
  ReplayedState state{Moment{}};
  for (std::uint64_t i = 1; i <= 6; ++i)
    CHECK(state.take(record::ring_entry, plain_entry(i, std::to_string(i))));
  CHECK(state.take(record::ring_marks,
                   payload_of(true, std::vector<Sequence>{Sequence{3}, Sequence{4}})));
  CHECK(state.take(record::ring_marks, payload_of(false, std::vector<Sequence>{Sequence{4}})));
  CHECK(state.take(record::ring_superseded, payload_of(Sequence{5})));
  CHECK(state.take(record::ring_counts, payload_of(Sequence{3}, RingCounts{6, 1, 2, 3})));
  RingReplay ring = state.ring;
  CHECK(ring.take().counts == RingCounts{6, 1, 2, 3});
  CHECK(lines_of(state.ring) == std::vector<std::string>{"3 taken", "4", "6"});
}

TEST_CASE("a log that was written anew may tell of new entries before old ones") {
  ReplayedState state{Moment{}};
  CHECK(state.take(record::ring_entry, plain_entry(9, "new")));
  CHECK(state.take(record::ring_marks, payload_of(true, std::vector<Sequence>{Sequence{2}})));
  CHECK(state.take(record::ring_entry, plain_entry(1, "old")));
  CHECK(state.take(record::ring_entry, plain_entry(2, "taken meanwhile", true)));
  CHECK(lines_of(state.ring) == std::vector<std::string>{"old", "taken meanwhile taken", "new"});
}

TEST_CASE("a restored ring goes on where the other was") {
  RingLimits limits;
  limits.entries = 3;
  Ring ring(limits);
  std::vector<RingEntry> entries;
  for (std::uint64_t i = 2; i <= 5; ++i) entries.push_back(entry_of(i, "x", i == 4));
  const WallTime now(std::chrono::seconds(1700000100));
  ring.restore({std::move(entries), {5, 1, 4, 0}}, now);
  CHECK(ring.size() == 3);
  CHECK(ring.untaken() == 2);
  CHECK(ring.dropped() == 2);
  CHECK(ring.taken() == 4);
  CHECK(ring.oldest() == Sequence{3});
  CHECK(ring.push("next", "m", "", now));
  CHECK(ring.newest() == Sequence{6});
  RingReader reader = ring.join(now);
  std::uint64_t lost = 0;
  const RingEntry* next = ring.next_for(reader, ring.newest(), lost);
  REQUIRE(next != nullptr);
  CHECK(next->sequence == Sequence{5});  // 4 was taken
  CHECK(lost == 0);
}

TEST_CASE("a session is kept with its handshake and its id") {
  SavedSession kept;
  kept.eras = {Speaks::yes, Speaks::no};
  kept.server.emplace(R"({"protocolVersion":"2025-06-18"})");
  ReplayedState state{Moment{}};
  REQUIRE(state.take(record::session, payload_of(LoggedSession{kept, "an id"})));
  CHECK(state.session.session.eras.legacy == Speaks::yes);
  CHECK(state.session.session.server->result() == kept.server->result());
  CHECK(state.session.id == "an id");
  REQUIRE(state.take(record::session, payload_of(LoggedSession{kept, std::nullopt})));
  CHECK_FALSE(state.session.id);
}

TEST_CASE("ids and what had no answer are kept") {
  ReplayedState state{Moment{}};
  CHECK(state.take(record::upstream_ids, payload_of(70000)));
  CHECK(state.take(record::upstream_ids, payload_of(60000)));
  CHECK(state.next_id == 70000);
  CHECK(state.take(record::unanswered,
                   payload_of(std::vector<UpstreamId>{UpstreamId{4}, UpstreamId{9}})));
  CHECK(state.unanswered == std::vector<UpstreamId>{UpstreamId{4}, UpstreamId{9}});
  CHECK(state.take(record::unanswered, payload_of(std::vector<UpstreamId>())));
  CHECK(state.unanswered.empty());
}

TEST_CASE("what is no record of this format is refused") {
  ReplayedState state{Moment{}};
  CHECK_FALSE(state.take(999, ""));
  CHECK_FALSE(state.take(record::instance, payload_of(std::string("no hex \""))));
  CHECK_FALSE(state.take(record::instance, payload_of(std::string())));
  CHECK_FALSE(state.take(record::ring_entry, "short"));
  CHECK_FALSE(state.take(record::ring_marks, "123456789"));
  CHECK_FALSE(state.take(record::session, ""));
  for (const std::uint32_t type : {record::ring_entry, record::session, record::ring_counts}) {
    const std::string whole = type == record::ring_entry ? plain_entry(1, "a")
                              : type == record::session  ? payload_of(LoggedSession{{}, "x"})
                                                         : payload_of(Sequence{}, RingCounts{});
    for (std::size_t size = 0; size + 1 < whole.size(); ++size)
      REQUIRE_FALSE(state.take(type, whole.substr(0, size)));
    REQUIRE(state.take(type, whole));
  }
}

TEST_CASE("requests that the audit has no line of are those that were said and have not ended") {
  ReplayedState state{Moment{}};
  AuditRecord call;
  call.method = "tools/call";
  call.client.command = "python3";
  for (const std::uint64_t number : {3, 4, 5}) {
    call.number = number;
    CHECK(state.take(record::audited, payload_of(call)));
  }
  CHECK(state.take(record::audit_ended, payload_of(std::vector<std::uint64_t>{3, 5, 9})));
  REQUIRE(state.audited.size() == 1);
  CHECK(state.audited.begin()->first == 4);
  CHECK(state.audited.begin()->second.client.command == "python3");
  CHECK_FALSE(state.take(record::audited, "x"));
  CHECK_FALSE(state.take(record::audit_ended, "x"));
}
