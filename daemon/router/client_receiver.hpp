#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "router/client_channel.hpp"
#include "router/router_parts.hpp"

namespace bridge {

/// Takes what clients send: decides what each frame is and whether the client may send it, and
/// hands it to the part that handles its kind (BEHAVIOUR, "Routing"). It knows no sockets and no
/// HTTP.
///
/// Owned by the router; the loop's thread only.
class ClientReceiver final : public ClientEvents {
 public:
  explicit ClientReceiver(RouterParts& parts) : parts_(parts), context_(parts.context) {}

  void client_connected(ClientChannel& channel) override;
  void client_line(ClientId client, ReceivedText line) override;
  std::string client_request_for_later(ClientId client, Frame request) override;
  void client_message(ClientId client, Frame message) override;
  void client_oversized_line(ClientId client) override;
  void client_half_closed(ClientId client) override;
  void client_left(ClientId client) override;
  void client_congestion(ClientId client, bool congested) override;
  void client_can_be_asked(ClientId client) override;
  std::size_t waiting_bytes(ClientId client) const override;
  const HeadersOfTools& headers_of_tools() const override { return parts_.tools.annotations(); }
  bool http_callers_may_look() const override;
  bool may_look(const ClientIdentity& caller) const override;
  bool has_policy() const override { return parts_.permissions.policy() != nullptr; }
  std::variant<GrantHold, GrantEnd> verify_grant(std::string_view string) override;

  /// A client that sends nothing more has had its last answer.
  void client_done(Client& client);
  /// Looks up the client's rule.
  void take_rule(Client& client);
  /// From now on the client has this grant, or may do nothing if it is_refused().
  void use_grant(Client& client, GrantHold hold);
  /// The same of a restored client, whose rule is not looked up yet.
  void set_grant(Client& client, GrantHold hold);
  /// Why this control request may not ask the server, by audit, rate, and its grant's `calls`;
  /// nullopt: it may. Takes a token, and so many calls.
  std::optional<Failure> refusal_to_ask(const Client& client, std::string_view raw_id,
                                        std::uint64_t calls);
  /// Whether all clients so far were modern: none could have taken a notification.
  bool served_only_modern() const { return served_modern_ && !served_legacy_; }

 private:
  void client_batch(Client& client, std::string_view line);
  void client_frame(Client& client, ParsedFrame&& parsed);
  bool is_control(const Frame& frame) const;
  bool asks_more_than_jobs(const Client& client) const;
  void note_kind(Client& client, const Frame& frame);
  void note_initialize(Client& client, const Frame& initialize);
  bool refuse_modern(Client& client, const Frame& request);
  bool refuse_by_policy(Client& client, const Frame& request);
  bool refuse_control(Client& client, const Frame& request);
  void client_notification(Client& client, Frame frame);
  void control_notification(Client& client, const Frame& frame);
  void reply_invalid(Client& client, int code, std::string_view reason);
  void refuse_grant(Client& client, const Frame& frame);
  void refuse_kind(Client& client, const Frame& frame, std::string_view reason);
  void drop_client(Client& client);

  RouterParts& parts_;
  const RouterContext& context_;
  bool served_modern_ = false;
  bool served_legacy_ = false;
};

}  // namespace bridge
