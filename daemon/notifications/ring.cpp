#include "notifications/ring.hpp"

#include <algorithm>
#include <utility>

#include "base/clock.hpp"
#include "base/spare_memory.hpp"

namespace bridge {
namespace {

/// The reader number for entries taken otherwise.
constexpr std::uint64_t no_reader = ~std::uint64_t{0};

Sequence after(Sequence sequence) { return static_cast<Sequence>(value_of(sequence) + 1); }

}  // namespace

std::size_t Ring::lower_bound(std::uint64_t sequence) const {
  const auto found = std::lower_bound(entries_.begin(), entries_.end(), sequence,
                                      [](const RingEntry& entry, std::uint64_t wanted) {
                                        return value_of(entry.sequence) < wanted;
                                      });
  return static_cast<std::size_t>(found - entries_.begin());
}

bool Ring::about_to_drop(std::size_t message_bytes, WallTime now) const {
  std::size_t entries = entries_.size();
  std::size_t bytes = bytes_ + message_bytes + 1;
  if (message_bytes >= limits_.bytes) return false;
  for (const RingEntry& entry : entries_) {
    const bool aged = limits_.ttl && entry.time + *limits_.ttl <= now;
    if (!aged && entries < limits_.entries && bytes <= limits_.bytes) return false;
    if (!entry.taken()) return true;
    --entries;
    bytes -= entry.line.size();
  }
  return false;
}

bool Ring::push(std::string message, std::string_view method, std::string coalesce_key,
                WallTime now) {
  const auto& excluded = limits_.excluded_methods;
  if (std::find(excluded.begin(), excluded.end(), method) != excluded.end()) return false;
  expire(now);
  message.push_back('\n');
  if (message.size() > limits_.bytes) {
    ++dropped_;
    tell_dropped();
    return false;
  }
  if (limits_.coalesce && !coalesce_key.empty()) coalesce(coalesce_key);
  make_room(1, message.size());
  RingEntry entry;
  entry.sequence = static_cast<Sequence>(++last_);
  entry.time = now;
  entry.line = std::move(message);
  drop_spare_room(entry.line);
  if (limits_.coalesce) entry.coalesce_key = std::move(coalesce_key);
  add(std::move(entry));
  if (observer_) observer_(RingChange::pushed, entries_.back());
  return true;
}

void Ring::add(RingEntry entry) {
  if (!entry.coalesce_key.empty()) newest_of_key_[entry.coalesce_key] = entry.sequence;
  bytes_ += entry.line.size();
  if (!entry.taken()) ++untaken_;
  entries_.push_back(std::move(entry));
}

/// Makes room for this many more.
void Ring::make_room(std::size_t entries, std::size_t bytes) {
  while (!entries_.empty() &&
         (entries_.size() + entries > limits_.entries || bytes_ + bytes > limits_.bytes)) {
    pop_front();
  }
  tell_dropped();
}

void Ring::restore(Saved saved, WallTime now) {
  last_ = saved.counts.newest;
  dropped_ = told_ = saved.counts.dropped;
  taken_ = saved.counts.taken;
  coalesced_ = saved.counts.coalesced;
  for (RingEntry& entry : saved.entries) {
    if (entry.taken()) entry.taken_by = no_reader;
    last_ = std::max(last_, value_of(entry.sequence));
    if (!limits_.coalesce) entry.coalesce_key.clear();
    add(std::move(entry));
  }
  make_room(0, 0);
  expire(now);
}

void Ring::coalesce(const std::string& key) {
  const auto known = newest_of_key_.find(key);
  if (known == newest_of_key_.end()) return;
  const std::size_t at = lower_bound(value_of(known->second));
  newest_of_key_.erase(known);
  if (at == entries_.size() || entries_[at].coalesce_key != key || entries_[at].taken()) return;
  bytes_ -= entries_[at].line.size();
  --untaken_;
  ++coalesced_;
  if (observer_) observer_(RingChange::superseded, entries_[at]);
  entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(at));
}

void Ring::pop_front() {
  RingEntry& oldest = entries_.front();
  if (!oldest.taken()) {
    --untaken_;
    ++dropped_;
  }
  if (!oldest.coalesce_key.empty()) {
    const auto known = newest_of_key_.find(oldest.coalesce_key);
    if (known != newest_of_key_.end() && known->second == oldest.sequence)
      newest_of_key_.erase(known);
  }
  bytes_ -= oldest.line.size();
  pushed_out_.add(oldest.sequence);
  entries_.pop_front();
}

void Ring::expire(WallTime now) {
  if (!limits_.ttl) return;
  while (!entries_.empty() && entries_.front().time + *limits_.ttl <= now) pop_front();
  tell_dropped();
}

void Ring::tell_dropped() {
  if (std::exchange(told_, dropped_) != dropped_ && on_dropped_) on_dropped_(dropped_);
}

RingReader Ring::join(WallTime now) {
  expire(now);
  RingReader reader;
  reader.number = ++readers_;
  reader.joined = after(newest());
  reader.next = reader.acknowledged = reader.first = oldest();
  return reader;
}

const RingEntry* Ring::next_for(RingReader& reader, Sequence until, std::uint64_t& lost) const {
  if (reader.next > until) return nullptr;
  if (reader.next < oldest()) {
    // Entries pushed out before it joined are not lost to it.
    lost += pushed_out_.count_from(std::max(reader.next, reader.joined));
    reader.next = oldest();
  }
  for (std::size_t at = lower_bound(value_of(reader.next)); at != entries_.size(); ++at) {
    const RingEntry& entry = entries_[at];
    if (entry.sequence > until) break;
    reader.next = entry.sequence;
    if (entry.taken() && entry.sequence < reader.joined) continue;
    if (reader.filter == nullptr || (*reader.filter)(entry)) return &entry;
  }
  reader.next = std::max(reader.next, after(until));
  return nullptr;
}

void Ring::advance(RingReader& reader, const RingEntry& entry) {
  reader.next = after(entry.sequence);
}

void Ring::mark_taken(RingEntry& entry, std::uint64_t reader) {
  if (entry.taken()) return;
  entry.taken_by = reader;
  --untaken_;
  ++taken_;
  if (observer_) observer_(RingChange::taken, entry);
}

void Ring::take(const RingReader& reader) {
  for (std::size_t at = lower_bound(value_of(reader.first)); at != entries_.size(); ++at) {
    RingEntry& entry = entries_[at];
    if (entry.sequence >= reader.acknowledged) return;
    if (!entry.taken() && (reader.filter == nullptr || (*reader.filter)(entry)))
      mark_taken(entry, reader.number);
  }
}

void Ring::take(Sequence sequence) {
  const std::size_t at = lower_bound(value_of(sequence));
  if (at == entries_.size() || entries_[at].sequence != sequence) return;
  mark_taken(entries_[at], no_reader);
  entries_[at].taken_by = no_reader;
}

const RingEntry* Ring::find(Sequence sequence) const {
  const std::size_t at = lower_bound(value_of(sequence));
  return at != entries_.size() && entries_[at].sequence == sequence ? &entries_[at] : nullptr;
}

void Ring::give_back(const RingReader& reader) {
  for (std::size_t at = lower_bound(value_of(reader.first)); at != entries_.size(); ++at) {
    RingEntry& entry = entries_[at];
    if (entry.sequence >= reader.acknowledged) return;
    if (entry.taken_by != reader.number) continue;
    entry.taken_by = 0;
    ++untaken_;
    --taken_;
    if (observer_) observer_(RingChange::given_back, entry);
  }
}

}  // namespace bridge
