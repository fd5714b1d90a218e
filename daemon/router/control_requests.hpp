#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "json/frame.hpp"
#include "router/control.hpp"
#include "router/router_context.hpp"

namespace bridge {

/// The `bridge/*` requests of clients. They wait only for room in their own client's queue: while a
/// client does not read, it is not read from either. Owned by the router; the loop's thread only.
class ControlRequests {
 public:
  explicit ControlRequests(const RouterContext& context) : context_(context) {}
  void set_control(Control& control) { control_ = &control; }

  ControlFacts facts_of(std::string_view method) const {
    return control_ != nullptr ? control_->facts_of(method) : ControlFacts{};
  }
  void queue_request(Client& client, Frame request);
  /// Control::list_tools().
  bool list_tools(Control::Reply done) {
    return control_ != nullptr && control_->list_tools(std::move(done));
  }
  /// Keeps the result of the client's request as a job, and also answers the request. Returns the
  /// job's id; empty: not kept.
  std::string keep_for_later(Client& client, const Frame& request);
  /// The reply to a request that was pending in the previous process and still waits.
  Control::Reply reply_continued(Client& client, std::string_view raw_id);
  /// The clients' rules were looked up again: requests of clients without one that wait are denied.
  void policy_changed();
  /// The client's queue has room again, or was restored after an upgrade.
  void answer_waiting(Client& client);
  /// The unanswered requests of this client that the new process handles again after an upgrade.
  static std::vector<std::string> to_handle_again(const Client& client);
  /// The daemon is being upgraded: all other unanswered requests fail, except deliveries.
  void fail_unanswered(const Failure& failure);
  /// Stops waiting for the answer with this id; false if no such answer is pending.
  bool cancel(Client& client, std::string_view raw_id);
  void client_can_be_asked(const Client& client) {
    if (!client.control_unanswered.empty()) control_->client_can_be_asked(client);
  }
  void client_half_closed(const Client& client) {
    if (!client.control_unanswered.empty()) control_->client_half_closed(client);
  }
  /// REQUIRES: the client was removed from Clients.
  void client_left(const Client& client) {
    if (!client.control_unanswered.empty()) control_->client_left(client);
  }

 private:
  std::optional<Failure> refusal(const Client& client, const Frame& request);
  void answer(Client& client, const Frame& request);
  Control::Reply reply_to(Client& client, const Frame& request, AnswerOrder order,
                          bool is_delivery);
  Control::Reply reply_to(Client& client, Client::UnansweredControl unanswered, bool typed,
                          bool confidential, AnswerOrder order);

  const RouterContext context_;
  Control* control_ = nullptr;
  std::uint64_t last_number_ = 0;
};

}  // namespace bridge
