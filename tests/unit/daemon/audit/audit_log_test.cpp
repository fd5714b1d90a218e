#include "audit/audit_log.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "../event/simulated_clock.hpp"

using namespace bridge;
using namespace std::chrono_literals;

namespace {

/// A file with room for so many bytes.
struct FakeOutput final : AuditOutput {
  std::size_t write(std::string_view lines) override {
    ++writes;
    const std::size_t taken = std::min(lines.size(), room);
    text += lines.substr(0, taken);
    room -= taken;
    reason = taken == lines.size() ? "" : "no space";
    return taken;
  }
  const std::string& fault() const override { return reason; }
  bool is_busy() const override { return is_behind; }
  Reopened reopen() override {
    if (!can_open) return Reopened::failed;
    reason.clear();
    text.clear();
    return Reopened::another;
  }

  std::string text;
  std::string reason;
  std::size_t room = 1'000'000;
  int writes = 0;
  bool is_behind = false;
  bool can_open = true;
};

struct Fixture {
  SimulatedClock clock;
  EventLoop loop{clock};
  Log log{LogLevel::off};
  FakeOutput* output = new FakeOutput;
  AuditLog audit{loop, std::unique_ptr<AuditOutput>(output), log};
};

}  // namespace

TEST_CASE("the lines of a turn are one write") {
  Fixture t;
  t.audit.append("a\n");
  t.audit.append("b\n");
  CHECK(t.output->writes == 0);
  t.audit.write();
  CHECK(t.output->text == "a\nb\n");
  CHECK(t.output->writes == 1);
  CHECK(t.audit.counts().written == 2);
  t.audit.write();
  CHECK(t.output->writes == 1);
}

TEST_CASE("what cannot be written waits, is tried again, and goes on within a line") {
  Fixture t;
  t.output->room = 3;
  t.audit.append("aaaa\n");
  t.audit.write();
  CHECK(t.audit.is_failing());
  CHECK(t.output->text == "aaa");
  t.audit.append("b\n");
  t.audit.write();
  CHECK(t.output->writes == 1);
  t.output->room = 100;
  let_pass(t.clock, t.loop, 10s);
  CHECK_FALSE(t.audit.is_failing());
  CHECK(t.output->text == "aaaa\nb\n");
  CHECK(t.audit.counts().lost == 0);
}

TEST_CASE("a reader that is behind is no failure until it has been so for long") {
  Fixture t;
  t.output->room = 2;
  t.output->is_behind = true;
  t.audit.append("a\nb\n");
  t.audit.write();
  CHECK_FALSE(t.audit.is_failing());
  t.output->room = 2;
  let_pass(t.clock, t.loop, 20ms);
  CHECK(t.output->text == "a\nb\n");
  t.output->room = 0;
  t.audit.append("c\n");
  t.audit.write();
  let_pass(t.clock, t.loop, 4s);
  CHECK_FALSE(t.audit.is_failing());
  let_pass(t.clock, t.loop, 2s);
  CHECK(t.audit.is_failing());
  t.output->room = 100;
  let_pass(t.clock, t.loop, 10s);
  CHECK_FALSE(t.audit.is_failing());
  CHECK(t.output->text == "a\nb\nc\n");
}

TEST_CASE("a file that cannot be opened again is tried until it can, and the old one is used") {
  Fixture t;
  int opened = 0;
  t.audit.on_another_file([&opened] { ++opened; });
  t.output->can_open = false;
  CHECK_FALSE(t.audit.reopen());
  CHECK(t.audit.is_failing());
  t.audit.append("a\n");
  t.audit.write();
  CHECK(t.output->text == "a\n");
  CHECK(t.audit.is_failing());
  t.output->can_open = true;
  let_pass(t.clock, t.loop, 10s);
  CHECK_FALSE(t.audit.is_failing());
  CHECK(opened == 1);
}

TEST_CASE("at the end, and in an upgrade, what could not be written is tried once more") {
  Fixture t;
  t.output->room = 0;
  t.audit.append("a\n");
  t.audit.write();
  t.output->room = 100;
  t.audit.write_last();
  CHECK(t.output->text == "a\n");
  t.output->room = 0;
  t.audit.append("b\n");
  t.audit.write_last();
  Fixture next;
  next.audit.restore(t.audit.save());
  next.audit.write();
  CHECK(next.output->text == "b\n");
  CHECK(next.audit.counts().written == 2);
}

TEST_CASE("an output that is shut at the beginning is opened when it can be") {
  SimulatedClock clock;
  EventLoop loop(clock);
  Log log(LogLevel::off);
  auto* const output = new FakeOutput;
  output->reason = "no such folder";
  output->can_open = false;
  output->room = 0;
  AuditLog audit(loop, std::unique_ptr<AuditOutput>(output), log);
  CHECK(audit.is_failing());
  audit.append("a\n");
  let_pass(clock, loop, 10s);
  CHECK(audit.is_failing());
  output->can_open = true;
  output->room = 100;
  let_pass(clock, loop, 10s);
  CHECK_FALSE(audit.is_failing());
  CHECK(output->text == "a\n");
}

TEST_CASE("beyond what may wait lines are lost and counted") {
  Fixture t;
  t.output->room = 0;
  const std::string line(100'000, 'x');
  for (int i = 0; i < 20; ++i) t.audit.append(line + "\n");
  CHECK(t.audit.counts().lost == 10);
  CHECK(t.audit.is_failing());
}

TEST_CASE("a line that has to be there is there at once, or not at all") {
  Fixture t;
  t.audit.append("before\n");
  CHECK(t.audit.append_now("now\n"));
  CHECK(t.output->text == "before\nnow\n");
  t.output->room = 0;
  CHECK_FALSE(t.audit.append_now("never\n"));
  CHECK(t.audit.is_failing());
  t.output->room = 100;
  // It is not retried before its time.
  CHECK_FALSE(t.audit.append_now("nor this\n"));
  let_pass(t.clock, t.loop, 10s);
  CHECK(t.audit.append_now("again\n"));
  CHECK(t.output->text == "before\nnow\nagain\n");
}

TEST_CASE(
    "of several lines that have to be there those are that fit, and of none a part for good") {
  Fixture t;
  t.output->room = 5;
  CHECK(t.audit.append_now("a\nbbbb\nc\n") == 1);
  CHECK(t.output->text == "a\nbbb");
  t.output->room = 100;
  let_pass(t.clock, t.loop, 10s);
  CHECK(t.output->text == "a\nbbbb\n");
  CHECK(t.audit.append_now("c\nd\n") == 2);
  CHECK(t.output->writes == 3);
}

TEST_CASE("what was begun of a line stands whole in the file that is opened next") {
  Fixture t;
  t.output->room = 2;
  t.audit.append("aaaa\n");
  t.audit.write();
  t.output->room = 100;
  t.audit.reopen();
  CHECK(t.output->text == "aaaa\n");
  CHECK_FALSE(t.audit.is_failing());
}
