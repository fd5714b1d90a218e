#include "router/crossing/forms.hpp"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "json/json_object.hpp"
#include "json/json_text.hpp"
#include "json/reply.hpp"
#include "mcp/capabilities.hpp"
#include "mcp/input_required.hpp"
#include "mcp/methods.hpp"
#include "mcp/request_meta.hpp"

namespace bridge {
namespace {

/// What a legacy server may ask about a modern client's request, besides elicitation.
constexpr std::string_view asked_of_modern_clients = R"({"sampling":{},"roots":{}})";

/// What a job's request declares: it may become a task.
constexpr std::string_view with_tasks = R"({"extensions":{"io.modelcontextprotocol/tasks":{}}})";

/// The level in the params of `logging/setLevel`, with quotes; empty: not one of the eight.
std::string level_of(std::string_view params) {
  const std::string level = find_string(params, "level").value_or(std::string());
  return reaches_level(level, level) ? quote(level) : std::string();
}

OwnAnswer refused(int code, std::string_view why) {
  return {{}, JsonObject().add("code", code).add("message", why).text()};
}

/// What a request to a modern server declares.
std::string capabilities_of(const Caller* caller, const RouterOptions& options) {
  const Client* const client = caller != nullptr ? caller->client() : nullptr;
  if (client != nullptr && !client->capabilities.empty()) return client->capabilities;
  std::string own = options.client_capabilities;
  if (own.empty()) own = "{}";
  if (caller == nullptr || !caller->acts_for_user()) return own;
  if (client == nullptr)
    return merge_capabilities(merge_capabilities(own, with_tasks), own_capabilities);
  if (client->declared.covers("elicitation/create", {}))
    own = merge_capabilities(own, own_capabilities);
  return client->declared.covers("roots/list", AskedFor::roots)
             ? merge_capabilities(own, R"({"roots":{}})")
             : own;
}

}  // namespace

void set_sides(Call& call, const Frame& request, const Session& session) {
  call.era = request.is_modern() ? Era::modern : Era::legacy;
  call.side = session.side_for(call.era);
  if (call.era == Era::modern) {
    const std::string_view level = request.text(request.reserved.log_level);
    // A longer one is none of MCP's.
    const bool may_be_one = is_string(level) && level.size() <= 64;
    call.log_level = may_be_one ? unescape(level.substr(1, level.size() - 2)) : "";
  }
  set_crossing(call, request);
}

void set_crossing(Call& call, const Frame& request) {
  const bool crosses = call.era != call.side;
  if (!crosses || call.era == Era::modern) call.to_modern.reset();
  if (!crosses || call.era == Era::legacy) call.to_legacy.reset();
  if (!crosses) return;
  if (call.era == Era::legacy) {
    if (request.is_modern() && call.to_modern != nullptr) return;  // it is sent again
    std::string kept;                                              // moved: it may be large
    if (may_require_input(request.method)) kept = request.bytes;
    call.to_modern = std::make_unique<LegacyToModern>(std::move(kept));
  } else if (call.to_legacy == nullptr) {
    call.to_legacy = std::make_unique<ModernToLegacy>(request);
  } else if (request.is_modern()) {
    call.to_legacy->take_request(request);
  }
}

Frame in_other_form(Frame request, const Caller* caller, const RouterContext& context,
                    const RestorableState& restorable) {
  if (request.is_modern()) return without_request_meta(std::move(request));
  const Client* const client = caller != nullptr ? caller->client() : nullptr;
  const std::string capabilities = capabilities_of(caller, context.options);
  const std::string known_level = level_of(restorable.log_level_params());
  RequestIdentity identity;
  identity.client_capabilities = capabilities;
  identity.client_info = client != nullptr && !client->info.empty()
                             ? std::string_view(client->info)
                             : std::string_view(own_client_info);
  identity.log_level = known_level;
  return with_request_meta(std::move(request), identity);
}

Frame for_client_of(const Call& call, Frame response) {
  if (call.to_legacy != nullptr) return call.to_legacy->to_client(std::move(response), call.method);
  const bool is_task_of_job =
      call.job != nullptr && same_id(response.text(response.result_type), "\"task\"");
  if (is_complete(response) || is_task_of_job) return response;
  const Failure failure = failure_of(
      ErrorKind::malformed, Delivered::unknown,
      fmt::format("the upstream answers with a result of the type {}, which this client does not "
                  "know",
                  printable(response.text(response.result_type), 40)));
  return std::get<Frame>(parse_frame(error_reply(response.text(response.id), failure)));
}

std::optional<OwnAnswer> answer_across(const Frame& request, const EraSession& session) {
  if (has_form_for(session, request)) return std::nullopt;
  if (request.method.starts_with("tasks/")) {
    return refused(json_rpc::method_not_found,
                   "Method not found: the server speaks another revision of MCP, and tasks are not "
                   "translated between them");
  }
  if (request.is_modern() || request.method == "initialize" || !is_only_legacy(request.method))
    return std::nullopt;
  const std::string_view params = request.text(request.params);
  if (request.method == "logging/setLevel" && level_of(params).empty())
    return refused(json_rpc::invalid_params,
                   "Invalid params: level is not one of the eight log levels");
  if (request.method.starts_with("resources/")) {
    if (!find_string(params, "uri"))
      return refused(json_rpc::invalid_params, "Invalid params: uri is missing");
    if (!session.server()->declares("resources", "subscribe")) {
      return refused(json_rpc::method_not_found,
                     "Method not found: the server does not report changes of its resources");
    }
  }
  return OwnAnswer{"{}", {}};
}

bool is_ambiguous(const Frame& request, EraSession& session) {
  return request.has_ambiguous_params &&
         (request.is_modern() || session.sender().mirrors_headers());
}

bool is_unknown_to(const EraSession& session, const Frame& notification) {
  return session.is_modern() && notification.method == "notifications/roots/list_changed";
}

std::string capabilities_of_opener_among(const Clients& clients) {
  const WaitingFrame* first = nullptr;
  for (const auto& [id, client] : clients) {
    if (client->waiting.empty()) continue;
    const WaitingFrame& front = client->waiting.front();
    if (!front.frame.is_modern() && !client->declared.covers("roots/list", AskedFor::roots))
      continue;
    if (first == nullptr || front.since < first->since) first = &front;
  }
  if (first == nullptr) return {};
  const Frame& frame = first->frame;
  if (!frame.is_modern()) return R"({"roots":{"listChanged":true}})";
  // Other modern clients may declare more; questions that the request's client did not declare are
  // refused.
  const std::string_view declared = frame.text(frame.reserved.client_capabilities);
  return merge_capabilities(declared.size() <= longest_capabilities ? declared : "{}",
                            asked_of_modern_clients);
}

}  // namespace bridge
