#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace bridge {

/// Counts the bytes held in all queues and accumulating frames against --max-buffered.
/// Owned by the daemon; the loop's thread only.
///
/// It only counts. Over half of the limit, Unix clients of users that hold more than an equal part
/// of that half are not read, and their responses pause (UnreadShares). Over seven eighths, large
/// responses of an HTTP upstream wait for room (AnswerRoom). While it is over the
/// limit, in this order: nothing more is read from clients that hold more than a little
/// (Connection::may_read, HttpConnection, HttpFrontend for bodies); a stream that all of a server's
/// messages share pauses within a large one (ChildProcess, UpstreamGetStream, SseStream; far over
/// it, within any); far over it, the HTTP connection with most unread bytes ends
/// (HttpServer::end_largest_unread) and a client has one request in flight (ClientFrames); what is
/// kept for resumption goes (FrontendClients::drop_kept_events); a response that no longer grows
/// and fills the buffers ends after a second (ExchangeTable::note_buffers); after
/// --client-stall the largest Unix client that does not read (UnixClients::end_largest_stalled) and
/// the largest heap of messages of the HTTP frontend (FrontendClients::sweep) end, one after the
/// other.
class ByteBudget {
 public:
  explicit ByteBudget(std::size_t limit) : limit_(limit) {}

  /// `relieved` is called when the total falls to the limit again, from within the call that
  /// lowered it, so it may only take note. Permanent: what it refers to outlives the last holder.
  void on_relief(std::function<void()> relieved) { relieved_.push_back(std::move(relieved)); }

  /// `used_up` is called when the total rises over the limit, from within the call that raised it,
  /// so it may only take note. Set once.
  void on_used_up(std::function<void()> used_up) { used_up_ = std::move(used_up); }

  /// `released` is called once for any await_room(), when bytes are next released: from within the
  /// call that released them, so it may only take note. Permanent, as above.
  void on_release(std::function<void()> released) { released_.push_back(std::move(released)); }
  /// Something waits for room: all of on_release() are called when bytes are next
  /// released, be it in this round.
  void await_room() { room_awaited_ = true; }

  bool over() const { return used_ > limit_; }
  /// So far over the limit that even small things are refused.
  bool far_over() const { return used_ > limit_ + limit_ / 4; }
  std::size_t used() const { return used_; }
  std::size_t limit() const { return limit_; }
  /// Large things leave an eighth of the limit to small ones.
  std::size_t limit_of_large() const { return limit_ - limit_ / 8; }
  /// What is smaller is received whatever else is held: 256 such texts take a quarter of the limit
  /// at most.
  std::size_t small() const { return std::clamp<std::size_t>(limit_ / 1024, 4u << 10, 64u << 10); }
  /// Whether a text, of which so much has come, has to wait until there is room for more of it.
  bool is_too_full_for(std::size_t pending) const {
    return far_over() || (over() && pending >= small());
  }
  /// The highest total since take_peak(), including what was passed to note_freed().
  std::size_t peak() const { return peak_; }
  /// Returns the peak and restarts it at the present total.
  std::size_t take_peak() { return std::exchange(peak_, used_); }
  /// This many bytes, not counted here, were freed.
  void note_freed(std::size_t bytes) {
    peak_ = std::max(peak_, used_ + bytes);
    released_bytes_ += bytes;
  }
  /// What was released since take_released(): memory that the allocator may still have.
  std::size_t released() const { return released_bytes_; }
  void take_released() { released_bytes_ = 0; }

  /// One holder's part of the budget: sets how much it holds, and releases it on destruction.
  class Share {
   public:
    explicit Share(ByteBudget& budget) : budget_(&budget) {}
    ~Share() { set(0); }
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;

    void set(std::size_t bytes) {
      const bool was_over = budget_->over();
      const bool releases = bytes < held_;
      if (releases) budget_->released_bytes_ += held_ - bytes;
      budget_->used_ += bytes - held_;
      held_ = bytes;
      if (budget_->used_ > budget_->peak_) budget_->peak_ = budget_->used_;
      if (was_over && !budget_->over()) {
        for (const auto& relieved : budget_->relieved_) relieved();
      }
      if (!was_over && budget_->over() && budget_->used_up_) budget_->used_up_();
      if (releases && std::exchange(budget_->room_awaited_, false)) {
        for (const auto& released : budget_->released_) released();
      }
    }
    void add(std::size_t bytes) { set(held_ + bytes); }
    void remove(std::size_t bytes) { set(held_ - bytes); }
    std::size_t held() const { return held_; }

   private:
    ByteBudget* budget_;
    std::size_t held_ = 0;
  };

 private:
  std::size_t limit_;
  std::size_t used_ = 0;
  std::size_t peak_ = 0;
  std::size_t released_bytes_ = 0;
  bool room_awaited_ = false;
  std::vector<std::function<void()>> relieved_;
  std::vector<std::function<void()>> released_;
  std::function<void()> used_up_;
};

/// Bytes that went over the connections of one transport since the daemon's start.
struct ByteCounts {
  std::uint64_t received_bytes = 0;
  std::uint64_t sent_bytes = 0;
};

}  // namespace bridge
