#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/byte_budget.hpp"
#include "base/message_tap.hpp"
#include "event/event_loop.hpp"
#include "json/frame.hpp"
#include "mcp/handshake.hpp"
#include "policy/policy.hpp"
#include "router/asked_for.hpp"
#include "router/client_channel.hpp"

namespace bridge {

/// A frame of a client that has not been started upstream.
struct WaitingFrame {
  Frame frame;
  SteadyTime since;
};

/// What waits of one client, in the order it came. Pure. The owner bounds it by held(), which
/// counts against --max-buffered.
///
/// A client may pipeline tens of thousands of frames, so nothing here looks through them: requests
/// and notifications are two lists, and an index finds a request by its id. Few clients ever
/// cancel, so a request enters the index only when a cancellation comes while it waits.
class WaitingFrames {
 public:
  explicit WaitingFrames(ByteBudget& budget) : share_(budget) {}

  /// What a waiting frame holds, in bytes: many short ones take more than their text.
  static std::size_t charge_of(const Frame& frame) {
    return frame.bytes.size() + sizeof(WaitingFrame);
  }

  void push(Frame&& frame, SteadyTime now);

  bool empty() const { return requests_.empty() && notifications_.empty(); }
  std::size_t size() const { return requests_.size() + notifications_.size(); }
  std::size_t held() const { return share_.held(); }
  bool has_request() const { return !requests_.empty(); }

  /// All of them, in the order they came.
  template <class Visit>
  void each(Visit&& visit) const {
    auto request = requests_.begin();
    auto notification = notifications_.begin();
    while (request != requests_.end() || notification != notifications_.end()) {
      const bool is_request = notification == notifications_.end() ||
                              (request != requests_.end() && request->place < notification->place);
      visit((is_request ? request++ : notification++)->content.frame);
    }
  }

  /// The one that came first. REQUIRES: not empty().
  const WaitingFrame& front() const;
  WaitingFrame take_front();

  /// The first request of this id (see same_id); null if there is none.
  const WaitingFrame* find_request(std::string_view raw_id);
  /// REQUIRES: find_request() finds it.
  WaitingFrame take_request(std::string_view raw_id);

 private:
  struct Waiting {
    Waiting(Frame&& frame, SteadyTime since, std::uint64_t its_place)
        : content{std::move(frame), since}, place(its_place) {}

    WaitingFrame content;
    std::uint64_t place;  ///< in the order of all
    bool indexed = false;
    std::unique_ptr<const std::string> unescaped_id;  ///< if it is in the index, and has escapes
  };
  using List = std::list<Waiting>;
  /// The keys lie in what waits. Equal ones stand in the order they came.
  using Index = std::multimap<std::string_view, List::iterator>;

  bool front_is_request() const;
  void complete_index();
  static std::string_view key_of(Waiting& request);
  Index::iterator find(std::string_view raw_id);
  WaitingFrame take(List& list, List::iterator at);

  List requests_;
  List notifications_;
  Index by_id_;
  std::uint64_t last_place_ = 0;
  ByteBudget::Share share_;
};

/// Who is told how the requests of clients end.
class AnswerWatcher {
 public:
  virtual void answered(ClientId client, std::string_view raw_id, std::string_view response) = 0;
  virtual void not_answered(ClientId client, std::string_view raw_id) = 0;

 protected:
  ~AnswerWatcher() = default;
};

/// The router's hold on a client's channel: whatever is sent through it can be watched. Not owned.
class WatchedChannel {
 public:
  WatchedChannel(ClientChannel& channel, const MessageTap& tap, AnswerWatcher* watcher)
      : channel_(channel), tap_(tap), watcher_(watcher) {}

  /// The transport's side; what is sent there is seen by nobody.
  ClientChannel& transport() const { return channel_; }

  void send(std::string frame) const {
    see(frame);
    channel_.send(std::move(frame));
  }
  void answer(std::string_view request_id, std::string frame, AnswerOrder order,
              bool confidential = false) const {
    see(frame, confidential);
    if (watcher_ != nullptr) watcher_->answered(identity().id, request_id, frame);
    channel_.answer(request_id, std::move(frame), order);
  }
  void send_about(std::string_view request_id, std::string frame) const {
    see(frame);
    channel_.send_about(request_id, std::move(frame));
  }
  void send_entry(std::string_view request_id, std::string frame, Sequence entry) const {
    see(frame);
    channel_.send_entry(request_id, std::move(frame), entry);
  }

