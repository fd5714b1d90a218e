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
#include "grant/grant.hpp"
#include "json/frame.hpp"
#include "json/reply.hpp"
#include "mcp/handshake.hpp"
#include "policy/policy.hpp"
#include "router/call.hpp"
#include "router/client_channel.hpp"

namespace bridge {

class AuditTrail;
struct Client;

/// A frame that has not been started upstream.
struct WaitingFrame {
  Frame frame;
  SteadyTime since;
  std::unique_ptr<JobRequest> job{};  ///< if it belongs to a job
};

/// The waiting frames of one client, in order of arrival. Pure. The owner bounds them by held(),
/// which counts against --max-buffered.
///
/// A client may pipeline tens of thousands of frames, so no operation scans them: requests and
/// notifications are two lists, and an index finds a request by its id. Cancellations are rare, so
/// a request is indexed only when one arrives while it waits.
class WaitingFrames {
 public:
  explicit WaitingFrames(ByteBudget& budget) : share_(budget) {}

  /// The bytes that a waiting frame takes; for short ones more than their text.
  static std::size_t charge_of(const Frame& frame) {
    return frame.bytes.size() + sizeof(WaitingFrame);
  }

  void push(Frame&& frame, SteadyTime now, std::unique_ptr<JobRequest> job = nullptr);

  bool empty() const { return requests_.empty() && notifications_.empty(); }
  std::size_t size() const { return requests_.size() + notifications_.size(); }
  std::size_t held() const { return share_.held(); }
  bool has_request() const { return !requests_.empty(); }

  /// Visits all, in order of arrival.
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

  /// The oldest. REQUIRES: not empty().
  const WaitingFrame& front() const;
  WaitingFrame take_front();

  /// The oldest request with this id (see same_id); null if there is none.
  const WaitingFrame* find_request(std::string_view raw_id);
  /// REQUIRES: find_request() finds it.
  WaitingFrame take_request(std::string_view raw_id);

 private:
  struct Waiting {
    Waiting(Frame&& frame, SteadyTime since, std::unique_ptr<JobRequest> job,
            std::uint64_t its_place)
        : content{std::move(frame), since, std::move(job)}, place(its_place) {}

    WaitingFrame content;
    std::uint64_t place;  ///< position among all frames
    bool indexed = false;
    std::unique_ptr<const std::string> canonical_id;  ///< if indexed, and the id is not that
  };
  using List = std::list<Waiting>;
  /// Keys are views into the waiting frames. Equal ones are in order of arrival.
  using Index = std::multimap<std::string_view, List::iterator>;

  bool front_is_request() const;
  void complete_index();
  static std::string_view key_of(Waiting& request);
  Index::iterator find_id(std::string_view raw_id);
  WaitingFrame take_at(List& list, List::iterator at);

  List requests_;
  List notifications_;
  Index by_id_;
  std::uint64_t last_place_ = 0;
  ByteBudget::Share share_;
};

/// The router's access to a client's channel: shows sent messages to the monitor and reports ends
/// of requests to the audit. Does not own the channel.
class WatchedChannel {
 public:
  WatchedChannel(ClientChannel& channel, const MessageTap& tap, AuditTrail* audit)
      : channel_(channel), tap_(tap), audit_(audit) {}

  /// The channel itself, for use after its client is gone.
  ClientChannel& transport() const { return channel_; }

  /// Without showing it to the monitor, for the monitor's own messages.
  void send_unwatched(std::string frame) const {
    channel_.send({Delivery::Kind::message, std::move(frame)});
  }
  void send(std::string frame) const {
    see(frame);
    send_unwatched(std::move(frame));
  }
  void answer(std::string_view request_id, std::string frame, AnswerOrder order,
              bool confidential = false) const;
  void send_about(std::string_view request_id, std::string frame) const {
    see(frame);
    channel_.send({Delivery::Kind::about, std::move(frame), request_id});
  }
  void send_entry(std::string_view request_id, std::string frame, Sequence entry) const {
    see(frame);
    channel_.send(
        {Delivery::Kind::entry, std::move(frame), request_id, AnswerOrder::in_order, entry});
  }

