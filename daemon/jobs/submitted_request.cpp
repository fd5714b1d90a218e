#include "jobs/submitted_request.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/log.hpp"
#include "json/frame.hpp"
#include "json/json_edit.hpp"
#include "json/json_object.hpp"
#include "json/json_text.hpp"
#include "json/member_names.hpp"
#include "mcp/methods.hpp"
#include "mcp/request_meta.hpp"
#include "text/characters.hpp"

namespace bridge {
namespace {

/// Methods of a connection, or answered by the bridge.
constexpr std::array<std::string_view, 7> of_connections = {
    "initialize",           "server/discover",  "ping",
    "subscriptions/listen", "logging/setLevel", "resources/subscribe",
    "resources/unsubscribe"};

/// A modern client's own description does not apply to a job, whose questions are answered
/// differently.
bool is_replaced(std::string_view raw_key) {
  const std::string key = unescape(raw_key);
  return key == meta_key::protocol_version || key == meta_key::client_capabilities ||
         key == meta_key::client_info || key == meta_key::log_level ||
         key == meta_key::subscription_id || key == meta_key::progress_token;
}

std::variant<Frame, std::string> parsed(std::string bytes) {
  auto frame = parse_frame(std::move(bytes));
  if (const auto* fault = std::get_if<FrameFault>(&frame))
    return fmt::format("Invalid params: not a valid request: {}", fault->reason);
  return std::move(std::get<Frame>(frame));
}

/// With the job's progress token, without what only a connection's request contains.
std::variant<Frame, std::string> as_job(Frame request, JobNumber number) {
  if (request.meta.present()) {
    auto stripped = parsed(without_meta_members(request, is_replaced));
    if (std::holds_alternative<std::string>(stripped)) return stripped;
    request = std::move(std::get<Frame>(stripped));
  }
  Edits edits;
  add_meta_members(edits, request, fmt::format(R"("progressToken":{})", value_of(number)));
  return parsed(edits.made_in(request.bytes));
}

/// Shortened; empty if it is not a call.
std::string tool_called(const Frame& request) {
  if (request.method != "tools/call") return {};
  return shortened(find_string(request.text(request.params), "name").value_or(""));
}

/// Parses what concerns the job but not its request. Returns an error message, or "".
std::string read_key_and_time(std::string_view params, SubmittedRequest& submitted) {
  if (const auto raw = find_member(params, "key")) {
    submitted.key = is_string(*raw) ? unescape(raw->substr(1, raw->size() - 2)) : std::string();
    if (submitted.key.empty() || submitted.key.size() > longest_key)
      return fmt::format("Invalid params: key is a string of 1 to {} bytes", longest_key);
  }
  if (const auto raw = find_member(params, "keepMs")) {
    const auto keep = to_unsigned(*raw);
    const auto most = std::chrono::milliseconds(longest_keep).count();
    if (!keep || *keep > static_cast<std::uint64_t>(most))
      return fmt::format("Invalid params: keepMs is a whole number of at most {}", most);
    submitted.keep = std::chrono::milliseconds(*keep);
  }
  return {};
}

}  // namespace

bool can_be_job(std::string_view method) {
  return !method.starts_with("bridge/") &&
         std::find(of_connections.begin(), of_connections.end(), method) == of_connections.end();
}

std::string shortened(std::string text) {
  text.resize(whole_characters(text, longest_shown_name).size());
  return text;
}

std::variant<SubmittedRequest, std::string> read_submitted(std::string_view params,
                                                           JobNumber number) {
  SubmittedRequest submitted;
  const std::string method = judged_method(find_string(params, "method").value_or(""));
  if (method.empty() || method.size() > longest_job_method)
    return fmt::format("Invalid params: method is a string of 1 to {} bytes", longest_job_method);
  if (!can_be_job(method))
    return fmt::format("Invalid params: {} cannot be submitted", printable(method, 80));
  const auto inner = find_member(params, "params");
  if (inner && !is_object(*inner)) return std::string("Invalid params: params is an object");
  if (std::string wrong = read_key_and_time(params, submitted); !wrong.empty()) return wrong;

  auto request =
      parsed(own_request(std::to_string(value_of(number)), method, inner.value_or("{}")));
  if (auto* wrong = std::get_if<std::string>(&request)) return std::move(*wrong);
  const Frame& plain = std::get<Frame>(request);
  if (const char* reason = wrong_kind(plain)) return fmt::format("Invalid params: {}", reason);
  if (!submitted.key.empty()) submitted.digest = request_digest(plain, DigestOfNumbers::as_written);
  submitted.tool = tool_called(plain);

  auto made = as_job(std::move(std::get<Frame>(request)), number);
  if (auto* wrong = std::get_if<std::string>(&made)) return std::move(*wrong);
  submitted.request = std::move(std::get<Frame>(made));
  return submitted;
}

std::optional<SubmittedRequest> submitted_for_later(const Frame& request, JobNumber number) {
  if (!can_be_job(request.method) || request.method.size() > longest_job_method)
    return std::nullopt;
  std::string bytes = request.bytes;
  splice(bytes, {request.id, std::to_string(value_of(number))});
  auto numbered = parsed(std::move(bytes));
  if (std::holds_alternative<std::string>(numbered)) return std::nullopt;
  SubmittedRequest submitted;
  submitted.for_later = true;
  submitted.tool = tool_called(std::get<Frame>(numbered));
  auto made = as_job(std::move(std::get<Frame>(numbered)), number);
  if (std::holds_alternative<std::string>(made)) return std::nullopt;
  submitted.request = std::move(std::get<Frame>(made));
  return submitted;
}

}  // namespace bridge
