#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <map>
#include <string>
#include <utility>

namespace bridge {

/// Removes duplicates while several streams deliver the same notifications: each stream begins at
/// another time, and either may deliver first.
///
/// The n-th equal text on one stream is the n-th on another, counted from when that stream was
/// requested. Pure. `Stream` names a stream. Bounds: max_texts; beyond it everything counts as new
/// once.
template <class Stream>
class StreamOverlap {
 public:
  static constexpr std::size_t max_texts = 1000;

  /// The stream is requested: from now on it may repeat what others deliver.
  void begin(Stream stream) { told_by_[stream] = told_; }
  /// Only these streams still deliver.
  void keep_only(std::initializer_list<Stream> streams) {
    std::erase_if(told_by_, [&](const auto& one) {
      return std::find(streams.begin(), streams.end(), one.first) == streams.end();
    });
    if (!has_several()) forget();
  }

  /// The stream is acknowledged: it delivers everything from now on.
  void acknowledged() {
    reported_before_ = told_;
    repeats_ = false;
  }
  /// Whether a text has come on two streams since then: an older stream is at what the newer one
  /// delivers, too.
  bool repeats() const { return repeats_; }
  /// Texts from before the acknowledgement that the stream has not delivered by now will not come
  /// on it.
  void settle(Stream stream) {
    Counts& counts = told_by_[stream];
    for (const auto& [text, count] : std::exchange(reported_before_, {}))
      counts[text] = std::max(counts[text], count);
  }
  bool has_several() const { return told_by_.size() > 1; }

  bool is_news(Stream stream, const std::string& text) {
    if (!has_several()) return true;
    if (told_.size() >= max_texts && !told_.contains(text)) forget();
    const std::size_t count = ++told_by_[stream][text];
    std::size_t& told = told_[text];
    if (count <= told) {
      repeats_ = true;
      return false;
    }
    told = count;
    return true;
  }

 private:
  using Counts = std::map<std::string, std::size_t>;

  void forget() {
    told_.clear();
    reported_before_.clear();
    for (auto& [stream, counts] : told_by_) counts.clear();
  }

  Counts told_;  ///< how often each text was new
  bool repeats_ = false;
  Counts reported_before_;            ///< the same, when the newest stream was acknowledged
  std::map<Stream, Counts> told_by_;  ///< how often it was delivered by then or on that stream
};

}  // namespace bridge
