#include "router/request_log.hpp"

#include <algorithm>
#include <chrono>
#include <memory>

#include "json/json_text.hpp"
#include "json/reply.hpp"

namespace bridge {
namespace {

/// version "-" trace-id "-" parent-id "-" flags, in lower-case hexadecimal digits.
constexpr std::string_view traceparent_form =
    "xx-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx-xxxxxxxxxxxxxxxx-xx";

bool is_traceparent(std::string_view text) {
  return std::equal(text.begin(), text.end(), traceparent_form.begin(), traceparent_form.end(),
                    [](char c, char form) {
                      return form == '-' ? c == '-'
                                         : (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
                    });
}

}  // namespace

std::string traceparent_of(std::string_view params) {
  const auto meta = find_member(params, "_meta");
  if (!meta) return {};
  auto found = find_string(*meta, "traceparent");
  return found && is_traceparent(*found) ? std::move(*found) : std::string();
}

LogFields RequestLog::fields_of(UpstreamId id, const PendingRequest& request) {
  LogFields fields;
  fields.client = request.client;
  fields.request = request.client_request_id;
  fields.upstream = id;
  fields.method = request.method;
  if (request.traceparent) fields.traceparent = *request.traceparent;
  return fields;
}

void RequestLog::started(UpstreamId id, PendingRequest& request, const Frame& frame) {
  if (!log_.enabled(LogLevel::debug)) return;
  request.traceparent =
      std::make_unique<const std::string>(traceparent_of(frame.text(frame.params)));
  log_.event(LogLevel::debug, "request started", fields_of(id, request),
             "a request goes to the upstream");
}

void RequestLog::ended(UpstreamId id, const PendingRequest& request, Outcome outcome) {
  statistics_.end(class_of(request.method), outcome);
  if (!log_.enabled(LogLevel::debug)) return;
  const auto duration = loop_.now() - request.received;
  LogFields fields = fields_of(id, request);
  fields.outcome = name_of(outcome);
  fields.duration = std::chrono::duration_cast<std::chrono::microseconds>(duration);
  log_.event(LogLevel::debug, "request ended", fields, "a request has ended");
}

void RequestLog::failed(UpstreamId id, const PendingRequest& request, const Failure& failure) {
  log_.peer(LogLevel::info, "request failed", fields_of(id, request),
            "a request has failed: {}: {}", name_of(failure.kind), log_text(failure));
}

void RequestLog::deny(Client& client, std::string_view method, std::string_view raw_id,
                      const Failure& failure) {
  statistics_.end(class_of(method), Outcome::bridge_error);
  ++statistics_.bridge_errors[static_cast<std::size_t>(failure.kind)];
  log_.peer(LogLevel::info, "request refused",
            {.client = client.id(), .request = raw_id, .method = method},
            "a request of uid {} was refused by the policy: {}", client.channel.identity().uid,
            name_of(failure.kind));
  client.channel.answer(raw_id, error_reply(raw_id, failure), AnswerOrder::in_order);
}

void RequestLog::answer_with(Client& client, std::string_view method, std::string_view raw_id,
                             const Failure& failure) {
  // An error object is the upstream's own, and only passed on.
  const bool is_upstreams = !failure.error_object.empty();
  const Outcome outcome = is_upstreams ? Outcome::error : Outcome::bridge_error;
  statistics_.end(class_of(method), outcome);
  if (!is_upstreams) ++statistics_.bridge_errors[static_cast<std::size_t>(failure.kind)];
  statistics_.failed(loop_.wall_time(), failure.kind, failure.message);
  if (log_.enabled(LogLevel::debug)) {
    log_.event(
        LogLevel::debug, "request ended",
        {.client = client.id(), .request = raw_id, .method = method, .outcome = name_of(outcome)},
        "a request was answered with an error: {}", log_text(failure));
  }
  client.channel.answer(raw_id, error_reply(raw_id, failure), AnswerOrder::in_order);
}

}  // namespace bridge
