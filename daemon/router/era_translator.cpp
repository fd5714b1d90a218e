#include "router/era_translator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>
#include <variant>

#include "json/json_edit.hpp"
#include "json/json_object.hpp"
#include "json/json_text.hpp"
#include "json/reply.hpp"
#include "mcp/handshake.hpp"
#include "mcp/input_required.hpp"
#include "mcp/methods.hpp"
#include "mcp/mirrored_headers.hpp"
#include "mcp/request_meta.hpp"

namespace bridge {

ToolHeaders KnownTools::read(const Frame& response) {
  std::size_t known = 0;
  for (const auto& [tool, headers] : headers_) known += headers.size();
  ToolHeaders found = read_tool_headers(response.text(response.result), known);
  for (auto& [tool, headers] : found.of_tools) headers_.insert_or_assign(tool, std::move(headers));
  return found;
}

void KnownTools::note(const Frame& response) { read(response); }

void KnownTools::keep(std::string_view asked_cursor, const Frame& response) {
  const auto page = list_.take_page(asked_cursor, response.text(response.result));
  if (page != ToolList::Page::repeats_cursor || std::exchange(has_warned_of_cursor_, true)) return;
  log_.peer(LogLevel::warning, "cursor repeated",
            "the upstream's tools/list repeats a nextCursor; the list is taken to end there");
}

Frame KnownTools::learn(Frame response) {
  const ToolHeaders found = read(response);
  if (found.invalid.empty()) return response;
  for (const InvalidTool& tool : found.invalid) {
    log_.peer(LogLevel::warning, "tool left out", "the tool {} is left out of tools/list: {}",
              printable(tool.name, 80), tool.reason);
  }
  return std::get<Frame>(
      parse_frame(without_items(response, "tools", [&found](std::size_t index, std::string_view) {
        return std::any_of(found.invalid.begin(), found.invalid.end(),
                           [index](const InvalidTool& tool) { return tool.index == index; });
      })));
}

using namespace std::string_view_literals;
namespace {

/// What a job's request declares: it may become a task.
constexpr std::string_view with_tasks = R"({"extensions":{"io.modelcontextprotocol/tasks":{}}})";

constexpr std::string_view quoted_newest_version = R"("2026-07-28")";

/// Methods that 2026-07-28 has removed.
constexpr std::array<std::string_view, 5> removed_methods = {
    "initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"};

std::string error_object(int code, std::string_view message) {
  return JsonObject().add("code", code).add("message", message).text();
}

/// The bridge's own bytes, or bytes edited without deeper nesting.
Frame frame_of(std::string bytes) { return std::get<Frame>(parse_frame(std::move(bytes))); }

/// The level in the params of `logging/setLevel`, with quotes; empty: not one of the eight.
std::string level_of(std::string_view params) {
  const std::string level = find_string(params, "level").value_or(std::string());
  return reaches_level(level, level) ? quote(level) : std::string();
}

}  // namespace

std::string EraTranslator::refusal_of(const Frame& request) {
  const std::string_view version = request.text(request.protocol_version);
  if (!same_id(version, quoted_newest_version))
    return unsupported_version_error(version, Era::modern);
  if (const char* missing = missing_request_meta(request))
    return error_object(json_rpc::invalid_params, missing);
  if (std::find(removed_methods.begin(), removed_methods.end(), request.method) !=
      removed_methods.end()) {
    return error_object(json_rpc::method_not_found, "Method not found");
  }
  return {};
}

std::optional<EraTranslator::OwnAnswer> EraTranslator::own_answer(const Frame& request) const {
  const Session& session = context_.session;
  const Era era = request.is_modern() ? Era::modern : Era::legacy;
  const Era side = session.side_for(era);
  const auto refused = [](int code, std::string_view why) {
    return OwnAnswer{{}, error_object(code, why)};
  };
  if (request.has_ambiguous_params && (request.is_modern() || session.mirrors_headers(side))) {
    return refused(json_rpc::invalid_request, "Invalid Request: duplicate member in params");
  }
  if (side == era) return std::nullopt;
  if (request.method.starts_with("tasks/")) {
    return refused(json_rpc::method_not_found,
                   "Method not found: the server speaks another revision of MCP, and tasks are not "
                   "translated between them");
  }
  const bool is_own = side == Era::modern && request.method != "initialize" &&
                      std::find(removed_methods.begin(), removed_methods.end(), request.method) !=
                          removed_methods.end();
  if (!is_own) return std::nullopt;
  const std::string_view params = request.text(request.params);
  if (request.method == "logging/setLevel" && level_of(params).empty())
    return refused(json_rpc::invalid_params,
                   "Invalid params: level is not one of the eight log levels");
  if (request.method.starts_with("resources/")) {
    if (!find_string(params, "uri"))
      return refused(json_rpc::invalid_params, "Invalid params: uri is missing");
    if (!session.server_for(era)->declares("resources", "subscribe")) {
      return refused(json_rpc::method_not_found,
                     "Method not found: the server does not report changes of its resources");
    }
  }
  return OwnAnswer{"{}", {}};
}

bool EraTranslator::swallows(const Frame& notification, Era client) const {
  return context_.session.side_for(client) == Era::modern &&
         notification.method == "notifications/roots/list_changed";
}

void EraTranslator::note(const Frame& request, Call& call) const {
  if (request.is_modern()) {
    call.modern = std::make_unique<ModernRequest>();
    call.modern->declared.initialize(request.text(request.reserved.client_capabilities));
    call.modern->declared.initialized();
    if (const std::string_view level = request.text(request.reserved.log_level); is_string(level))
      call.modern->log_level = unescape(level.substr(1, level.size() - 2));
    if (call.side == Era::legacy && may_require_input(request.method) &&
        call.modern->declared.has_capabilities())
      call.modern->digest = request_digest(request);
  } else if (call.side == Era::modern && may_require_input(request.method)) {
    call.rounds = std::make_unique<InputRound>();
    call.rounds->original = request.bytes;
  }
}

std::string EraTranslator::capabilities_of(const Caller* caller) const {
  const Client* const client = caller != nullptr ? caller->client() : nullptr;
  if (client != nullptr && !client->capabilities.empty()) return client->capabilities;
  std::string own = context_.options.client_capabilities;
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

/// A call as a task, if the server's tool supports that (MCP 2025-11-25, "Tasks: Tool-Level
/// Negotiation").
Frame EraTranslator::as_task(Frame call) const {
  const Era era = call.is_modern() ? Era::modern : Era::legacy;
  const ServerDescription* const server = context_.session.server_for(era);
  if (call.method != "tools/call" || context_.session.side_for(era) == Era::modern ||
      server == nullptr || !server->makes_calls_tasks())
    return call;
  const std::string_view params = call.text(call.params);
  const std::string_view tool = tools_.list().find(find_string(params, "name").value_or(""));
  const auto support = find_string(find_member(tool, "execution").value_or(""), "taskSupport");
  if ((support != "required" && support != "optional") || find_member(params, "task")) return call;
  Edits edits;
  add_members(edits, call.bytes, call.params, R"("task":{"ttl":86400000})");
  return frame_of(edits.made_in(call.bytes));
}

std::string EraTranslator::make_for_upstream(Frame&& request, const Caller* caller, Era side,
                                             Outgoing& message) const {
  const Session& session = context_.session;
  const Client* const client = caller != nullptr ? caller->client() : nullptr;
  if (caller != nullptr && client == nullptr && caller->acts_for_user())
    request = as_task(std::move(request));
  if (side == Era::modern && !request.is_modern()) {
    const std::string capabilities = capabilities_of(caller);
    const std::string known_level = level_of(restorable_.log_level_params());
    RequestIdentity identity;
    identity.client_capabilities = capabilities;
    identity.client_info = client != nullptr && !client->info.empty()
                               ? std::string_view(client->info)
                               : std::string_view(own_client_info);
    identity.log_level = known_level;
    request = with_request_meta(std::move(request), identity);
  } else if (side == Era::legacy && request.is_modern()) {
    request = without_request_meta(std::move(request));
  }
  std::string unsendable;
  message.headers.clear();
  if (session.mirrors_headers(side)) {
    MirroredHeaders mirrored = mirrored_headers(request, tools_.annotations());
    message.headers = std::move(mirrored.lines);
    unsendable = std::move(mirrored.unsendable);
  }
  message.body = std::move(request.bytes);
  const std::string number = std::to_string(value_of(message.id));
  splice(message.body, {request.id, number}, {request.progress_token, number});
  return unsendable;
}

void EraTranslator::mirror_again(Outgoing& message) const {
  Frame frame = frame_of(std::move(message.body));
  message.headers = mirrored_headers(frame, tools_.annotations()).lines;
  message.body = std::move(frame.bytes);
}

void EraTranslator::translate_for_client(Frame& response, const Call& call) {
  const bool modern_upstream = call.side == Era::modern;
  if (call.method == "tools/list"sv && response.result.present()) {
    if (context_.session.mirrors_headers(call.side)) {
      response = tools_.learn(std::move(response));
    } else if (call.era == Era::modern) {
      tools_.note(response);  // its client may mirror them to the HTTP frontend
    }
    if (call.side == context_.session.ring_source()) tools_.keep(call.subject, response);
  }
  if (!modern_upstream && call.era == Era::modern) {
    if (!call.modern->undeclared.empty() && has_failed(response)) {
      response = missing_capability(response, call.modern->undeclared,
                                    call.modern->undeclared_by_one_of_several);
      return;
    }
    const bool answers_urls =
        call.modern->declared.covers("elicitation/create", AskedFor::elicitation_url);
    response = for_modern_client(std::move(response), call.method, answers_urls);
    return;
  }
  const bool is_task_of_job = modern_upstream &&
                              same_id(response.text(response.result_type), "\"task\"") &&
                              call.job != nullptr;
  if (modern_upstream && call.era == Era::legacy && !is_complete(response) && !is_task_of_job) {
    const Failure failure = failure_of(
        ErrorKind::malformed, Delivered::unknown,
        fmt::format("the upstream answers with a result of the type {}, which this client does not "
                    "know",
                    printable(response.text(response.result_type), 40)));
    response = frame_of(error_reply(response.text(response.id), failure));
  }
}

bool EraTranslator::is_for_client(const Frame& notification, const Call& call) const {
  return call.era == Era::legacy || call.side == Era::modern ||
         notification.method != "notifications/message" || reaches(notification, call);
}

bool EraTranslator::reaches(const Frame& log_message, const Call& call) const {
  const std::string_view params = log_message.text(log_message.params);
  return reaches_level(find_string(params, "level").value_or(""), call.modern->log_level);
}

}  // namespace bridge
