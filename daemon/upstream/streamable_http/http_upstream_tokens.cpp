// The token that goes with every message: had, fetched, refused.
#include <utility>

#include "upstream/streamable_http/http_upstream.hpp"

namespace bridge {

bool HttpUpstream::has_token() {
  const auto token = tokens_->current();
  if (token) context_.set_token(*token);
  return token.has_value();
}

void HttpUpstream::fetch_token() {
  if (std::exchange(fetching_token_, true)) return;
  tokens_->fetch([this](const TokenAnswer& answer) { token_arrived(answer); });
}

// One fetch for all who wait.
void HttpUpstream::token_arrived(const TokenAnswer& answer) {
  fetching_token_ = false;
  std::deque<Outgoing> waiting = std::exchange(awaiting_token_, {});
  if (answer.failure) {
    ++context_.counts().token_failures;
    std::deque<Outgoing> others = deliveries_.take_all();
    std::move(others.begin(), others.end(), std::back_inserter(waiting));
    for (Outgoing& message : waiting) give_back(std::move(message), *answer.failure);
  } else {
    context_.set_token(answer.token);
    for (Outgoing& message : waiting) begin_exchange(std::move(message));
    start_deliveries();
  }
  for (const auto& ready : std::exchange(others_awaiting_token_, {})) ready(answer.failure);
}

void HttpUpstream::give_back(Outgoing message, Failure failure) {
  const UpstreamId id = message.id;
  Ending ending;
  ending.failure = std::move(failure);
  ending.unanswered = std::move(message);
  events_->upstream_ended(id, std::move(ending));
}

void HttpUpstream::with_token(std::function<void(const std::optional<Failure>&)> ready) {
  if (has_token()) {
    ready(std::nullopt);
  } else {
    others_awaiting_token_.push_back(std::move(ready));
    fetch_token();
  }
}

bool HttpUpstream::token_was_refused(int generation, const TokenChallenge& challenge) {
  return generation != context_.token_generation() || tokens_->refused(context_.token(), challenge);
}

bool HttpUpstream::try_another_token(Exchange& exchange, Ending& ending) {
  if (!ending.failure || !ending.unanswered || ending.unanswered->authorizations > 0) return false;
  const int status = ending.failure->status;
  if (status != 401 && status != 403) return false;
  if (!token_was_refused(exchange.token_generation(), {status, exchange.head().www_authenticate}))
    return false;
  ++ending.unanswered->authorizations;
  return true;
}

bool HttpUpstream::exchange_unauthorized(const Exchange& exchange) {
  const ResponseHead& head = exchange.head();
  if (!token_was_refused(exchange.token_generation(), {head.status, head.www_authenticate}))
    return false;
  if (!has_token()) fetch_token();
  return true;
}

void HttpUpstream::stream_unauthorized(int status, const std::string& challenge,
                                       int token_generation) {
  if (token_was_refused(token_generation, {status, challenge}) && !has_token()) fetch_token();
}

}  // namespace bridge
