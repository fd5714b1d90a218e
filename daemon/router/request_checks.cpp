#include "router/request_checks.hpp"

#include <string>

#include "json/reply.hpp"
#include "mcp/methods.hpp"
#include "router/audit_trail.hpp"
#include "router/permissions.hpp"
#include "router/request_log.hpp"

namespace bridge {

bool RequestChecks::needs_tools(const Caller& caller) const {
  if (!context_.permissions.is_on() || caller.waiting.empty()) return false;
  const auto& [frame, since, job] = caller.waiting.front();
  return frame.is_request() &&
         context_.permissions.needs_tools(caller, job.get(), frame, tools_.list());
}

bool RequestChecks::refuse_denied(Caller& caller, const Frame& frame, const JobRequest* job) {
  Client* const client = caller.client();
  if (client != nullptr) {
    const bool has_expired = client->grant && context_.permissions.has_just_expired(*client->grant);
    if (has_expired) context_.permissions.take_rule(*client);
    const bool is_judged = !has_expired && !client->judged_before_change &&
                           (client->rule == nullptr || !client->rule->tools.wants_read_only());
    client->judged_before_change = client->judged_before_change && !client->waiting.empty();
    if (is_judged) return false;
  }
  const auto refusal = context_.permissions.refusal(caller, job, frame, tools_.list());
  if (refusal) context_.request_log.deny(caller, frame.method, frame.text(frame.id), *refusal);
  return refusal.has_value();
}

bool RequestChecks::refuse_over_rate(Client& client, const Frame& frame, std::uint64_t tokens,
                                     bool continues) {
  Grants& grants = context_.permissions.grants();
  const bool is_call = is_counted_call(frame.method);
  const bool is_round = continues && is_call && client.grant && grants.has_round(*client.grant);
  const auto refusal =
      context_.permissions.take_token(client, tokens, is_call && !is_round ? 1 : 0);
  if (!refusal && is_round) grants.take_round(*client.grant);
  if (refusal) context_.request_log.deny(client, frame.method, frame.text(frame.id), *refusal);
  return refusal.has_value();
}

bool RequestChecks::refuse_by_policy(Client& client, const Frame& frame, std::uint64_t tokens) {
  return context_.permissions.is_on() &&
         (refuse_denied(client, frame, nullptr) || refuse_over_rate(client, frame, tokens));
}

bool RequestChecks::is_denied(const Client& client, const Frame& notification) const {
  if (!client.may_take_part()) return true;
  return client.rule != nullptr && !notification.method.starts_with("notifications/") &&
         !context_.permissions.allows(client, notification, tools_.list());
}

bool RequestChecks::refuse_unrecorded(Caller& caller, const Frame& request, const JobRequest* job) {
  const bool may_send =
      job != nullptr ? context_.audit->may_send(*job)
                     : context_.audit->may_send(caller.client()->id(), request.text(request.id));
  if (may_send) return false;
  context_.request_log.answer_with(
      caller, request.method, request.text(request.id),
      failure_of(ErrorKind::audit, Delivered::no, std::string(unrecorded_refusal)));
  return true;
}

}  // namespace bridge