  void no_answer(std::string_view request_id) const;
  bool can_be_asked(std::string_view request_id) const {
    return channel_.reach(request_id).can_be_asked;
  }
  bool answers_unasked() const { return channel_.state().answers_unasked; }
  bool pause_input() const { return channel_.pause_input(true); }
  void release_input() const { channel_.pause_input(false); }
  void set_feed(RingFeed feed) const { channel_.set_feed(feed); }
  void show_only(std::shared_ptr<const RingFilter> filter) const {
    channel_.show_only(std::move(filter));
  }
  void give_back_feed() const { channel_.give_back_feed(); }
  void note_lost(std::uint64_t entries) const { channel_.note_lost(entries); }
  void grant_ended() const { channel_.grant_ended(); }
  std::size_t queued_bytes() const { return channel_.state().queued_bytes; }
  bool congested() const { return channel_.congested(); }
  bool idle() const { return channel_.state().is_idle; }
  bool survives_upgrade(std::string_view request_id) const {
    return channel_.reach(request_id).survives_upgrade;
  }
  const ClientIdentity& identity() const { return channel_.identity(); }
  std::string command() const { return channel_.command(); }

 private:
  void see(const std::string& frame, bool confidential = false) const {
    tap_.passed(Passage::to_client, channel_.identity().id, frame, confidential);
  }

  ClientChannel& channel_;
  const MessageTap& tap_;
  AuditTrail* const audit_;  ///< null: no audit
};

/// Capabilities of a client up to this size are forwarded when the bridge opens a session for it.
constexpr std::size_t longest_capabilities = 16u << 10;

/// What a client has declared about itself.
struct ClientFacts {
  DeclaredAnswers declared;  ///< the requests of the upstream that it answers
  std::string capabilities;  ///< from its `initialize`, as JSON; empty: none sent
  std::string info;          ///< clientInfo from its `initialize`
  Era era = Era::legacy;     ///< of the last request that declares it
  bool half_closed = false;
  bool peeks = false;  ///< it has sent `bridge/peek`
  enum class Sent : std::uint8_t {
    nothing,
    looks,     ///< only `bridge/*` and `server/discover`
    ordinary,  ///< another frame
  };
  friend constexpr Sent last_of(Sent) { return Sent::ordinary; }
  Sent sent = Sent::nothing;
  std::optional<GrantHold> grant;  ///< changed by ClientReceiver

  bool is_observer() const { return sent == Sent::looks; }
  /// Whether the ring's entries are for it. A modern client gets them by its listens only.
  bool takes_from_ring() const { return !peeks && era == Era::legacy; }
  /// Whether it has shown its era. Looking on is the same in both.
  bool has_shown_era() const { return sent == Sent::ordinary || era == Era::modern; }

  template <class A>
  void each_field(A& archive) {
    archive(declared, capabilities, info, era, half_closed, peeks, sent, grant);
  }
};

/// A sender of calls: a connected client (`Client`); all jobs of a user (`JobsOfUser`), which share
/// slots like the requests of one client; or a part of the bridge that asks the server something
/// itself (`OwnCaller`). Each part of the router changes its own members; all may read them.
struct Caller {
  Caller(const User& its_user, ByteBudget& budget, Client* itself)
      : user(its_user), waiting(budget), client_(itself) {}
  virtual ~Caller() = default;
  Caller(const Caller&) = delete;
  Caller& operator=(const Caller&) = delete;

  /// Null for other kinds.
  Client* client() const { return client_; }
  /// Whether its calls are a user's: they are counted, judged by the policy, recorded by the audit,
  /// and may be what the server asks about.
  virtual bool acts_for_user() const { return true; }
  /// The era of this message. A listen is modern even if it does not say so.
  Era era_of(const Frame& frame) const;
  /// Whether an `initialize` must come before this message.
  bool needs_initialize(const Frame& frame) const { return era_of(frame) == Era::legacy; }

