#include "router/request_log.hpp"

#include <algorithm>
#include <chrono>
#include <memory>

#include "json/json_object.hpp"
#include "json/json_text.hpp"
#include "json/reply.hpp"

namespace bridge {
namespace {

/// version "-" trace-id "-" parent-id "-" flags, in lower-case hexadecimal digits.
constexpr std::string_view traceparent_form =
    "xx-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx-xxxxxxxxxxxxxxxx-xx";

/// Only a client's request has one.
std::optional<ClientId> id_of(const Client* client) {
  return client != nullptr ? std::optional(client->id()) : std::nullopt;
}

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

LogFields RequestLog::fields_of(UpstreamId id, const Call& call) {
  LogFields fields;
  fields.client = id_of(call.client());
  fields.request = call.client_request_id;
  fields.upstream = id;
  fields.method = call.method;
  if (call.traceparent) fields.traceparent = *call.traceparent;
  return fields;
}

void RequestLog::started(UpstreamId id, Call& call, const Frame& frame) {
  if (!log_.enabled(LogLevel::debug)) return;
  call.traceparent = std::make_unique<const std::string>(traceparent_of(frame.text(frame.params)));
  log_.event(LogLevel::debug, "request started", fields_of(id, call),
             "a request goes to the upstream");
}

void RequestLog::request_ended(UpstreamId id, const Call& call, Outcome outcome) {
  statistics_.count_end(class_of(call.method), outcome);
  if (!log_.enabled(LogLevel::debug)) return;
  const auto duration = loop_.now() - call.received;
  LogFields fields = fields_of(id, call);
  fields.outcome = name_of(outcome);
  fields.duration = std::chrono::duration_cast<std::chrono::microseconds>(duration);
  log_.event(LogLevel::debug, "request ended", fields, "a request has ended");
}

void RequestLog::failed(UpstreamId id, const Call& call, const Failure& failure) {
  log_.peer(LogLevel::info, "request failed", fields_of(id, call), "a request has failed: {}: {}",
            name_of(failure.kind), log_text(failure));
}

void RequestLog::deny(Caller& caller, std::string_view method, std::string_view raw_id,
                      const Failure& failure) {
  statistics_.count_end(class_of(method), Outcome::bridge_error);
  ++statistics_.bridge_errors[static_cast<std::size_t>(failure.kind)];
  log_.peer(LogLevel::info, "request refused",
            {.client = id_of(caller.client()), .request = raw_id, .method = method},
            "a request of uid {} was refused by the policy: {}", caller.user.uid,
            name_of(failure.kind));
  caller.fail(raw_id, failure);
}

void RequestLog::answer_with(Caller& caller, std::string_view method, std::string_view raw_id,
                             const Failure& failure) {
  statistics_.failed(loop_.wall_time(), failure.kind, failure.message);
  if (!caller.acts_for_user()) {
    caller.fail(raw_id, failure);
    return;
  }
  // An error object comes from the upstream and is only passed on.
  const bool is_upstreams = !failure.error_object.empty();
  const Outcome outcome = is_upstreams ? Outcome::error : Outcome::bridge_error;
  statistics_.count_end(class_of(method), outcome);
  if (!is_upstreams) ++statistics_.bridge_errors[static_cast<std::size_t>(failure.kind)];
  if (log_.enabled(LogLevel::debug)) {
    log_.event(LogLevel::debug, "request ended",
               {.client = id_of(caller.client()),
                .request = raw_id,
                .method = method,
                .outcome = name_of(outcome)},
               "a request was answered with an error: {}", log_text(failure));
  }
  caller.fail(raw_id, failure);
}

void RequestLog::answer_result(Client& client, const Frame& request, std::string_view result) {
  statistics_.count_end(class_of(request.method), Outcome::ok);
  const std::string_view id = request.text(request.id);
  client.channel.answer(id, result_reply(id, result), AnswerOrder::in_order);
}

void RequestLog::answer_error(Client& client, const Frame& request, std::string_view error) {
  statistics_.count_end(class_of(request.method), Outcome::error);
  const std::string_view id = request.text(request.id);
  client.channel.answer(
      id, json_rpc_message().add("id", RawJson{id}).add("error", RawJson{error}).text(),
      AnswerOrder::in_order);
}

void RequestLog::answer_error(Client& client, const Frame& request, int code,
                              std::string_view message) {
  answer_error(client, request, JsonObject().add("code", code).add("message", message).text());
}

}  // namespace bridge
