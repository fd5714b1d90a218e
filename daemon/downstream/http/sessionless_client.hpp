#pragma once

#include <string>
#include <utility>

#include "downstream/http/fan_out.hpp"
#include "downstream/http/pending_post.hpp"

namespace bridge {

/// The client that a POST without a session is, for as long as its requests are in flight. It is
/// fed no notifications and asked nothing: it could not answer. A caller that goes away does not
/// end it.
class SessionlessClient final : public ClientChannel {
 public:
  /// `exchange` is null for an asynchronous POST: the answers go to the subscribers of /mcp/stream.
  SessionlessClient(FaceContext& context, PendingPost* exchange, std::string agent)
      : context_(context), exchange_(exchange), agent_(std::move(agent)) {
    identity_.id = context.ids.next();
    identity_.kind = "http";
    identity_.connected = context_.loop.now();
  }

  /// It is still known to the router.
  /// Nobody waits for its answers any more.
  void leave_exchange() { exchange_ = nullptr; }

  void send(std::string) override {}
  void send_ahead(std::string) override {}
  void answer(std::string_view request_id, std::string frame, AnswerOrder) override {
    if (exchange_ == nullptr) {
      context_.fan_out->publish(frame);
    } else {
      context_.fan_out->publish_if_all(frame);
    }
    if (exchange_ != nullptr && exchange_->awaits(request_id))
      exchange_->answer(request_id, std::move(frame));
  }
  void send_about(std::string_view request_id, std::string frame) override {
    context_.fan_out->publish_about(frame, exchange_ == nullptr);
    if (exchange_ != nullptr && exchange_->awaits(request_id)) exchange_->send(frame);
  }
  void no_answer(std::string_view request_id) override {
    if (exchange_ != nullptr && exchange_->awaits(request_id)) exchange_->no_answer(request_id);
  }
  bool can_be_asked(std::string_view) const override { return false; }
  bool answers_unasked() const override { return context_.options.fans_out_all; }
  void set_feed(RingFeed) override {}
  void finish() override {
    known_ = false;
    context_.over_clients.push_back(identity_.id);
  }
  std::size_t queued_bytes() const override { return 0; }
  bool congested() const override { return false; }
  const ClientIdentity& identity() const override { return identity_; }
  std::string command() const override { return agent_; }

 private:
  FaceContext& context_;
  PendingPost* exchange_;
  std::string agent_;
  ClientIdentity identity_;
  bool known_ = true;
};

}  // namespace bridge
