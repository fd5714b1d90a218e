#include "fault_player.hpp"

#include <algorithm>
#include <array>

#include "json_text.hpp"
#include "scripted_stream.hpp"
#include "tcp_socket.hpp"

namespace demo {
namespace {

constexpr std::array<std::string_view, 17> kKnown{"delayMs",
                                                  "status",
                                                  "headers",
                                                  "body",
                                                  "contentType",
                                                  "chunked",
                                                  "sse",
                                                  "end",
                                                  "thenAnswer",
                                                  "hang",
                                                  "headerHang",
                                                  "truncateAt",
                                                  "thenReset",
                                                  "trickleMs",
                                                  "closeBeforeAnswer",
                                                  "closeAfterEvents",
                                                  "resetBeforeAnswer"};

Placeholders placeholders_of(const HttpRequest& request, const Message& message) {
  Placeholders values;
  values.id = message.id.empty() ? "null" : message.id;
  const auto token = message.progress_token();
  values.token = token.empty() ? "null" : token;
  values.session = request.header("Mcp-Session-Id");
  return values;
}

Answer verbatim(std::string_view action, const Placeholders& values) {
  Answer answer;
  answer.status = static_cast<int>(json::integer(json::member(action, "status"), 200));
  answer.body = values.applied(json::text(json::member(action, "body")));
  answer.chunked = json::is_true(json::member(action, "chunked"));
  const auto type = json::member(action, "contentType");
  answer.content_type = type.empty() ? "application/json" : json::text(type);
  json::each_member(json::member(action, "headers"), [&](std::string_view name,
                                                         std::string_view value) {
    auto text = values.applied(json::text(value));
    constexpr std::string_view kType = "content-type";
    const bool is_type = std::equal(name.begin(), name.end(), kType.begin(), kType.end(),
                                    [](unsigned char a, char b) { return std::tolower(a) == b; });
    if (is_type) {
      answer.content_type = std::move(text);
    } else {
      answer.headers.emplace_back(name, std::move(text));
    }
  });
  return answer;
}

Spoiling spoiling_of(std::string_view action) {
  const auto is_set = [&](std::string_view name) {
    return json::is_true(json::member(action, name));
  };
  Spoiling spoiling;
  if (is_set("hang")) spoiling.instead = Spoiling::Instead::kHang;
  if (is_set("headerHang")) spoiling.instead = Spoiling::Instead::kHeaderHang;
  if (is_set("closeBeforeAnswer")) spoiling.instead = Spoiling::Instead::kFinish;
  if (is_set("resetBeforeAnswer")) spoiling.instead = Spoiling::Instead::kReset;
  spoiling.trickle_ms = static_cast<int>(json::integer(json::member(action, "trickleMs"), 0));
  const auto limit = json::member(action, "truncateAt");
  if (!limit.empty()) spoiling.truncate_at = static_cast<std::size_t>(json::integer(limit, 0));
  spoiling.reset_after = is_set("thenReset");
  return spoiling;
}

Handling handling_of(std::string_view action) {
  Handling handling;
  const auto events = json::member(action, "closeAfterEvents");
  if (!events.empty()) {
    handling.part = StreamPart{static_cast<std::size_t>(json::integer(events, 0)),
                               body_end(json::inside(json::member(action, "end")))};
  }
  return handling;
}

}  // namespace

std::optional<std::string> action_problem(std::string_view action) {
  if (action.empty() || action.front() != '{') return "no action";
  std::optional<std::string> problem;
  json::each_member(action, [&](std::string_view name, std::string_view) {
    if (std::find(kKnown.begin(), kKnown.end(), name) == kKnown.end()) {
      problem = "unknown in an action: " + std::string(name);
    }
  });
  return problem;
}

Answer play_fault(std::string_view action, const HttpRequest& request, const Message& message,
                  Endpoint& endpoint) {
  const auto delay = json::integer(json::member(action, "delayMs"), 0);
  // The request counts even if its client does not wait for the response.
  if (delay > 0) {
    tcp::wait_until_peer_is_gone(request.descriptor(), std::chrono::milliseconds(delay));
  }
  auto spoiling = spoiling_of(action);
  if (spoiling.instead != Spoiling::Instead::kNothing) {
    Answer answer;
    answer.spoiling = spoiling;
    return answer;
  }
  const auto values = placeholders_of(request, message);
  const bool scripted = !json::member(action, "sse").empty();
  const bool answered = !scripted || json::is_true(json::member(action, "thenAnswer"));

  Answer answer;
  if (!scripted && !json::member(action, "status").empty()) {
    answer = verbatim(action, values);
  } else if (answered) {
    answer = endpoint.handle(request, message, handling_of(action));
  }
  if (scripted) answer = scripted_stream(action, values, std::move(answer), answered);
  answer.spoiling = spoiling;
  return answer;
}

}  // namespace demo
