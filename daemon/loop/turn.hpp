#pragma once

#include <functional>
#include <utility>
#include <vector>

namespace bridge {

/// Collects what one turn of the event loop has to write, so that it goes out in one write a
/// client.
///
/// Every entry point from the loop (a readable socket, a timer, a signal) opens a Scope; when the
/// outermost one ends, what is to be done at a turn's end is done once, if somebody asked for it.
/// One per daemon; the loop's thread only.
class Turn {
 public:
  /// What is to be done at the end of a turn, beside what was set before. Before the first Scope;
  /// for as long as there are Scopes.
  void on_finish(std::function<void()> finish) { finishers_.push_back(std::move(finish)); }

  /// What is to be looked at after each turn, when all is written. Cheap, since it is often. Set
  /// once.
  void on_end(std::function<void()> end) { end_ = std::move(end); }

  /// There is something to write. REQUIRES: a Scope is open.
  void request_finish() { wanted_ = true; }

  class Scope {
   public:
    explicit Scope(Turn& turn) : turn_(turn) { ++turn_.depth_; }
    ~Scope() {
      if (turn_.depth_ == 1) turn_.run();
      --turn_.depth_;
    }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Turn& turn_;
  };

 private:
  void run() {
    while (std::exchange(wanted_, false)) {
      for (const auto& finish : finishers_) finish();
    }
    if (end_) end_();
  }

  std::vector<std::function<void()>> finishers_;
  std::function<void()> end_;
  int depth_ = 0;
  bool wanted_ = false;
};

}  // namespace bridge
