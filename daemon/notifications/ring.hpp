#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/clock.hpp"
#include "base/ids.hpp"

namespace bridge {

struct RingEntry;

/// Counts the entries pushed out at the ring's old end, for slow readers. Coalesced entries were
/// not pushed out and leave holes. Pure.
///
/// Bounds: the newest max_runs runs between holes; for a reader further behind the count is too
/// low.
class PushedOut {
 public:
  static constexpr std::size_t max_runs = 1000;

  /// REQUIRES: `sequence` is higher than all before.
  void add(Sequence sequence) {
    const std::uint64_t number = value_of(sequence);
    if (runs_.empty() || runs_.back().end != number) {
      if (runs_.size() == max_runs) runs_.pop_front();
      runs_.push_back({number, number, count_});
    }
    ++runs_.back().end;
    ++count_;
  }

  /// The number pushed out from this one on.
  std::uint64_t count_from(Sequence sequence) const {
    const std::uint64_t number = value_of(sequence);
    const auto run = std::partition_point(runs_.begin(), runs_.end(),
                                          [number](const Run& one) { return one.end <= number; });
    if (run == runs_.end()) return 0;
    return count_ - run->before - (std::max(number, run->begin) - run->begin);
  }

 private:
  struct Run {
    std::uint64_t begin;
    std::uint64_t end;     ///< one past its last
    std::uint64_t before;  ///< number pushed out before it
  };

  std::deque<Run> runs_;
  std::uint64_t count_ = 0;
};

/// How an entry of the ring has changed. Entries pushed out at the old end are not reported.
enum class RingChange : std::uint8_t {
  pushed,
  taken,
  given_back,  ///< one that was taken counts as not taken again
  superseded,  ///< by a newer one with the same key
};
/// Called from within the ring's calls; must not change the ring.
using RingObserver = std::function<void(RingChange change, const RingEntry& entry)>;

/// The counters of a ring, and the number of its newest entry.
struct RingCounts {
  std::uint64_t newest = 0;
  std::uint64_t dropped = 0;
  std::uint64_t taken = 0;
  std::uint64_t coalesced = 0;

  bool operator==(const RingCounts&) const = default;

  template <class A>
  void each_field(A& archive) {
    archive(newest, dropped, taken, coalesced);
  }
};

struct RingLimits {
  std::size_t entries = 1000;
  std::size_t bytes = 16u << 20;                 ///< of all notifications held
  std::optional<std::chrono::milliseconds> ttl;  ///< none: they do not age
  std::vector<std::string> excluded_methods;
  bool coalesce = false;
};

/// One session notification.
struct RingEntry {
  Sequence sequence{};
  WallTime time;
  std::string line;  ///< as sent to a client, with the `\n`
  std::string coalesce_key;
  std::uint64_t taken_by = 0;  ///< RingReader::number; 0: not taken

  bool taken() const { return taken_by != 0; }

  template <class A>
  void each_field(A& archive) {
    archive(sequence, time, line, coalesce_key, taken_by);
  }
};

/// Whether a reader gets the entry; the others are neither given to it nor taken by it. Pure.
using RingFilter = std::function<bool(const RingEntry& entry)>;

/// A client's position in the ring. Owned by the client's connection; the ring does not know its
/// readers.
struct RingReader {
  std::uint64_t number = 0;            ///< identifies the reader, from 1
  Sequence joined{};                   ///< older entries are for it only if not taken
  Sequence next{};                     ///< the next one to write
  Sequence acknowledged{};             ///< the client has read everything before this
  Sequence first{};                    ///< its first entry
  const RingFilter* filter = nullptr;  ///< null: all entries

  template <class A>
  void each_field(A& archive) {
    archive(archive.not_saved(number), joined, next, acknowledged, first,
            archive.not_saved(filter));
  }
};

/// The store of session notifications (BEHAVIOUR, "Ring"). Pure: no sockets, time is passed in; the
/// loop's thread only.
///
/// Bounds: entries and bytes; the oldest is pushed out first, taken or not, and counts as dropped
/// if it was not taken. Sequence numbers only grow. Expired entries are removed by push(), join()
/// and expire().
class Ring {
 public:
  explicit Ring(RingLimits limits) : limits_(std::move(limits)) {}

