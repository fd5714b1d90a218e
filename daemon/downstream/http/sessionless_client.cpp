#include "downstream/http/sessionless_client.hpp"

#include <utility>

#include "downstream/http/fan_out.hpp"

namespace bridge {

SessionlessClient::SessionlessClient(FaceContext& context, std::string agent)
    : context_(context), agent_(std::move(agent)) {
  identity_.id = context.ids.next();
  identity_.kind = "http";
  identity_.connected = context.loop.now();
}

void SessionlessClient::begin_post(HttpConnection& connection, PendingPost::Asked asked) {
  post_ = std::make_unique<PendingPost>(context_, connection, nullptr, std::move(asked), *this);
  post_->begin();
}

void SessionlessClient::abandon_requests(const std::vector<std::string>& raw_ids) {
  for (const std::string& raw_id : raw_ids)
    context_.events.client_line(identity_.id, cancellation_of(raw_id));
}

void SessionlessClient::post_over(PendingPost&) { context_.loop.reap(std::move(post_)); }

void SessionlessClient::finish() { context_.client_over(*this); }

bool SessionlessClient::is_awaited(std::string_view request_id) const {
  return post_ != nullptr && post_->awaits(request_id);
}

void SessionlessClient::answer(std::string_view request_id, std::string frame, AnswerOrder) {
  if (post_ == nullptr) {
    context_.fan_out->publish(frame);
  } else {
    context_.fan_out->publish_if_all(frame);
  }
  if (is_awaited(request_id)) post_->answer(request_id, std::move(frame));
}

void SessionlessClient::send_about(std::string_view request_id, std::string frame) {
  context_.fan_out->publish_about(frame, post_ == nullptr);
  if (is_awaited(request_id)) post_->send(frame);
}

void SessionlessClient::no_answer(std::string_view request_id) {
  if (is_awaited(request_id)) post_->no_answer(request_id);
}

}  // namespace bridge
