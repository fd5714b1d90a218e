#include "session/doubts.hpp"

#include <algorithm>
#include <utility>

#include "session/retry_decision.hpp"

namespace bridge {
namespace {

/// Also with a short --connect-wait the ping has this long.
constexpr std::chrono::milliseconds shortest_timeout{1000};

}  // namespace

Doubts::Doubts(EventLoop& loop, SessionSender& sender, Upstream& upstream,
               std::function<void()> unanswered)
    : sender_(sender),
      upstream_(upstream),
      timer_(loop, [this, unanswered = std::move(unanswered)] {
        cancel();
        unanswered();
      }) {}

bool Doubts::remove(UpstreamId id) {
  return std::erase_if(doubts_, [id](const Ending& doubt) { return doubt.unanswered->id == id; }) !=
         0;
}

void Doubts::ask(std::chrono::milliseconds timeout) {
  if (is_asking()) return;
  question_ = sender_.ask_whether_there();
  timer_.set_after(std::max(timeout, shortest_timeout));
}

bool Doubts::ask_again(Ending& ending) {
  if (!ending.failure || !ending.unanswered ||
      !may_repeat_after(*ending.failure, *ending.unanswered))
    return false;
  ++ending.unanswered->notes.repeats;
  sender_.send(std::move(*ending.unanswered));
  return true;
}

std::vector<Ending> Doubts::take_all() {
  timer_.clear();
  question_ = UpstreamId{};
  return std::exchange(doubts_, {});
}

void Doubts::cancel() {
  timer_.clear();
  if (is_asking()) upstream_.abandon(std::exchange(question_, UpstreamId{}));
}

}  // namespace bridge
