#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/byte_budget.hpp"
#include "base/log.hpp"
#include "base/spare_memory.hpp"
#include "downstream/unix/client_socket.hpp"
#include "downstream/unix/outbox.hpp"
#include "downstream/unix/unread_shares.hpp"
#include "event/event_loop.hpp"
#include "json/arriving_text.hpp"
#include "notifications/notification_feed.hpp"
#include "router/client_channel.hpp"
#include "sockets/peer_credentials.hpp"

namespace bridge {

class Connection;

struct ClientLimits {
  std::size_t max_frame = 8u << 20;
  std::size_t buffer = 16u << 20;          ///< bytes queued before its responses are paused
  std::chrono::milliseconds stall{30000};  ///< without reading, when over the buffer
};

/// Shared by all connections of a socket. Outlives them.
struct ConnectionContext {
  EventLoop& loop;
  ClientIdSource& ids;
  NotificationFeed& feed;
  ByteBudget& budget;
  Log& log;
  ClientLimits limits;
  Deferred& flush;                       ///< writes what was queued
  bool paused = false;                   ///< no client is read
  std::vector<Connection*> dirty{};      ///< those with something to write, or that have ended
  ReadBuffer<256u << 10> read_buffer{};  ///< shared by all
  ClientCounts counts{};
  /// Half of --max-buffered is for what clients do not read, so that a part is left to the others.
  UnreadShares shares{budget.limit() / 2, 64u << 10};
  bool is_tight = false;   ///< the shares hold: much of --max-buffered is used
  bool held_back = false;  ///< some clients are not read until there is room
};

/// Whether a client is fed from the ring, and takes what it reads. Feeding begins with the client's
/// first frame, which may say that it must not be fed, or when that is overdue.
///
/// Owned by its Connection; the loop's thread only.
class ClientFeed {
 public:
  /// `overdue`: the first frame is.
  ClientFeed(ConnectionContext& context, Outbox& outbox, std::function<void()> overdue);

  RingFeed kind() const { return kind_; }
  bool has_begun() const { return has_begun_; }
  void restore(RingFeed kind, bool has_begun);
  /// Entries from now on are for the client.
  void await_first_frame();
  /// Returns whether there may be something to write.
  bool begin();
  bool set(RingFeed kind);
  void give_back();
  /// The client has read all that was written.
  void acknowledge();
  /// The client has left.
  void end(bool has_read_all);

 private:
  void join() { outbox_.join(context_.loop.wall_time()); }
  void take() {
    if (kind_ == RingFeed::takes) context_.feed.ring().take(outbox_.reader());
  }

  ConnectionContext& context_;
  Outbox& outbox_;
  RingFeed kind_ = RingFeed::takes;
  bool has_begun_ = false;
  DeadlineTimer first_frame_;
};

/// One client of the Unix socket, or of two pipes: reads lines, writes frames, checks what the
/// client has read.
///
/// Owned by UnixClients; the loop's thread only. Used from start() until is_over(), when the owner
/// drops it. Responses and ring entries keep their order of arrival. Memory: the outbox, with
/// --client-buffer as the mark above which the router pauses its responses, and one line of at most
/// --max-frame.
class Connection final : public ClientChannel {
 public:
  enum class Phase {
    open,         ///< reading and writing
    half_closed,  ///< the client sends nothing more
    finishing,    ///< the router has finished it; the rest is being written
    lingering,    ///< all is written and our side is shut down; has the client read it?
    over,
  };
  friend constexpr Phase last_of(Phase) { return Phase::lingering; }  // an ended one is not saved
  /// Its state between two turns, with bytes that were read and not handled, and bytes that were
  /// not written yet. It does not own the descriptor.
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
    int out = -1;  ///< of pipes

    ClientEnds ends() const { return {descriptor, out}; }

    template <class A>
    void each_field(A& archive) {
      archive(descriptor, identity, phase, feed, feed_begun, input_paused, reset, input, outbox,
              out);
    }
    /// Whether the router still knew the client.
    bool is_known() const { return phase <= Phase::half_closed; }
  };

  /// Takes ownership of the descriptors, which must be non-blocking.
  Connection(ConnectionContext& context, ClientEvents& events, ClientEnds ends,
             ClientIdentity identity);

  /// Its state, except for what the router knows.
  Saved save() const;
  /// Instead of start(). REQUIRES: the ring was restored; the router knows the client if
  /// is_known().
  void restore(Saved saved);

  /// Announces the client and reads what is already there. It is fed after its first frame, or
  /// after a short wait.
  void start();
  /// Writes what is ready, as much as the socket takes.
  void flush();
  /// Asks the kernel whether the client has read all that was written.
  void acknowledge_read();
  /// Reads again if nothing holds it back any longer.
  void resume_reading();
  /// ConnectionContext::is_tight has changed.
  void limit_changed();
  /// Requests a flush() at the end of this round.
  void mark();
  /// Ends the connection now, without telling the router.
  void abandon();

  /// Since when the client has left bytes unread, or has sent nothing more of a large message that
  /// was begun; nullopt: there are none.
  std::optional<SteadyTime> unread_since() const;
  /// What it takes in memory: unread, and of a message that is not complete.
  std::size_t held() const { return share_.held(); }
  /// Ends the connection because the client does not read, or sends no more of a message.
  void give_up();

  bool is_over() const { return phase_ == Phase::over; }

  void send(Delivery delivery) override;
  ChannelReach reach(std::string_view) const override { return {true, true}; }
  bool pause_input(bool paused) override;
  void set_feed(RingFeed feed) override;
  void show_only(std::shared_ptr<const RingFilter> filter) override {
    outbox_.show_only(std::move(filter));
  }
  void give_back_feed() override { feed_.give_back(); }
  void note_lost(std::uint64_t entries) override;
  void finish() override;
  bool congested() const override { return congested_; }
  ChannelState state() const override { return {outbox_.bytes()}; }
  const ClientIdentity& identity() const override { return identity_; }
  std::string command() const override { return command_of(identity_.pid); }

 private:
  void begin_feed();
  void on_ready(DescriptorWatch::Event event);
  void read_ready();
  void lines_received(std::string_view chunk);
  void end_of_input();
  void hung_up();
  void leave(bool has_read_all);
  void linger();
  void wait_for_input();
  bool may_read() const;
  bool has_room() const;
  void update_load();
  void look_whether_read();

  ConnectionContext& context_;
  ClientEvents& events_;
  ClientIdentity identity_;
  ClientSocket socket_;
  LineSplitter splitter_;
  Outbox outbox_;
  ClientFeed feed_;
  ByteBudget::Share share_;
  UnreadShares::Holder unread_;
  DeadlineTimer stall_;  ///< the client reads nothing; while lingering, the next check
  std::chrono::milliseconds linger_step_{1};
  SteadyTime last_progress_{};  ///< the last time bytes left, or began to wait
  Phase phase_ = Phase::open;
  bool input_paused_ = false;
  bool congested_ = false;
  bool marked_ = false;  ///< in the context's list
};

}  // namespace bridge
