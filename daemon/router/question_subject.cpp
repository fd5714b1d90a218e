#include "router/question_subject.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <vector>

#include "mcp/input_required.hpp"
#include "mcp/methods.hpp"
#include "router/requests_in_flight.hpp"
#include "router/server_requests.hpp"

namespace bridge {

std::optional<UpstreamId> QuestionSubject::call(std::optional<UpstreamId> origin,
                                                const Frame& request) const {
  if (!origin) return likely_call(request);
  return covers(*origin, request.method, request.text(request.params)) ? origin : std::nullopt;
}

/// One that does not say what it is about goes to whom it would go among all clients that answer
/// it, a modern one being such a client while a call of it is in flight. If there is nobody, to a
/// call that is suspended, but not while another is in flight: the server waits for what it has
/// asked about the one already, so it is more likely about the other.
std::optional<UpstreamId> QuestionSubject::likely_call(const Frame& request) const {
  const std::string_view params = request.text(request.params);
  std::map<ClientId, UpstreamId> calls;  // of each client the oldest
  std::optional<UpstreamId> suspended;
  bool others_in_flight = false;
  in_flight_.each([&](UpstreamId id, const PendingRequest& pending) {
    others_in_flight =
        others_in_flight || (pending.is_upstream && !pending.suspended &&
                             pending.side == Era::legacy && may_require_input(pending.method));
    if (!pending.modern || !covers(id, request.method, params)) return;
    if (pending.suspended) {
      suspended = std::min(id, suspended.value_or(id));
    } else if (pending.client) {
      UpstreamId& oldest = calls.try_emplace(*pending.client, id).first->second;
      oldest = std::min(oldest, id);
    }
  });
  if (calls.empty() && !suspended) return std::nullopt;
  std::vector<Askable> able = server_requests_.askable(request.method, params);
  for (const auto& [client, id] : calls) {
    std::erase_if(able, [its = client](const Askable& one) { return one.client == its; });
    able.push_back({client, false, true, false, false});
  }
  std::sort(able.begin(), able.end(),
            [](const Askable& left, const Askable& right) { return left.client < right.client; });
  const auto asked = who_is_asked(able);
  if (!asked) return others_in_flight ? std::nullopt : suspended;
  const auto found = calls.find(*asked);
  return found == calls.end() ? std::nullopt : std::optional(found->second);
}

bool QuestionSubject::covers(UpstreamId id, std::string_view method,
                             std::string_view params) const {
  const PendingRequest* const pending = in_flight_.find(id);
  return pending != nullptr && pending->modern && pending->side == Era::legacy &&
         may_require_input(pending->method) &&
         pending->modern->declared.covers(method, asked_for(method, params));
}

}  // namespace bridge
