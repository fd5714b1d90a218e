// BEHAVIOUR, "Jobs: bounds" and "Jobs: keys".
#include "jobs/job_store.hpp"

#include <doctest/doctest.h>

#include <fmt/format.h>

#include <map>
#include <string>
#include <vector>

namespace bridge {
namespace {

using namespace std::chrono_literals;

constexpr User ann{false, 1};
constexpr User bob{false, 2};
constexpr User cid{false, 3};

/// A store whose jobs are named by the test.
struct Store {
  explicit Store(JobLimits limits = {}) : store(limits) {}

  bool add(const std::string& id, const User& user = ann, const std::string& key = {}) {
    Job job;
    job.id = id;
    job.number = store.next_number();
    job.user = user;
    job.method = "m";
    job.key = key;
    job.holds_key = !key.empty();
    job.digest = 7;
    job.keep = store.limits().ttl;
    return store.add_job(std::move(job)) != nullptr;
  }
  bool end(const std::string& id, std::size_t bytes = 1, bool delivered = true) {
    now += 1s;
    return store.end_job(*store.find_job(id), delivered ? JobState::completed : JobState::failed,
                         std::string(bytes, 'x'), delivered, now);
  }
  void add_ended(const std::string& id, const User& user = ann, const std::string& key = {}) {
    REQUIRE(add(id, user, key));
    REQUIRE(end(id));
  }
  std::string ids() const {
    std::string all;
    store.each_newest_first([&](const Job& job) {
      all += job.id;
      return true;
    });
    return all;
  }

