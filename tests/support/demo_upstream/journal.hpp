#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <utility>
#include <vector>

namespace demo {

/// A bounded record of what was received, which others can wait for. Thread-safe. `Entry` has
/// `std::uint64_t n` (set here, from 1) and `std::size_t size() const`.
template <typename Entry>
class Journal {
 public:
  static constexpr std::size_t kMaxEntries = 100'000;
  static constexpr std::size_t kMaxBytes = 256U << 20U;

  void add(Entry entry) {
    const std::lock_guard lock(mutex_);
    entry.n = ++last_;
    bytes_ += entry.size();
    entries_.push_back(std::move(entry));
    while (entries_.size() > kMaxEntries || (bytes_ > kMaxBytes && entries_.size() > 1)) {
      bytes_ -= entries_.front().size();
      entries_.pop_front();
    }
    if (waiting_ > 0) added_.notify_all();
  }

  /// The entries that `selected` accepts, as soon as there are `count`; `first` is false after a
  /// timeout.
  template <typename Selected>
  std::pair<bool, std::vector<Entry>> wait(std::size_t count, std::chrono::milliseconds limit,
                                           Selected selected) {
    std::unique_lock lock(mutex_);
    // Examines each entry once, however long it waits.
    std::uint64_t seen = 0;
    std::size_t found = 0;
    ++waiting_;
    const bool enough = added_.wait_for(lock, limit, [&] {
      const auto oldest = last_ - entries_.size();
      for (auto at = seen > oldest ? seen - oldest : 0; at < entries_.size(); ++at) {
        if (selected(entries_[at])) ++found;
      }
      seen = last_;
      return found >= count;
    });
    --waiting_;
    std::vector<Entry> copies;
    for (const auto& entry : entries_) {
      if (selected(entry)) copies.push_back(entry);
    }
    return {enough, std::move(copies)};
  }

  void clear() {
    const std::lock_guard lock(mutex_);
    entries_.clear();
    bytes_ = 0;
  }

  std::size_t size() {
    const std::lock_guard lock(mutex_);
    return entries_.size();
  }

 private:
  std::mutex mutex_;
  std::condition_variable added_;
  std::deque<Entry> entries_;
  std::size_t bytes_ = 0;
  std::uint64_t last_ = 0;
  std::size_t waiting_ = 0;
};

}  // namespace demo
