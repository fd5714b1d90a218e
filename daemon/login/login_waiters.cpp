#include "login/login_waiters.hpp"

#include <algorithm>
#include <utility>

namespace bridge {

LoginWaiters::LoginWaiters(EventLoop& loop, std::function<LoginAnswer()> answer)
    : loop_(loop), answer_(std::move(answer)), clock_(loop, [this] { tell_due(); }) {}

void LoginWaiters::add(For what, std::chrono::milliseconds time, Login::Done done) {
  if (all_.size() >= most) {
    LoginAnswer full = answer_();
    full.failure = failure_of(ErrorKind::overloaded, Delivered::no, "too many wait for the login");
    done(full);
    return;
  }
  const SteadyTime until = loop_.now() + time;
  all_.push_back({what, until, std::move(done)});
  clock_.set_at_latest(until);
}

template <class Select>
void LoginWaiters::tell_those(Select&& select) {
  const auto first = std::stable_partition(all_.begin(), all_.end(),
                                           [&](const Waiter& one) { return !select(one); });
  std::vector<Waiter> told(std::make_move_iterator(first), std::make_move_iterator(all_.end()));
  all_.erase(first, all_.end());
  const LoginAnswer answer = answer_();
  for (const Waiter& one : told) one.done(answer);
}

void LoginWaiters::tell(For what) {
  tell_those([what](const Waiter& one) { return one.what == what; });
}

void LoginWaiters::ended() {
  tell_those([](const Waiter&) { return true; });
}

void LoginWaiters::tell_due() {
  const SteadyTime now = loop_.now();
  tell_those([now](const Waiter& one) { return one.until <= now; });
  for (const Waiter& one : all_) clock_.set_at_latest(one.until);
}

}  // namespace bridge
