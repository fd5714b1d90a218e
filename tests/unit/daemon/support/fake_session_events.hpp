#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "json/json_text.hpp"
#include "session/session_events.hpp"

namespace bridge {

/// Records what the session reports, and gives the test's answers to its queries.
class FakeSessionEvents final : public SessionEvents {
 public:
  struct Ended {
    UpstreamId id;
    Ending ending;
  };

  // The answers to the session's queries.
  bool frames = false;
  Era side = Era::legacy;         ///< of all clients' requests
  std::set<UpstreamId> requests;  ///< of clients
  SessionSettings set;

  // What it has reported.
  std::vector<UpstreamId> renumbered;
  std::vector<UpstreamId> remade;
  std::vector<std::string> told;  ///< by name: "open", "closed", "away", "replaced", …
  std::vector<std::string> messages;
  std::function<void()> on_message;  ///< a handler that sends a request at once
  std::vector<Failure> failures;
  std::vector<Failure> refusals;
  std::vector<Ended> ended;
  std::vector<std::string> list_changes;
  std::string replaced_for;  ///< the reason of the last replacement

  std::size_t count(std::string_view name) const {
    return static_cast<std::size_t>(std::count(told.begin(), told.end(), name));
  }
  /// How this message ended; null: not yet.
  const Ending* end_of(UpstreamId id) const {
    for (const Ended& one : ended)
      if (one.id == id) return &one.ending;
    return nullptr;
  }

  void session_open() override { told.emplace_back("open"); }
  void session_closed(Era) override { told.emplace_back("closed"); }
  void session_away(Era) override { told.emplace_back("away"); }
  void listen_acknowledged() override {}
  void listen_resumed(const SubscriptionFilter& filter) override {
    told.push_back("listen resumed " + filter.json());
  }
  void remake(Outgoing& message, Era, bool under_new_id) override {
    (under_new_id ? renumbered : remade).push_back(message.id);
  }
  void session_failed(const Failure& failure) override {
    told.emplace_back("failed");
    failures.push_back(failure);
  }
  void session_refused(Era, const Failure& failure) override {
    told.emplace_back("refused");
    refusals.push_back(failure);
  }
  /// Treats every response as the answer to the request with that id.
  std::optional<UpstreamId> message_received(Era, std::optional<UpstreamId>,
                                             Frame&& frame) override {
    told.emplace_back("message");
    std::optional<UpstreamId> answered;
    if (const auto id = to_unsigned(frame.text(frame.id)); frame.is_response() && id)
      answered = static_cast<UpstreamId>(*id);
    messages.push_back(std::move(frame.bytes));
    if (on_message) on_message();
    return answered;
  }
  void malformed_received(std::optional<UpstreamId>, std::string_view) override {
    told.emplace_back("malformed");
  }
  void message_ended(UpstreamId id, Ending ending) override {
    told.emplace_back("ended");
    ended.push_back({id, std::move(ending)});
  }
  void listen_notified(Frame&& notification) override {
    message_received(Era::modern, std::nullopt, std::move(notification));
  }
  std::optional<Era> side_of(UpstreamId id) const override {
    return requests.contains(id) ? std::optional(side) : std::nullopt;
  }
  bool frames_wait(Era) const override { return frames; }
  SessionSettings settings() const override { return set; }
  void subscription_unrestored(const std::string&) override { told.push_back("unrestored"); }
  void take_settings(const SessionSettings& settings) override { set = settings; }
  void session_replaced(Era, const Reopening& reopening,
                        const std::vector<std::string>& changes) override {
    told.emplace_back("replaced");
    replaced_for = name_of(reopening.reason);
    list_changes = changes;
  }
};

}  // namespace bridge