  void no_answer(std::string_view request_id) const {
    if (watcher_ != nullptr) watcher_->not_answered(identity().id, request_id);
    channel_.no_answer(request_id);
  }
  bool can_be_asked(std::string_view request_id) const { return channel_.can_be_asked(request_id); }
  void request_starting(std::string_view request_id, UpstreamId id) const {
    channel_.request_starting(request_id, id);
  }
  std::optional<ResumePoint> resume_point(std::string_view request_id) const {
    return channel_.resume_point(request_id);
  }
  std::optional<Submitter> submitted_by(std::string_view request_id) const {
    return channel_.submitted_by(request_id);
  }
  void request_asked(std::string_view request_id, std::string_view result) const {
    channel_.request_asked(request_id, result);
  }
  bool answers_unasked() const { return channel_.answers_unasked(); }
  bool pause_input() const { return channel_.pause_input(); }
  void release_input() const { channel_.release_input(); }
  void set_feed(RingFeed feed) const { channel_.set_feed(feed); }
  void show_only(std::shared_ptr<const RingFilter> filter) const {
    channel_.show_only(std::move(filter));
  }
  void give_back_feed() const { channel_.give_back_feed(); }
  std::size_t queued_bytes() const { return channel_.queued_bytes(); }
  bool congested() const { return channel_.congested(); }
  bool idle() const { return channel_.idle(); }
  bool acts_for_client(std::string_view request_id) const {
    return channel_.acts_for_client(request_id);
  }
  bool survives_upgrade(std::string_view request_id) const {
    return channel_.survives_upgrade(request_id);
  }
  const ClientIdentity& identity() const { return channel_.identity(); }
  std::string command() const { return channel_.command(); }

 private:
  void see(const std::string& frame, bool confidential = false) const {
    tap_.passed(Passage::to_client, channel_.identity().id, frame, confidential);
  }

  ClientChannel& channel_;
  const MessageTap& tap_;
  AnswerWatcher* const watcher_;  ///< null: nobody
};

/// Of what a client declares, so much is said to the upstream in its name.
constexpr std::size_t longest_capabilities = 16u << 10;

/// What a client has said of itself.
struct ClientFacts {
  DeclaredAnswers declared;  ///< which requests of the upstream it answers
  std::string capabilities;  ///< of its `initialize`, as JSON; empty: it has sent none
  std::string info;          ///< clientInfo of it
  Era era = Era::legacy;     ///< of the last request that says it
  bool half_closed = false;
  bool peeks = false;  ///< it has sent `bridge/peek`
  bool seen_frame = false;
  bool seen_ordinary_frame = false;  ///< one that is not `bridge/*` or `server/discover`

  template <class A>
  void each_field(A& archive) {
    archive(declared, capabilities, info, era, half_closed, peeks, seen_frame, seen_ordinary_frame);
  }
};

/// What the router knows of one connected client. Each part of the router changes what is its own;
/// all may read.
struct Client : ClientFacts {
  Client(ClientChannel& channel_, const MessageTap& tap, ByteBudget& budget,
         AnswerWatcher* watcher = nullptr)
      : channel(channel_, tap, watcher),
        user(channel_.identity().user()),
        is_bridge(channel_.identity().kind == "bridge"),
        is_job(channel_.is_job()),
        waiting(budget),
        control(budget) {}

  /// In which era this message of it is written. A listen is modern without saying so.
  Era era_of(const Frame& frame) const {
    if (!frame.is_request()) return era;
    return frame.is_modern() || frame.method == "subscriptions/listen" ? Era::modern : Era::legacy;
  }
  ClientId id() const { return channel.identity().id; }
  bool is_observer() const { return seen_frame && !seen_ordinary_frame; }
  /// Requests that take one of its --client-inflight slots.
  std::size_t slots_taken() const { return in_flight.size() - waiting_for_answers; }
  /// It will send nothing more, and everything that it has sent has come to its end.
  bool is_done() const {
    return half_closed && waiting.empty() && in_flight.empty() && listens == 0 &&
           subscribing == 0 && !notification && control.empty() && control_unanswered.empty();
  }

