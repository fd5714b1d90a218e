#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <utility>

#include "event/deadline_timer.hpp"

namespace bridge {

/// How a run of a local server is made to end (MCP 2025-11-25, "Lifecycle", "Shutdown", stdio): its
/// stdin is closed, after 1 s it gets SIGTERM, after another SIGKILL; 300 ms later nobody waits for
/// it any more. In all less than Upstream::end() has. One that closes a pipe by itself has 500 ms
/// to end.
///
/// The loop's thread only; a part of ChildRuns, which carries the steps out.
class ChildShutdown {
 public:
  enum class Step : std::uint8_t {
    none,          ///< it is to run
    input_closed,  ///< its stdin is to be closed
    terminated,
    killed,
  };

  /// `act` carries the step out that comes now; `none`: a run that has closed a pipe hangs.
  ChildShutdown(EventLoop& loop, std::function<void(Step)> act)
      : act_(std::move(act)), timer_(loop, [this] { next(); }) {}

  bool is_under_way() const { return step_ != Step::none; }
  /// `done` is called once, when the run has ended or is given up.
  void begin(std::function<void()> done) {
    done_ = std::move(done);
    enter(Step::input_closed, std::chrono::seconds(1));
  }
  /// The run has closed its stdin or stdout by itself.
  void pipe_closed() {
    if (!is_under_way() && !timer_.is_set()) timer_.set_after(std::chrono::milliseconds(500));
  }
  /// The run has ended.
  void run_ended() {
    timer_.clear();
    finish();
  }

 private:
  void enter(Step step, std::chrono::milliseconds time) {
    step_ = step;
    timer_.set_after(time);
    act_(step);
  }
  void next() {
    switch (step_) {
      case Step::none: act_(step_); break;
      case Step::input_closed: enter(Step::terminated, std::chrono::seconds(1)); break;
      case Step::terminated: enter(Step::killed, std::chrono::milliseconds(300)); break;
      case Step::killed: finish(); break;
    }
  }
  void finish() {
    if (const auto done = std::exchange(done_, nullptr)) done();
  }

  std::function<void(Step)> act_;
  Step step_ = Step::none;
  std::function<void()> done_;
  DeadlineTimer timer_;
};

}  // namespace bridge
