#pragma once

#include <vector>

#include "base/ids.hpp"

namespace bridge {

/// The requests that one line from the upstream has answered: none, one, or several if the line is
/// a batch. Pure.
class AnsweredRequests {
 public:
  AnsweredRequests() = default;
  explicit AnsweredRequests(UpstreamId id) : first_(id) {}

  void add(UpstreamId id) {
    if (first_ == UpstreamId{}) {
      first_ = id;
    } else if (id != UpstreamId{}) {
      others_.push_back(id);
    }
  }

  /// In the order in which they were answered.
  template <class Visit>
  void each(Visit&& visit) const {
    if (first_ == UpstreamId{}) return;
    visit(first_);
    for (const UpstreamId id : others_) visit(id);
  }

 private:
  UpstreamId first_{};
  std::vector<UpstreamId> others_;
};

}  // namespace bridge