  /// The request is about to be sent under this id.
  virtual void starting(UpstreamId id, const Call& call) {
    static_cast<void>(id);
    static_cast<void>(call);
  }
  /// It was answered with this `input_required` result; it is sent again with the answers.
  virtual void input_required(const Call& call, std::string_view result) {
    static_cast<void>(call);
    static_cast<void>(result);
  }
  /// Progress, or another notification about the request. Other notifications than progress only
  /// if the caller hears() of it.
  virtual void notify(const Call& call, Frame&& notification) = 0;
  virtual bool hears(const Call& call) const = 0;

  // Delivers the end of the request with this id (raw JSON).
  virtual void answer(std::string_view raw_id, Frame&& response) = 0;
  virtual void fail(std::string_view raw_id, const Failure& failure) = 0;
  virtual void no_answer(std::string_view raw_id) = 0;
  /// The bridge ends or is upgraded before the answer.
  virtual void given_up(std::string_view raw_id, const Failure& failure) { fail(raw_id, failure); }
  virtual bool congested() const { return false; }

  User user;  ///< changed by ClientReceiver: with a grant that of its first issuer

  // Changed by ClientFrames.
  WaitingFrames waiting;             ///< in order of arrival, at most --client-buffer bytes
  bool waits_for_slot = false;       ///< in the queue for --max-inflight
  bool waits_for_user_slot = false;  ///< in the queue for the `inflight` of its user's rule
  bool is_starting = false;          ///< its waiting frames are being started, further up the stack

  std::vector<UpstreamId> in_flight;  ///< its requests; changed by RequestsInFlight

 private:
  Client* const client_;
};

/// A part of the bridge that asks the server something itself. No user waits for its requests: they
/// are in no statistics and do not survive an upgrade.
struct OwnCaller : Caller {
  explicit OwnCaller(ByteBudget& budget) : Caller({}, budget, nullptr) {}

  bool acts_for_user() const override { return false; }
  void notify(const Call&, Frame&&) override {}
  bool hears(const Call&) const override { return false; }
  void no_answer(std::string_view) override {}
};

/// A connected client.
struct Client final : Caller, ClientFacts {
  Client(ClientChannel& channel_, const MessageTap& tap, ByteBudget& budget,
         AuditTrail* audit = nullptr)
      : Caller(channel_.identity().user(), budget, this),
        channel(channel_, tap, audit),
        control(budget) {}

  void notify(const Call& call, Frame&& frame) override;
  bool hears(const Call&) const override { return true; }
  void answer(std::string_view raw_id, Frame&& response) override {
    splice(response.bytes, {response.id, raw_id});
    channel.answer(raw_id, std::move(response.bytes), AnswerOrder::in_order);
  }
  void fail(std::string_view raw_id, const Failure& failure) override {
    channel.answer(raw_id, error_reply(raw_id, failure), AnswerOrder::in_order);
  }
  void no_answer(std::string_view raw_id) override { channel.no_answer(raw_id); }
  bool congested() const override { return channel.congested(); }

  ClientId id() const { return channel.identity().id; }
  /// Whether requests can be sent to it while it waits for the response to this one: since
  /// 2026-07-28 the response asks.
  static bool can_be_asked_meanwhile(const Frame& request) { return !request.is_modern(); }
  /// Empty: it has none.
  std::string grant_id() const { return grant ? grant->id() : std::string(); }
  /// Whether the present policy has a rule for the client, or its grant has not ended. Else it may
  /// ask nothing of the server, and is neither asked nor heard.
  bool may_take_part() const { return rule == nullptr || !rule->is_none(); }
  /// Whether the client sends nothing more and everything that it has sent has ended.
  bool is_done() const {
    return half_closed && waiting.empty() && in_flight.empty() && listens == 0 &&
           subscribing == 0 && !notification && control.empty() && control_unanswered.empty();
  }

  const WatchedChannel channel;

  const PolicyRule* rule = nullptr;            ///< Permissions::take_rule, by the current policy
  std::shared_ptr<const PolicyRule> rights{};  ///< owns the rule if it comes from a grant
  bool grant_is_over = false;                  ///< that it has ended was acted upon
  bool judged_before_change = false;  ///< its waiting frames were judged by an earlier rule

