#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <map>
#include <string>
#include <utility>

#include "base/ids.hpp"

namespace bridge {

/// Tells news from repetitions while several streams tell the same: each begins at another time,
/// and what comes on two of them comes on the one or on the other first.
///
/// The n-th equal text on one stream is the n-th on the other, counted from what was known when
/// that one was asked for. Pure. Bounded by max_texts; beyond it everything is news for once.
class StreamOverlap {
 public:
  static constexpr std::size_t max_texts = 1000;

  /// The stream is asked for: from now on, it may tell what others tell.
  void begin(UpstreamId stream) { told_by_[stream] = told_; }
  /// No other stream tells what these tell, any more.
  void keep_only(std::initializer_list<UpstreamId> streams) {
    std::erase_if(told_by_, [&](const auto& one) {
      return std::find(streams.begin(), streams.end(), one.first) == streams.end();
    });
    if (!has_several()) forget();
  }

  /// The stream is acknowledged: what is told from now on, it tells.
  void acknowledged() { told_before_ = told_; }
  /// What was told before that, and it has not told by now, does not come on it: what comes yet is
  /// what others have told since.
  void settle(UpstreamId stream) {
    Counts& counts = told_by_[stream];
    for (const auto& [text, count] : std::exchange(told_before_, {}))
      counts[text] = std::max(counts[text], count);
  }
  bool has_several() const { return told_by_.size() > 1; }

  bool is_news(UpstreamId stream, const std::string& text) {
    if (!has_several()) return true;
    if (told_.size() >= max_texts && !told_.contains(text)) forget();
    const std::size_t count = ++told_by_[stream][text];
    std::size_t& told = told_[text];
    if (count <= told) return false;
    told = count;
    return true;
  }

 private:
  using Counts = std::map<std::string, std::size_t>;

  void forget() {
    told_.clear();
    told_before_.clear();
    for (auto& [stream, counts] : told_by_) counts.clear();
  }

  Counts told_;                           ///< how often each text was news
  Counts told_before_;                    ///< the newest stream was acknowledged
  std::map<UpstreamId, Counts> told_by_;  ///< how often it was told by that stream, or before it
};

}  // namespace bridge
