#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "json/frame.hpp"
#include "router/pending_requests.hpp"
#include "router/subscriptions.hpp"
#include "session/saved_session.hpp"

namespace bridge {

/// What accepted requests have changed in the session, and has to be restored in a new one: its
/// subscriptions and its log level. Pure; a value.
class RestorableState {
 public:
  /// The uri of a request for a subscription, the params of one for a log level, the cursor (JSON)
  /// of one for the tools; else empty.
  static std::string subject_of(const Frame& request);

  /// The request was answered with a result.
  void accepted(const PendingRequest& request) {
    accepted(request.method, request.subject, request.client);
  }
  /// The same of one that the bridge itself has answered.
  void accepted(const Frame& request, ClientId client) {
    accepted(request.method, subject_of(request), client);
  }

  const Subscriptions& subscriptions() const { return subscriptions_; }
  Subscriptions& subscriptions() { return subscriptions_; }

  /// Of the last accepted logging/setLevel; empty: none.
  const std::string& log_level_params() const { return log_level_params_; }

  /// Another number whenever something has changed.
  std::uint64_t revision() const { return revision_; }

  /// What a new session has to be told again.
  SessionSettings settings() const;
  /// What clients of an earlier daemon have set.
  void take(const SessionSettings& settings);

 private:
  void accepted(std::string_view method, const std::string& subject,
                std::optional<ClientId> client);

  Subscriptions subscriptions_;
  std::uint64_t revision_ = 0;
  std::string log_level_params_;  ///< of the last accepted logging/setLevel
};

}  // namespace bridge
