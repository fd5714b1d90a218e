#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "jobs/job.hpp"

namespace bridge {

/// What the key of a forgotten job leaves behind, so that the job is not begun a second time.
struct UsedKey {
  std::string key;
  std::uint64_t digest = 0;  ///< of method and params
  std::string job;           ///< its id
  JobState state = JobState::completed;
  SteadyTime until{};
  std::uint64_t number = 0;  ///< in the order in which they were added; UsedKeys gives it

  template <class A>
  void each_field(A& archive) {
    archive(key, digest, job, state, until, archive.not_saved(number));
  }
};

/// Those of one user. Pure. Bounded by max_keys and max_bytes: the oldest go first, counted.
class UsedKeys {
 public:
  static constexpr std::size_t max_keys = 10'000;
  static constexpr std::size_t max_bytes = 4u << 20;

  /// REQUIRES: not one of them; `until` is not before that of the one added last.
  void add(UsedKey key) {
    bytes_ += charge_of(key);
    key.number = ++last_number_;
    keys_.push_back(std::move(key));
    const auto added = std::prev(keys_.end());
    by_key_.emplace(added->key, added);
    while (keys_.size() > max_keys || bytes_ > max_bytes) {
      drop_oldest();
      ++pushed_out_;
    }
  }
  /// Null: none, or it is over.
  const UsedKey* find(std::string_view key) const {
    const auto found = by_key_.find(key);
    return found == by_key_.end() ? nullptr : &*found->second;
  }
  void expire(SteadyTime now) {
    while (!keys_.empty() && keys_.front().until <= now) drop_oldest();
  }

  bool empty() const { return keys_.empty(); }
  std::size_t size() const { return keys_.size(); }
  /// Of keys and jobs' ids.
  std::size_t text_bytes() const { return bytes_ - keys_.size() * overhead; }
  std::uint64_t pushed_out() const { return pushed_out_; }
  auto begin() const { return keys_.begin(); }
  auto end() const { return keys_.end(); }

 private:
  static constexpr std::size_t overhead = 168;  // of a node of the list, and one of the index
  using List = std::list<UsedKey>;

  static std::size_t charge_of(const UsedKey& key) {
    return key.key.size() + key.job.size() + overhead;
  }
  void drop_oldest() {
    bytes_ -= charge_of(keys_.front());
    by_key_.erase(keys_.front().key);
    keys_.pop_front();
  }

  List keys_;  ///< in the order in which they end
  std::map<std::string_view, List::iterator> by_key_;
  std::size_t bytes_ = 0;
  std::uint64_t pushed_out_ = 0;
  std::uint64_t last_number_ = 0;
};

}  // namespace bridge