  const WatchedChannel channel;
  const User user;
  const bool is_bridge;  ///< the bridge asks for a client of its own
  const bool is_job;     ///< ClientChannel::is_job

  const PolicyRule* rule = nullptr;   ///< Permissions::rule_for; of the policy that holds now
  bool judged_before_change = false;  ///< what waits of it was judged by an earlier policy

  // ClientFrames.
  WaitingFrames waiting;             ///< in the order they came, at most --client-buffer bytes
  bool waits_for_slot = false;       ///< it is in the queue for --max-inflight
  bool waits_for_user_slot = false;  ///< in that for the `inflight` of its user's rule

  // ClientNotifications.
  struct NotificationUnderWay {
    UpstreamId id;
    SteadyTime since;
  };
  std::optional<NotificationUnderWay> notification;  ///< the next frame waits for its end

  // Listens.
  std::size_t subscribing = 0;  ///< its `resources/subscribe` that are not answered yet
  std::size_t listens = 0;      ///< its `subscriptions/listen` requests; at most --client-inflight

  // RequestsInFlight.
  std::vector<UpstreamId> in_flight;    ///< its requests; slots_taken(): --client-inflight
  std::size_t waiting_for_answers = 0;  ///< those of them that wait for an answer to a question

  // ControlRequests.
  WaitingFrames control;  ///< those that it had sent when reading from it stopped
  struct UnansweredControl {
    std::uint64_t number;  ///< of all control requests
    std::string raw_id;    ///< raw JSON
    std::string again;     ///< the frame, if the new process handles it after an upgrade
    bool is_delivery;      ///< the response to a request that became a job: Collectors
  };
  std::vector<UnansweredControl> control_unanswered;
};

/// The connected clients, in the order of their connecting.
///
/// A client ends when its transport says so, or at the end of the turn in which it is done. So a
/// `Client&` is good for as long as a call from outside lasts, whatever is called from there.
///
/// Owned by the router; the loop's thread only. Bounded by the transports (--max-clients,
/// --http-max-sessions).
class Clients {
 public:
  /// `done` is called for each client that is done; it takes that one out.
  Clients(EventLoop& loop, std::function<void(Client&)> done)
      : done_(std::move(done)), end_of_turn_(loop, [this] { finish_done(); }) {}

  /// `tap` and `watcher` outlive them.
  Client& add(ClientChannel& channel, const MessageTap& tap, ByteBudget& budget,
              AnswerWatcher* watcher) {
    auto client = std::make_unique<Client>(channel, tap, budget, watcher);
    return *clients_.emplace(client->id(), std::move(client)).first->second;
  }
  /// Takes it out. REQUIRES: it is one of them.
  std::unique_ptr<Client> take(const Client& client) {
    return std::move(clients_.extract(client.id()).mapped());
  }

  /// Null if it is not connected any more.
  Client* find(ClientId id) const {
    const auto found = clients_.find(id);
    return found == clients_.end() ? nullptr : found->second.get();
  }
  Client* find(std::optional<ClientId> id) const { return id ? find(*id) : nullptr; }

  /// To be called when something of a client has come to its end.
  void finish_if_done(const Client& client) {
    if (!client.half_closed) return;
    perhaps_done_.push_back(client.id());
    end_of_turn_.schedule();
  }
  /// Not at the end of the turn, but now.
  void finish_done() {
    for (const ClientId id : std::exchange(perhaps_done_, {})) {
      if (Client* client = find(id); client != nullptr && client->is_done()) done_(*client);
    }
  }

  auto begin() const { return clients_.begin(); }
  auto end() const { return clients_.end(); }

 private:
  std::map<ClientId, std::unique_ptr<Client>> clients_;
  std::vector<ClientId> perhaps_done_;
  std::function<void(Client&)> done_;
  Deferred end_of_turn_;
};

}  // namespace bridge
