#include "router/refused_question.hpp"

#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "json/json_text.hpp"
#include "json/reply.hpp"
#include "router/clients.hpp"
#include "router/requests_in_flight.hpp"

namespace bridge {
namespace {

constexpr std::size_t longest_message_told = 4096;

}  // namespace

void tell_of_refusal(const ServerRequest& request, const RequestsInFlight& in_flight,
                     const Clients& clients) {
  // A question that ends the call is named in the call's error.
  if (request.is_question() && request.method != "elicitation/create") return;
  std::vector<UpstreamId> about;
  in_flight.each([&](UpstreamId id, const PendingRequest& pending) {
    const bool is_possible = request.origin ? request.origin == id : pending.is_upstream;
    if (is_possible && !pending.is_own) about.push_back(id);
  });
  if (about.size() != 1) return;
  const PendingRequest& pending = *in_flight.find(about.front());
  Client* const client = clients.find(pending.client);
  if (client == nullptr || client->is_job || pending.modern || client->declared.has_declared())
    return;
  const std::string_view params = find_member(request.line, "params").value_or("{}");
  std::string_view message = find_member(params, "message").value_or("");
  if (!is_string(message) || message.size() > longest_message_told) message = "null";
  client->channel.send_about(pending.client_request_id,
                             own_notification("notifications/bridge/question_refused",
                                              fmt::format(R"({{"method":{},"message":{}}})",
                                                          quote(request.method), message)));
}

}  // namespace bridge