  JobStore store;
  SteadyTime now{};
};

JobLimits of_jobs(std::size_t jobs) {
  JobLimits limits;
  limits.jobs = jobs;
  return limits;
}

TEST_CASE("a job does not keep the room in which its response was read") {
  Store jobs;
  REQUIRE(jobs.add("a"));
  std::string response(300'000, 'x');
  response.reserve(8'000'000);
  REQUIRE(jobs.store.end_job(*jobs.store.find_job("a"), JobState::completed, std::move(response),
                             true, jobs.now));
  CHECK(jobs.store.find_job("a")->response.capacity() < 400'000);
}

TEST_CASE("nor that of its question") {
  Store jobs;
  REQUIRE(jobs.add("a"));
  JobQuestion question;
  question.params.assign(300'000, 'x');
  question.params.reserve(8'000'000);
  REQUIRE(jobs.store.ask(*jobs.store.find_job("a"), std::move(question)));
  CHECK(jobs.store.find_job("a")->question->params.capacity() < 400'000);
}

TEST_CASE("what has ended gives way to a later job, the oldest first, those with a key last") {
  Store t(of_jobs(3));
  t.add_ended("k", ann, "key");
  t.add_ended("b");
  t.add_ended("c");
  CHECK(t.add("d"));
  CHECK(t.ids() == "dck");
  CHECK(t.add("e"));
  CHECK(t.ids() == "edk");
  CHECK(t.add("f"));
  CHECK(t.ids() == "fed");
  CHECK_FALSE(t.add("g"));
  CHECK(t.store.counts().pushed_out == 3);
  CHECK(t.store.counts().refused == 1);
}

TEST_CASE("no user has more than half while another has any") {
  Store t(of_jobs(4));
  for (const char* id : {"a", "b", "c", "d"}) t.add_ended(id);
  CHECK(t.add("x", bob));
  CHECK(t.ids() == "xdc");
  CHECK(t.add("y", bob));
  CHECK_FALSE(t.add("z", bob));
  CHECK(t.add("e"));
  CHECK(t.ids() == "eyxd");
  // There is no room for a third one, until one of the others frees some.
  CHECK_FALSE(t.add("q", cid));
  REQUIRE(t.end("e"));
  t.store.forget(*t.store.find_job("e"), t.now);
  CHECK(t.add("q", cid));
}

TEST_CASE("unfinished ones over half stay, and ended ones until another needs their room") {
  Store t(of_jobs(4));
  for (const char* id : {"a", "b", "c"}) REQUIRE(t.add(id));
  CHECK(t.add("x", bob));
  CHECK(t.ids() == "xcba");
  REQUIRE(t.end("a"));
  CHECK(t.ids() == "xcba");
  CHECK(t.add("y", bob));
  CHECK(t.ids() == "yxcb");
}

TEST_CASE("bytes are bounded, and an answer that does not fit does not end its job") {
  JobLimits limits;
  limits.bytes = 16u << 10;
  Store t(limits);
  REQUIRE(t.add("a"));
  CHECK_FALSE(t.end("a", 20u << 10));
  CHECK(t.store.find_job("a")->state == JobState::working);
  CHECK(t.end("a", 10u << 10));
  REQUIRE(t.add("b"));
  CHECK(t.end("b", 10u << 10));  // for which a is removed
  CHECK(t.ids() == "b");
  CHECK(t.store.bytes() <= limits.bytes);
  REQUIRE(t.add("c"));
  CHECK_FALSE(t.store.ask(*t.store.find_job("c"), {"m", std::string(20u << 10, 'x')}));
  CHECK(t.store.ask(*t.store.find_job("c"), {"m", std::string(1000, 'x')}));
  CHECK(t.store.find_job("c")->state == JobState::input_required);
  t.store.proceed(*t.store.find_job("c"));
  CHECK(t.store.find_job("c")->state == JobState::working);
}

TEST_CASE("everything that was counted is given back") {
  Store t;
  for (int round = 0; round < 3; ++round) {
    for (const char* id : {"a", "b"}) {
      REQUIRE(t.add(id, ann, round == 0 ? id : ""));
      t.store.set_progress(*t.store.find_job(id), R"({"progress":1})");
      t.store.set_progress(*t.store.find_job(id), R"({"progress":10})");
      REQUIRE(t.store.ask(*t.store.find_job(id), {"m", "{}"}));
      REQUIRE(t.end(id, 1000));
    }
    t.store.forget(*t.store.find_job("a"), t.now);
    t.now += t.store.limits().ttl;
    t.store.expire(t.now);
    CHECK(t.store.size() == 0);
    CHECK(t.store.bytes() == 0);
    for (std::size_t state = 0; state < job_states; ++state)
      CHECK(t.store.in_state(static_cast<JobState>(state)) == 0);
  }
}

TEST_CASE("progress that is too long is not kept, and none after the end") {
  Store t;
  REQUIRE(t.add("a"));
  t.store.set_progress(*t.store.find_job("a"), "{}");
  t.store.set_progress(*t.store.find_job("a"), std::string(JobStore::longest_progress + 1, 'x'));
  CHECK(t.store.find_job("a")->progress == "{}");
  REQUIRE(t.end("a"));
  t.store.set_progress(*t.store.find_job("a"), R"({"progress":2})");
  CHECK(t.store.find_job("a")->progress == "{}");
}

TEST_CASE("a job is kept for its own time after its end") {
  Store t;
  t.add_ended("a");
  t.add_ended("b");
  const auto due = t.store.expire(t.now);
  CHECK(due == t.now - 1s + t.store.limits().ttl);
  CHECK(t.store.expire(*due) == *due + 1s);
  CHECK(t.ids() == "b");
  CHECK(t.store.expire(*due + 1s) == std::nullopt);
  CHECK(t.store.counts().expired == 2);
}

TEST_CASE("a key finds its job, and what that leaves behind when it is forgotten") {
  Store t;
  t.add_ended("a", ann, "key");
  CHECK(t.store.with_key(ann, "key")->id == "a");
  CHECK(t.store.with_key(bob, "key") == nullptr);
  CHECK(t.store.used_key(ann, "key", t.now) == nullptr);
  t.store.forget(*t.store.find_job("a"), t.now);
  CHECK(t.store.with_key(ann, "key") == nullptr);
  const UsedKey* const used = t.store.used_key(ann, "key", t.now);
  REQUIRE(used != nullptr);
  CHECK(used->job == "a");
  CHECK(used->digest == 7);
  CHECK(used->state == JobState::completed);
  CHECK(t.store.used_key(bob, "key", t.now) == nullptr);
  CHECK(t.store.used_key(ann, "key", t.now + t.store.limits().ttl) == nullptr);
}

TEST_CASE("one that was not delivered gives its key back") {
  Store t;
  REQUIRE(t.add("a", ann, "key"));
  REQUIRE(t.end("a", 1, false));
  CHECK(t.store.with_key(ann, "key") == nullptr);
  REQUIRE(t.add("b", ann, "key"));
  CHECK(t.store.with_key(ann, "key")->id == "b");
  t.store.forget(*t.store.find_job("a"), t.now);
  CHECK(t.store.used_key(ann, "key", t.now) == nullptr);
  CHECK(t.store.with_key(ann, "key")->id == "b");
}

TEST_CASE("what keys leave behind is bounded") {
  UsedKeys keys;
  for (std::size_t number = 0; number < UsedKeys::max_keys + 5; ++number)
    keys.add({fmt::format("{}", number), 1, "job", JobState::completed, SteadyTime() + 1s});
  CHECK(keys.size() == UsedKeys::max_keys);
  CHECK(keys.pushed_out() == 5);
  CHECK(keys.find("4") == nullptr);
  CHECK(keys.find("5") != nullptr);
  UsedKeys long_ones;
  for (int number = 0; number < 10'000; ++number) {
    long_ones.add({fmt::format("{:0>256}", number), 1, std::string(32, 'j'), JobState::completed,
                   SteadyTime() + 1s});
  }
  CHECK(long_ones.size() * 256 < UsedKeys::max_bytes);
  CHECK(long_ones.size() > 9000);
  keys.expire(SteadyTime() + 1s);
  CHECK(keys.empty());
}

TEST_CASE("what another daemon has kept is taken up") {
  Store t;
  Job job;
  job.id = "a";
  job.number = JobNumber{41};
  job.user = ann;
  job.key = "key";
  job.holds_key = true;
  job.state = JobState::completed;
  job.response = "{}";
  job.ended = t.now;
  job.keep = 1s;
  CHECK(t.store.restore(job));
  CHECK(t.store.with_key(ann, "key")->id == "a");
  CHECK(t.store.next_number() == JobNumber{42});
  t.store.restore(ann, {"other", 9, "b", JobState::failed, t.now + 1s});
  CHECK(t.store.used_key(ann, "other", t.now)->job == "b");
  CHECK(t.store.expire(t.now + 1s) == std::nullopt);
  CHECK(t.store.size() == 0);
}

TEST_CASE("bounds that are lower than another daemon's were never drop what has not ended") {
  JobLimits limits;
  limits.jobs = 2;
  JobStore store(limits);
  for (std::uint64_t n = 1; n <= 5; ++n) {
    Job job;
    job.id = std::to_string(n);
    job.number = static_cast<JobNumber>(n);
    job.user = ann;
    job.state = n <= 2 ? JobState::completed : JobState::working;
    store.restore(std::move(job));
  }
  CHECK(store.in_state(JobState::working) == 3);
  CHECK(store.in_state(JobState::completed) == 0);
  CHECK(store.counts().not_restored == 2);
  CHECK(store.counts().pushed_out == 0);
  Job ended;
  ended.id = "ended";
  ended.number = JobNumber{6};
  ended.user = ann;
  ended.state = JobState::completed;
  CHECK_FALSE(store.restore(std::move(ended)));
  CHECK(store.counts().not_restored == 3);
}

struct Keeper final : JobKeeper {
  bool write_changes() override { return ++writes > 0; }
  void note_question(Job&) override {}
  int writes = 0;
};

TEST_CASE("what has changed is known until it is taken to be written") {
  const auto bits = [](JobChange what) { return static_cast<unsigned>(what); };
  Keeper keeper;
  Store t;
  REQUIRE(t.add("unkept"));
  CHECK(t.store.take_changes().jobs.empty());
  CHECK_FALSE(t.store.write());
  t.store.set_keeper(&keeper);
  REQUIRE(t.add("a", ann, "key"));
  const JobNumber number = t.store.find_job("a")->number;
  CHECK(t.store.take_changes().jobs ==
        std::map<JobNumber, unsigned>{{number, bits(JobChange::all)}});
  CHECK(t.store.write());
  CHECK(keeper.writes == 1);
  t.store.changed(*t.store.find_job("a"), JobChange::position);
  REQUIRE(t.store.ask(*t.store.find_job("a"), {"m", "{}"}));
  CHECK(t.store.take_changes().jobs.at(number) ==
        (bits(JobChange::position) | bits(JobChange::outcome)));
  CHECK(t.store.take_changes().jobs.empty());
  REQUIRE(t.end("a"));
  CHECK(t.store.take_changes().jobs.at(number) == bits(JobChange::outcome));
  t.store.changed(*t.store.find_job("a"), JobChange::outcome);
  t.store.forget(*t.store.find_job("a"), t.now);
  const JobChanges last = t.store.take_changes();
  CHECK(last.jobs.empty());
  CHECK(last.forgotten == std::vector<JobNumber>{number});
  REQUIRE(last.keys.size() == 1);
  CHECK(last.keys.front().second.key == "key");
}

TEST_CASE("what has ended and was told nobody is counted until it is told or gone") {
  Store t;
  for (const char* id : {"a", "b", "c", "d"}) REQUIRE(t.add(id));
  CHECK(t.store.uncollected() == 0);
  t.end("a");
  t.end("b");
  t.end("c");
  REQUIRE(t.store.end_job(*t.store.find_job("d"), JobState::cancelled, {}, true, t.now));
  CHECK(t.store.uncollected() == 3);
  t.store.find_job("a")->collected = true;
  t.store.find_job("d")->collected = true;
  CHECK(t.store.uncollected() == 2);
  t.store.forget(*t.store.find_job("a"), t.now);
  t.store.forget(*t.store.find_job("b"), t.now);
  CHECK(t.store.uncollected() == 1);
}

}  // namespace
}  // namespace bridge
