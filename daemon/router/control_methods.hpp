#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "router/router.hpp"
#include "upstream/upstream.hpp"

namespace bridge {

/// Answers `bridge/…` requests (product section 12). Owned by the daemon, after what it reads from.
class ControlMethods final : public Router::Control {
 public:
  ControlMethods(const Router& router, const Session& session, const Upstream& upstream, NotificationFeed& feed);

  std::string answer(const Frame& request) override;
  /// The result of `bridge/status`.
  std::string status() const;

 private:
  std::string upstream_status() const;
  std::string ring_status() const;
  std::string clients_status() const;
  std::string requests_status() const;
  std::string notifications(std::string_view params) const;

  const Router& router_;
  const Session& session_;
  const Upstream& upstream_;
  NotificationFeed& feed_;
  std::string instance_;
  std::chrono::steady_clock::time_point started_;
};

}  // namespace bridge
