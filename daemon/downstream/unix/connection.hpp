#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/byte_budget.hpp"
#include "base/log.hpp"
#include "base/spare_memory.hpp"
#include "downstream/unix/outbox.hpp"
#include "downstream/unix/peer_credentials.hpp"
#include "event/descriptor_watch.hpp"
#include "event/event_loop.hpp"
#include "json/arriving_text.hpp"
#include "notifications/notification_feed.hpp"
#include "router/client_channel.hpp"

namespace bridge {

class Connection;

struct ClientLimits {
  std::size_t max_frame = 8u << 20;
  std::size_t buffer = 16u << 20;          ///< bytes queued before its answers are paused
  std::chrono::milliseconds stall{30000};  ///< without reading, when over the buffer
};

/// What all connections of a socket share. Outlives them.
struct ConnectionContext {
  EventLoop& loop;
  ClientIdSource& ids;
  NotificationFeed& feed;
  ByteBudget& budget;
  Log& log;
  ClientLimits limits;
  Deferred& flush;                       ///< what was queued is written then
  bool paused = false;                   ///< nothing is read of anybody
  std::vector<Connection*> dirty{};      ///< have something to write, or are over
  ReadBuffer<256u << 10> read_buffer{};  ///< one for all
  ClientCounts counts{};
};

/// One client of the Unix socket: bytes to lines, frames to bytes, and whether it has read them.
///
/// Owned by UnixClients; the loop's thread only. Its life: start() … until is_over(), when the
/// owner drops it. Between its answers and the ring the order of arrival is kept. Memory: the
/// outbox, with --client-buffer as the mark above which the router pauses its answers, and one line
/// of at most --max-frame.
class Connection final : public ClientChannel {
 public:
  enum class Phase {
    open,         ///< reading and writing
    half_closed,  ///< it sends nothing more
    finishing,    ///< the router is done with it; the rest is being written
    lingering,    ///< all is written and our side is shut down: has it read it?
    over,
  };
  friend constexpr Phase last_of(Phase) { return Phase::lingering; }  // what is over is not saved
  /// As it is between two turns, with the bytes that were read and not handled, and those that were
  /// not written yet. The descriptor stays whose it is.
  struct Saved {
    int descriptor = -1;
    ClientIdentity identity;
    Phase phase = Phase::open;
    RingFeed feed = RingFeed::takes;
    bool feed_begun = false;
    bool input_paused = false;
    bool reset = false;
    LineSplitter::Rest input;
    Outbox::State outbox;

    template <class A>
    void each_field(A& archive) {
      archive(descriptor, identity, phase, feed, feed_begun, input_paused, reset, input, outbox);
    }
    /// Whether the router still knew the client.
    bool is_known() const { return phase <= Phase::half_closed; }
  };

  /// Takes ownership of `descriptor`, which must be non-blocking.
  Connection(ConnectionContext& context, ClientEvents& events, int descriptor,
             ClientIdentity identity);

  /// All of it but for what the router knows.
  Saved save() const;
  /// Instead of start(). REQUIRES: the ring was restored, and the router knows the client, if it
  /// did.
  void restore(Saved saved);

  /// Announces the client and reads what is already there. It is fed from its first frame on, or
  /// soon if it sends none.
  void start();
  /// Writes what is ready, as far as the socket takes it.
  void flush();
  /// Asks the kernel whether the client has read all that was written.
  void acknowledge_read();
  /// Reads again if the budget had stopped it.
  void resume_reading();
  /// Asks for a flush() at the end of this round.
  void mark();
  /// Ends it now, without another word to the router.
  void abandon();

  /// Since when it has left bytes unread; nothing if none are queued.
  std::optional<SteadyTime> unread_since() const;
  /// Ends it because it does not read.
  void give_up();

  bool is_over() const { return phase_ == Phase::over; }

  void send(std::string frame) override;
  void send_entry(std::string_view request_id, std::string frame, Sequence entry) override;
  void send_ahead(std::string frame) override;
  bool survives_upgrade(std::string_view) const override { return true; }
  bool pause_input() override;
  void release_input() override;
  void set_feed(RingFeed feed) override;
  void show_only(std::shared_ptr<const RingFilter> filter) override {
    outbox_.show_only(std::move(filter));
  }
  void give_back_feed() override;
  void finish() override;
  std::size_t queued_bytes() const override { return outbox_.bytes(); }
  bool congested() const override { return congested_; }
  const ClientIdentity& identity() const override { return identity_; }
  std::string command() const override { return command_of(identity_.pid); }

  // For LineSplitter.
  void on_line(ReceivedText line);
  void on_oversized_line();

 private:
  void queue(std::string frame, Sequence entry);
  void begin_feed();
  void on_ready(DescriptorWatch::Event event);
  void read_ready();
  void end_of_input();
  void hung_up();
  void leave(bool has_read_all);
  void linger();
  void wait_for_input();
  bool may_read() const;
  void update_load();
  bool widen_socket();
  void report_lost();
  void look_whether_read();
  bool peer_has_read_all();
  bool peer_hung_up() const;

  ConnectionContext& context_;
  ClientEvents& events_;
  ClientIdentity identity_;
  DescriptorWatch watch_;
  LineSplitter splitter_;
  Outbox outbox_;
  ByteBudget::Share share_;
  DeadlineTimer stall_;        ///< it reads nothing; while lingering, when to look again
  DeadlineTimer first_frame_;  ///< until its first frame it is not known whether it is to be fed
  std::chrono::milliseconds linger_step_{1};
  SteadyTime last_progress_{};  ///< the last time bytes left, or began to wait
  Phase phase_ = Phase::open;
  RingFeed feed_ = RingFeed::takes;
  bool feed_begun_ = false;  ///< what it is fed does not wait for its first frame any more
  bool congested_ = false;
  bool input_paused_ = false;  ///< by the router
  bool marked_ = false;
  bool blocked_ = false;  ///< the socket takes no more for now
  bool is_wide_ = false;  ///< the socket was made to hold more
  bool reset_ = false;    ///< it closed with unread data; the kernel says so only once
};

}  // namespace bridge