  // Changed by ClientNotifications.
  struct NotificationUnderWay {
    UpstreamId id;
    SteadyTime since;
  };
  std::optional<NotificationUnderWay> notification;  ///< delays the next frame until its end

  // Changed by Listens.
  std::size_t subscribing = 0;  ///< unanswered `resources/subscribe` requests
  std::size_t listens = 0;      ///< `subscriptions/listen` requests; at most --client-inflight

  // Changed by ControlRequests.
  WaitingFrames control;  ///< requests that had arrived when reading was paused
  struct UnansweredControl {
    std::uint64_t number;  ///< among all control requests
    std::string raw_id;    ///< raw JSON
    std::string again;     ///< the frame, if it is handled again after an upgrade
    bool is_delivery;      ///< the response to a request that became a job: JobWaiters
  };
  std::vector<UnansweredControl> control_unanswered;
};

inline Client* Call::client() const { return caller != nullptr ? caller->client() : nullptr; }

inline bool Call::acts_for_user() const { return caller == nullptr || caller->acts_for_user(); }

inline Era Caller::era_of(const Frame& frame) const {
  if (!frame.is_request()) return client_->era;
  return frame.is_modern() || frame.method == "subscriptions/listen" ? Era::modern : Era::legacy;
}

/// The connected clients in order of connecting, and the other callers.
///
/// A client is removed when its transport reports its end, or at the end of the turn in which it is
/// done. So a `Client&` or `Caller&` stays valid during a call from outside the router, whatever
/// that calls.
///
/// Owned by the router; the loop's thread only. Bounds: those of the transports (--max-clients,
/// --http-max-sessions) and of the users that have jobs.
class Clients {
 public:
  /// `done` is called for each client that is done; it removes the client.
  Clients(EventLoop& loop, std::function<void(Client&)> done)
      : done_(std::move(done)), end_of_turn_(loop, [this] { finish_done(); }) {}

  /// `tap` outlives the clients.
  Client& add_client(ClientChannel& channel, const MessageTap& tap, ByteBudget& budget) {
    auto client = std::make_unique<Client>(channel, tap, budget, audit_);
    return *clients_.emplace(client->id(), std::move(client)).first->second;
  }
  /// Removes the client. REQUIRES: it is in the table.
  std::unique_ptr<Client> take_client(const Client& client) {
    return std::move(clients_.extract(client.id()).mapped());
  }

  /// A caller that is not a client; it leaves before it is destroyed.
  void join(Caller& caller) { others_.push_back(&caller); }
  void leave(const Caller& caller) { std::erase(others_, &caller); }

  /// Null if it is no longer connected.
  Client* find_client(ClientId id) const {
    const auto found = clients_.find(id);
    return found == clients_.end() ? nullptr : found->second.get();
  }
  Client* find_client(std::optional<ClientId> id) const { return id ? find_client(*id) : nullptr; }

  void set_audit(AuditTrail& audit) { audit_ = &audit; }
  /// Called when something of the caller has ended.
  void finish_if_done(const Caller& caller) {
    const Client* const client = caller.client();
    if (client == nullptr || !client->half_closed) return;
    perhaps_done_.push_back(client->id());
    end_of_turn_.schedule();
  }
  /// At once instead of at the end of the turn.
  void finish_done() {
    for (const ClientId id : std::exchange(perhaps_done_, {})) {
      if (Client* client = find_client(id); client != nullptr && client->is_done()) done_(*client);
    }
  }

  auto begin() const { return clients_.begin(); }
  auto end() const { return clients_.end(); }
  /// `visit` gets each Caller and may start and end requests.
  template <class Visit>
  void each_caller(Visit&& visit) const {
    for (const auto& [id, client] : clients_) visit(static_cast<Caller&>(*client));
    for (Caller* const other : others_) visit(*other);
  }

 private:
  std::map<ClientId, std::unique_ptr<Client>> clients_;
  std::vector<Caller*> others_;
  std::vector<ClientId> perhaps_done_;
  std::function<void(Client&)> done_;
  AuditTrail* audit_ = nullptr;
  Deferred end_of_turn_;
};

}  // namespace bridge
