#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "router/crossing/forms.hpp"
#include "router/router_parts.hpp"
#include "session/session_events.hpp"
#include "session/stream_overlap.hpp"

namespace bridge {

/// Takes what the session reports: hands each response to its request, each question to who answers
/// it, each notification to the request that it is about or into the ring (BEHAVIOUR, "Routing").
///
/// Owned by the router; the loop's thread only.
class UpstreamReceiver final : public SessionEvents {
 public:
  explicit UpstreamReceiver(RouterParts& parts) : parts_(parts), context_(parts.context) {
    context_.session.set_events(*this);
  }

  /// The policy has changed: so may have what clients see of each list.
  void publish_all_lists();

  void session_open() override;
  void session_closed(Era side) override;
  void session_away(Era side) override { parts_.frames.session_away(context_.session.side(side)); }
  void session_failed(const Failure& failure) override;
  void session_refused(Era side, const Failure& failure) override;
  void session_awaits_login() override { parts_.frames.session_awaits_login(); }
  std::optional<UpstreamId> message_received(Era side, std::optional<UpstreamId> origin,
                                             Frame&& frame) override;
  void listen_notified(Frame&& notification) override;
  void malformed_received(std::optional<UpstreamId> origin, std::string_view reason) override;
  void message_ended(UpstreamId id, Ending ending) override;
  bool frames_wait(Era side) const override;
  std::optional<Era> side_of(UpstreamId id) const override;
  std::string capabilities_of_opener() const override {
    return capabilities_of_opener_among(context_.clients);
  }
  SessionSettings settings() const override;
  void subscription_unrestored(const std::string& uri) override;
  void take_settings(const SessionSettings& settings) override {
    parts_.restorable.take_settings(settings);
  }
  void listen_acknowledged() override { parts_.listens.upstream_tells(); }
  void listen_resumed(const SubscriptionFilter& filter) override;
  void remake(Outgoing& message, Era side, bool under_new_id) override {
    parts_.in_flight.remake(message, context_.session.side(side), under_new_id);
  }
  void session_replaced(Era side, const Reopening& reopening,
                        const std::vector<std::string>& list_changes) override;

 private:
  void upstream_notification(Era side, std::optional<UpstreamId> origin, Frame frame);
  bool is_second_copy(Era side, const Frame& notification);
  void note_sides();
  std::vector<std::string> subscriptions() const;
  void publish_changes(const std::vector<std::string>& lists, const std::vector<std::string>& uris);

  RouterParts& parts_;
  const RouterContext& context_;
  Era ring_source_ = Era::legacy;            ///< the era of the session when last checked
  StreamOverlap<Era> overlap_;               ///< of both sessions' changes
  std::optional<std::uint64_t> overlap_in_;  ///< the attempt to open the legacy session
};

}  // namespace bridge