  /// `told` is called with dropped() when entries were dropped; it must not change the ring.
  void on_dropped(std::function<void(std::uint64_t)> told) { on_dropped_ = std::move(told); }

  /// The entries, oldest first, and the counters.
  struct Saved {
    std::vector<RingEntry> entries;
    RingCounts counts;

    template <class A>
    void each_field(A& archive) {
      archive(entries, counts);
    }
  };
  Saved save() const { return {{entries_.begin(), entries_.end()}, counts()}; }
  /// Continues another ring; excess entries are dropped as usual. REQUIRES: this ring is new.
  void restore(Saved saved, WallTime now);
  /// Reports every change from now on; null: no longer.
  void set_observer(RingObserver observer) { observer_ = std::move(observer); }

  /// Adds a notification (one line, without `\n`). False if it is excluded or larger than the ring.
  /// It replaces an older one with the same `coalesce_key`; empty: none.
  bool push(std::string message, std::string_view method, std::string coalesce_key, WallTime now);

  /// Whether a push of this size may drop an entry that was not taken, for room or by age: then ask
  /// the readers first what clients have read.
  bool about_to_drop(std::size_t message_bytes, WallTime now) const;

  /// A new reader, beginning with all entries that were not taken.
  RingReader join(WallTime now);
  /// A reader of the restored ring continues at its position.
  RingReader rejoin(RingReader reader) {
    reader.number = ++readers_;
    return reader;
  }

  /// The next entry for this reader, up to `until`; null if none. Skips entries that are not for
  /// it. `lost` grows by the number of entries pushed out before it read them. Valid until the next
  /// change of the ring.
  const RingEntry* next_for(RingReader& reader, Sequence until, std::uint64_t& lost) const;

  /// The entry of next_for was written completely.
  static void advance(RingReader& reader, const RingEntry& entry);

  /// Marks the entries that the reader has read as taken.
  void take(const RingReader& reader);
  /// The reader declined its entries: they count as not taken.
  void give_back(const RingReader& reader);
  /// Marks one entry as taken by a client that is not a reader of the ring. A reader that has read
  /// it can no longer give it back.
  void take(Sequence sequence);
  /// Null if it is not in the ring. Valid until the next change of the ring.
  const RingEntry* find(Sequence sequence) const;

  /// The entries after `since`, oldest first, for reading without taking. `visit(entry)` returns
  /// false to stop.
  template <class Visit>
  void each_after(Sequence since, Visit&& visit) const {
    for (auto at = lower_bound(value_of(since) + 1); at != entries_.size(); ++at) {
      if (!visit(entries_[at])) return;
    }
  }

  void expire(WallTime now);

  Sequence newest() const { return static_cast<Sequence>(last_); }
  /// The oldest entry; newest()+1 if the ring is empty.
  Sequence oldest() const {
    return entries_.empty() ? static_cast<Sequence>(last_ + 1) : entries_.front().sequence;
  }
  std::size_t size() const { return entries_.size(); }
  std::size_t bytes() const { return bytes_; }
  std::size_t untaken() const { return untaken_; }
  std::uint64_t dropped() const { return dropped_; }
  /// The number of entries that clients have read.
  std::uint64_t taken() const { return taken_; }
  std::uint64_t coalesced() const { return coalesced_; }
  RingCounts counts() const { return {last_, dropped_, taken_, coalesced_}; }
  const RingLimits& limits() const { return limits_; }

 private:
  std::size_t lower_bound(std::uint64_t sequence) const;
  void make_room(std::size_t entries, std::size_t bytes);
  void pop_front();
  void tell_dropped();
  void add(RingEntry entry);
  void coalesce(const std::string& key);
  void mark_taken(RingEntry& entry, std::uint64_t reader);

  RingLimits limits_;
  RingObserver observer_;
  std::deque<RingEntry> entries_;
  std::unordered_map<std::string, Sequence> newest_of_key_;  ///< only with coalesce
  PushedOut pushed_out_;
  std::size_t bytes_ = 0;
  std::size_t untaken_ = 0;
  std::uint64_t last_ = 0;
  std::uint64_t readers_ = 0;  ///< number of readers so far
  std::uint64_t dropped_ = 0;
  std::uint64_t told_ = 0;
  std::function<void(std::uint64_t)> on_dropped_;
  std::uint64_t taken_ = 0;
  std::uint64_t coalesced_ = 0;
};

}  // namespace bridge
