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
  void write(const std::string& lines) {
    audit.append(lines);
    audit.write();
  }

  SimulatedClock clock;
  EventLoop loop{clock};
  Log log{LogLevel::off};
  FakeOutput* output = new FakeOutput;
  AuditLog audit{loop, std::unique_ptr<AuditOutput>(output), log};
};

}  // namespace

TEST_CASE_FIXTURE(Fixture, "the lines of a turn are one write") {
  audit.append("a\n");
  audit.append("b\n");
  CHECK(output->writes == 0);
  audit.write();
  CHECK(output->text == "a\nb\n");
  CHECK(output->writes == 1);
  CHECK(audit.counts().written == 2);
  audit.write();
  CHECK(output->writes == 1);
}

TEST_CASE_FIXTURE(Fixture,
                  "what cannot be written waits, is tried again, and goes on within a line") {
  output->room = 3;
  write("aaaa\n");
  CHECK(audit.is_failing());
  CHECK(output->text == "aaa");
  write("b\n");
  CHECK(output->writes == 1);
  output->room = 100;
  let_pass(clock, loop, 10s);
  CHECK_FALSE(audit.is_failing());
  CHECK(output->text == "aaaa\nb\n");
  CHECK(audit.counts().lost == 0);
}

TEST_CASE_FIXTURE(Fixture, "a reader that is behind is no failure until it has been so for long") {
  output->room = 2;
  output->is_behind = true;
  write("a\nb\n");
  CHECK_FALSE(audit.is_failing());
  output->room = 2;
  let_pass(clock, loop, 20ms);
  CHECK(output->text == "a\nb\n");
  output->room = 0;
  write("c\n");
  let_pass(clock, loop, 4s);
  CHECK_FALSE(audit.is_failing());
  let_pass(clock, loop, 2s);
  CHECK(audit.is_failing());
  output->room = 100;
  let_pass(clock, loop, 10s);
  CHECK_FALSE(audit.is_failing());
  CHECK(output->text == "a\nb\nc\n");
}

TEST_CASE_FIXTURE(
    Fixture, "a file that cannot be opened again is tried until it can, and the old one is used") {
  int opened = 0;
  audit.on_another_file([&opened] { ++opened; });
  output->can_open = false;
  CHECK_FALSE(audit.reopen());
  CHECK(audit.is_failing());
  write("a\n");
  CHECK(output->text == "a\n");
  CHECK(audit.is_failing());
  output->can_open = true;
  let_pass(clock, loop, 10s);
  CHECK_FALSE(audit.is_failing());
  CHECK(opened == 1);
}

TEST_CASE_FIXTURE(Fixture,
                  "at the end, and in an upgrade, what could not be written is tried once more") {
  output->room = 0;
  write("a\n");
  output->room = 100;
  audit.write_last();
  CHECK(output->text == "a\n");
  output->room = 0;
  audit.append("b\n");
  audit.write_last();
  Fixture next;
  next.audit.restore(audit.save());
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

TEST_CASE_FIXTURE(Fixture, "beyond what may wait lines are lost and counted") {
  output->room = 0;
  const std::string line(100'000, 'x');
  for (int i = 0; i < 20; ++i) audit.append(line + "\n");
  CHECK(audit.counts().lost == 10);
  CHECK(audit.is_failing());
}

TEST_CASE_FIXTURE(Fixture, "a line that has to be there is there at once, or not at all") {
  audit.append("before\n");
  CHECK(audit.append_now("now\n"));
  CHECK(output->text == "before\nnow\n");
  output->room = 0;
  CHECK_FALSE(audit.append_now("never\n"));
  CHECK(audit.is_failing());
  output->room = 100;
  // It is not retried before its time.
  CHECK_FALSE(audit.append_now("nor this\n"));
  let_pass(clock, loop, 10s);
  CHECK(audit.append_now("again\n"));
  CHECK(output->text == "before\nnow\nagain\n");
}

TEST_CASE_FIXTURE(
    Fixture,
    "of several lines that have to be there those are that fit, and of none a part for good") {
  output->room = 5;
  CHECK(audit.append_now("a\nbbbb\nc\n") == 1);
  CHECK(output->text == "a\nbbb");
  output->room = 100;
  let_pass(clock, loop, 10s);
  CHECK(output->text == "a\nbbbb\n");
  CHECK(audit.append_now("c\nd\n") == 2);
  CHECK(output->writes == 3);
}

TEST_CASE_FIXTURE(Fixture,
                  "what was begun of a line stands whole in the file that is opened next") {
  output->room = 2;
  write("aaaa\n");
  output->room = 100;
  audit.reopen();
  CHECK(output->text == "aaaa\n");
  CHECK_FALSE(audit.is_failing());
}
