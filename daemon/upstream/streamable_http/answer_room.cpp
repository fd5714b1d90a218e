#include "upstream/streamable_http/answer_room.hpp"

#include <utility>

namespace bridge {

bool AnswerRoom::fills_buffers() const {
  std::size_t bytes = 0;
  for (const Answer* one : answers_) bytes += one->share_.held();
  return bytes > budget_.used() / 2;
}

/// Of those that can grow.
bool AnswerRoom::holds_most(const Answer& one) const {
  const Answer* most = nullptr;
  for (const Answer* other : answers_) {
    if (other->idle_ || other->paused_) continue;
    if (most == nullptr || other->size_ > most->size_) most = other;
  }
  return most == &one;
}

bool AnswerRoom::ask(Answer& one, std::size_t announced) {
  one.wanted_ = announced > one.size_
                    ? std::min(announced, std::max(one.most_, one.size_ + piece))
                    : std::max(std::min(one.size_ * 2, one.most_), one.size_ + piece);
  one.held_ = false;
  const bool is_alone = !has_held();
  if ((is_alone || holds_most(one)) && grant(one)) return true;
  one.held_ = true;
  budget_.await_room();
  return false;
}

bool AnswerRoom::grant(Answer& one) {
  if (budget_.used() - one.share_.held() + one.wanted_ <= budget_.limit_of_large()) {
    one.grant(one.wanted_);
  } else if (holds_most(one) && (!budget_.over() || fills_buffers())) {
    one.grant(one.size_ + piece);
  } else {
    return false;
  }
  has_granted_ = true;
  return true;
}

std::vector<UpstreamId> AnswerRoom::admit() {
  std::vector<UpstreamId> admitted;
  for (;;) {
    Answer* first = nullptr;
    for (Answer* one : answers_) {
      if (one->held_ && !one->paused_ && (first == nullptr || one->size_ > first->size_))
        first = one;
    }
    if (first == nullptr) break;
    if (!grant(*first)) {
      if (extra_ == 0) {
        budget_.await_room();
        break;
      }
      const std::size_t more = std::min(extra_, first->wanted_ - first->size_);
      extra_ -= more;
      first->grant(first->size_ + more);
    }
    first->held_ = false;
    admitted.push_back(first->id_);
  }
  return admitted;
}

void AnswerRoom::note_time() {
  extra_ = std::exchange(has_granted_, false) ? 0 : budget_.limit() / 8;
  for (Answer* one : answers_) {
    const bool was_granted = std::exchange(one->fresh_, false);
    one->idle_ = !was_granted && !one->held_ && !one->paused_ &&
                 one->size_ < one->size_before_ + budget_.small();
    if (one->idle_ || one->paused_) one->take_grant_back();
    one->size_before_ = one->size_;
  }
}

std::optional<UpstreamId> AnswerRoom::most_useless() const {
  if (!budget_.over() || !fills_buffers()) return std::nullopt;
  const Answer* largest = nullptr;
  for (const Answer* one : answers_) {
    if (one->idle_ && (largest == nullptr || one->size_ > largest->size_)) largest = one;
  }
  return largest == nullptr ? std::nullopt : std::optional(largest->id_);
}

}  // namespace bridge
