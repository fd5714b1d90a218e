#pragma once

#include <string>
#include <string_view>

#include "json/frame.hpp"
#include "router/control.hpp"
#include "router/router_context.hpp"

namespace bridge {

/// The `bridge/*` requests of clients. They wait for nothing but room in their own client's queue:
/// a client that does not read must not make the bridge fill it, so it is not read either. Owned by
/// the router; the loop's thread only.
class ControlRequests {
 public:
  explicit ControlRequests(const RouterContext& context) : context_(context) {}
  void set_control(Control& control) { control_ = &control; }

  ControlFacts facts_of(std::string_view method) const {
    return control_ != nullptr ? control_->facts_of(method) : ControlFacts{};
  }
  void add(Client& client, Frame request);
  /// What comes of the client's request is kept, and it is answered as well. Returns the name under
  /// which it is kept; empty: it is not.
  std::string keep_for_later(Client& client, const Frame& request);
  /// A request that waited for this answer in the previous process, and still waits.
  Control::Reply reply_continued(Client& client, std::string_view raw_id);
  /// Its queue has room again, or it was restored after an upgrade.
  void answer_waiting(Client& client);
  /// The unanswered requests of this client that the new process handles again after an upgrade.
  static std::vector<std::string> to_handle_again(const Client& client);
  /// The bridge is being upgraded: every other unanswered request fails. Deliveries stay.
  void fail_unanswered(const Failure& failure);
  /// It waits no more for the answer of this id; false if there is none that comes later.
  bool cancel(Client& client, std::string_view raw_id);
  void client_can_be_asked(const Client& client) {
    if (!client.control_unanswered.empty()) control_->client_can_be_asked(client);
  }
  void client_half_closed(const Client& client) {
    if (!client.control_unanswered.empty()) control_->client_half_closed(client);
  }
  /// REQUIRES: it was taken out of Clients.
  void client_left(const Client& client) {
    if (!client.control_unanswered.empty()) control_->client_left(client);
  }

 private:
  void answer(Client& client, const Frame& request);
  Control::Reply reply_to(Client& client, const Frame& request, AnswerOrder order,
                          bool is_delivery);
  Control::Reply reply_to(Client& client, Client::UnansweredControl unanswered, bool is_modern,
                          bool confidential, AnswerOrder order);

  const RouterContext context_;
  Control* control_ = nullptr;
  std::uint64_t last_number_ = 0;
};

}  // namespace bridge
