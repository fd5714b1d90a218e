#pragma once

#include <doctest/doctest.h>

#include <fmt/format.h>

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "event/event_loop.hpp"
#include "json/json_text.hpp"
#include "upstream/upstream.hpp"

namespace bridge {

/// A passive upstream: it records its calls, and the test says what comes back. Each response is a
/// turn of its own.
class FakeUpstream final : public Upstream {
 public:
  explicit FakeUpstream(EventLoop& loop) : loop_(loop) {
    traits_ = {.kind = "fake", .target = "http://fake.example/mcp", .may_be_modern = false};
    counts_ = &counted;
  }

  // What it received.
  std::vector<Outgoing> sent;         ///< all messages, in order
  std::vector<UpstreamId> lifted;     ///< messages whose deadlines were lifted
  std::set<UpstreamId> held;          ///< messages whose deadlines are held now
  std::vector<UpstreamId> abandoned;  ///< and answered: those that were under way until then
  std::vector<UpstreamId> answered;
  std::map<UpstreamId, bool> paused;
  std::string version;  ///< of the protocol; empty while there is no session
  std::string stateless_version;
  std::size_t sessions_over = 0;
  std::size_t sessions_opened = 0;
  std::size_t refreshes = 0;
  std::optional<std::string> continued;  ///< the id of a session of another daemon
  std::string session_id;                ///< of the session; empty: one that only its streams keep
  bool names_session_only = false;       ///< by another name than that
  std::optional<Failure> given_up;
  std::function<void()> ended;  ///< set once end() was called
  UpstreamCounts counted;

  // Its properties.
  bool& modern_possible = traits_.may_be_modern;  ///< then its era is probed
  bool& answer_streams = traits_.has_answer_streams;
  std::string_view& said_kind = traits_.kind;
  bool sessions_outlive_it = true;

  /// The method of each message sent, a response as "response".
  std::vector<std::string> methods() const {
    std::vector<std::string> all;
    for (const Outgoing& message : sent) all.push_back(method_of(message));
    return all;
  }
  /// How many messages with this method were sent.
  std::size_t count(std::string_view method) const {
    std::size_t times = 0;
    for (const Outgoing& message : sent) times += method_of(message) == method ? 1 : 0;
    return times;
  }
  /// The last message sent with this method. Fails the test if there is none.
  const Outgoing& last(std::string_view method) const {
    for (auto message = sent.rbegin(); message != sent.rend(); ++message)
      if (method_of(*message) == method) return *message;
    FAIL("no " << method << " was sent");
    return sent.front();
  }
  UpstreamId id_of(std::string_view method) const { return last(method).id; }
  bool is_under_way(UpstreamId id) const { return under_way_.count(id) != 0; }
  std::size_t under_way() const { return under_way_.size(); }

  // Its responses.
  /// Sends a message on the server stream, or on the stream of `origin`.
  void say(std::string bytes, std::optional<UpstreamId> origin = {}) {
    const EventLoop::Turn turn(loop_);
    events_->upstream_message(origin, std::move(bytes)).each([this](UpstreamId id) {
      if (under_way_.erase(id) != 0) answered.push_back(id);
    });
  }
  void notify(std::string_view method, std::string_view params = "{}",
              std::optional<UpstreamId> origin = {}) {
    say(fmt::format(R"({{"jsonrpc":"2.0","method":"{}","params":{}}})", method, params), origin);
  }
  void answer(UpstreamId id, std::string_view result = "{}") {
    say(fmt::format(R"({{"jsonrpc":"2.0","id":{},"result":{}}})", value_of(id), result), id);
  }
  void answer_error(UpstreamId id, std::string_view error) {
    say(fmt::format(R"({{"jsonrpc":"2.0","id":{},"error":{}}})", value_of(id), error), id);
  }
  /// The message was delivered, or its stream ends in order.
  void finish(UpstreamId id, bool something_came = false) {
    Ending ending;
    ending.something_came = something_came;
    end_message(id, std::move(ending));
  }
  /// It failed before its response began: it is given back.
  void fail(UpstreamId id, Failure failure, SessionVerdict verdict = SessionVerdict::kept,
            bool may_have_acted = false) {
    Ending ending;
    ending.may_have_acted = may_have_acted;
    ending.failure = std::move(failure);
    ending.session = verdict;
    ending.unanswered = under_way_.at(id);
    end_message(id, std::move(ending));
  }
  /// It failed after its response had begun.
  void break_off(UpstreamId id, Failure failure, SessionVerdict verdict = SessionVerdict::kept) {
    Ending ending;
    ending.failure = std::move(failure);
    ending.session = verdict;
    ending.something_came = true;
    end_message(id, std::move(ending));
  }
  void server_stream(ServerStream state) {
    const EventLoop::Turn turn(loop_);
    events_->server_stream_changed(state);
  }
  void refuse_server_stream(SessionVerdict verdict = SessionVerdict::kept) {
    const EventLoop::Turn turn(loop_);
    events_->server_stream_refused(verdict);
  }
  void become_reachable() {
    const EventLoop::Turn turn(loop_);
    events_->upstream_reachable();
  }
  void lose_session() {
    const EventLoop::Turn turn(loop_);
    events_->upstream_lost_session();
  }

  // Upstream.
  void reconfigure(const UpstreamOptions&) override {}
  void send(Outgoing&& message) override {
    REQUIRE(under_way_.emplace(message.id, message).second);
    sent.push_back(std::move(message));
  }
  void abandon(UpstreamId id) override {
    if (under_way_.erase(id) != 0) abandoned.push_back(id);
  }
  std::optional<Outgoing> take_back(UpstreamId id) override {
    const auto message = under_way_.extract(id);
    return message.empty() ? std::nullopt : std::optional(message.mapped());
  }
  std::optional<SessionReference> session_reference() const override {
    if (session_id.empty()) return std::nullopt;
    return SessionReference{session_id, {}};
  }
  bool names_session() const override { return names_session_only || !session_id.empty(); }
  void treat(UpstreamId id, Treatment how) override {
    switch (how) {
      case Treatment::stop_reading: paused[id] = true; break;
      case Treatment::read: paused[id] = false; break;
      case Treatment::hold_deadline: held.insert(id); break;
      case Treatment::run_deadline: held.erase(id); break;
      case Treatment::lift_deadline: lifted.push_back(id); break;
    }
  }
  bool session_opened(const OpenedSession& session) override {
    if (session.left != nullptr && !sessions_outlive_it) return false;
    if (!session.is_stateful) {
      stateless_version = session.version;
      return true;
    }
    version = session.version;
    if (session.left != nullptr) {
      continued = session_id = std::string(session.left->id);
    } else {
      ++sessions_opened;
    }
    return true;
  }
  void session_over() override {
    version.clear();
    ++sessions_over;
  }
  void refresh_connections() override { ++refreshes; }
  void give_up_unsent(const Failure& failure) override { given_up = failure; }
  void end(std::function<void()> done) override { ended = std::move(done); }
  bool survives_upgrade(std::optional<UpstreamId>) const override { return false; }
  std::vector<SavedMessage> save_messages() const override { return {}; }
  bool restore(SavedMessage&&) override { return false; }

 private:
  static std::string method_of(const Outgoing& message) {
    return find_string(message.body, "method").value_or("response");
  }
  void end_message(UpstreamId id, Ending ending) {
    REQUIRE(under_way_.erase(id) == 1);
    const EventLoop::Turn turn(loop_);
    events_->message_ended(id, std::move(ending));
  }

  EventLoop& loop_;
  std::map<UpstreamId, Outgoing> under_way_;
};

}  // namespace bridge
