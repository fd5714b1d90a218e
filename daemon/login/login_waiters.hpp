#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "auth/login.hpp"
#include "event/deadline_timer.hpp"

namespace bridge {

/// Who waits for a login: for what there is to do, or for its end.
///
/// The loop's thread only; a part of LoginDesk. Bounds: `most` of them; each is answered when its
/// time is over at the latest.
class LoginWaiters {
 public:
  static constexpr std::size_t most = 64;
  enum class For { offer, end };

  /// `answer` says how the login stands.
  LoginWaiters(EventLoop& loop, std::function<LoginAnswer()> answer);

  /// Answers at once if there are too many.
  void add(For what, std::chrono::milliseconds time, Login::Done done);
  void offered() { tell(For::offer); }
  void ended();

 private:
  struct Waiter {
    For what;
    SteadyTime until;
    Login::Done done;
  };

  void tell(For what);
  void tell_due();
  template <class Select>
  void tell_those(Select&& select);

  EventLoop& loop_;
  std::function<LoginAnswer()> answer_;
  std::vector<Waiter> all_;
  DeadlineTimer clock_;
};

}  // namespace bridge
