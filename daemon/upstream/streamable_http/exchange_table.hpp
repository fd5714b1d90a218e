#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "base/spare_nodes.hpp"
#include "event/deadline_timer.hpp"
#include "upstream/streamable_http/exchange.hpp"

namespace bridge {

/// The exchanges under way, and what they must not exceed: each its time (README, "Deadlines"),
/// all together the buffers.
///
/// The loop's thread only; owned by HttpUpstream. Whose time is over, or who has to give way while
/// the buffers are full (--max-buffered), is made to end, and told to the ExchangeOwner like
/// everything else that happens to it, from the loop.
class ExchangeTable {
 public:
  ExchangeTable(HttpContext& context, ExchangeOwner& owner);

  bool empty() const { return exchanges_.empty(); }
  /// Whether one is neither answered nor a stream that stays open, nor goes along to another image
  /// of the program.
  bool has_unfinished(bool server_stream_resumes) const;
  Exchange* find(UpstreamId id) const;
  /// In the order in which they were begun.
  std::vector<UpstreamId> ids() const;

  void begin(Outgoing&& message);
  /// One that an earlier image of the program had begun.
  void go_on_with(KeptMessage message);
  /// Closes it. Not destroyed before the end of the turn.
  void remove(UpstreamId id);
  /// Its deadline may have come nearer.
  void watch(const Exchange& exchange);
  /// Something has happened to all of them.
  template <class Change>
  void change_all(Change&& change) {
    for (const auto& [id, exchange] : exchanges_) {
      change(*exchange);
      watch(*exchange);
    }
  }
  /// Something was accumulated, or given up: if the buffers are full, the largest answer that is
  /// accumulating ends, soon.
  void note_buffers();

 private:
  using Map = std::unordered_map<UpstreamId, std::unique_ptr<Exchange>>;

  void check_time();
  void end_largest_answer();

  HttpContext& context_;
  ExchangeOwner& owner_;
  Map exchanges_;
  SpareNodes<Map> spare_;
  DeadlineTimer clock_;        ///< of requests: far away, and seldom moved
  DeadlineTimer short_clock_;  ///< of what ends soon; cleared when nothing is under way
  DeadlineTimer relief_;       ///< when the buffers have been full for too long
};

}  // namespace bridge
