#include "verbs/describe_error.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "elicitation/web_address.hpp"
#include "json/scan.hpp"
#include "json/value.hpp"
#include "terminal/visible.hpp"

namespace client {
namespace {

constexpr std::size_t longest_data = 500;

/// What has become of the request. With a status the server has got something: the request, or only
/// the bridge's own initialize before it.
std::string_view fate_of_request(const json::Value& data) {
  const std::string_view delivered = data.string("delivered");
  if (delivered == "unknown") return "; the server may have acted on the request";
  if (delivered != "no") return "";
  const json::Value* opening = data.find("opening", json::Value::Kind::boolean);
  const bool was_sent = data.find("status", json::Value::Kind::number) != nullptr &&
                        (opening == nullptr || !opening->truth);
  if (data.string("kind") == "shutdown") return "; the request was not sent";
  if (data.string("kind") == "auth") {
    return was_sent ? "; the server has not acted on the request" : "; the request was not sent";
  }
  return was_sent ? "; the server has not acted on the request, it can be sent again"
                  : "; the server did not get the request, it can be sent again";
}

/// What the server itself said, where the bridge's error stands in its place.
std::string describe_upstream_error(const json::Value& data) {
  const json::Value* error = data.find("upstream", json::Value::Kind::object);
  if (error == nullptr) return {};
  const json::Value* code = error->find("code", json::Value::Kind::number);
  return fmt::format("; the server said: error {}: {}",
                     code == nullptr ? "without code" : code->text,
                     error->string("message").substr(0, longest_data));
}

std::string describe_bridge_error(const json::Value& error, const json::Value& data) {
  const std::string_view kind = data.string("kind");
  std::string text = fmt::format("the bridge: {} (kind {}{})", error.string("message"),
                                 kind.empty() ? "unknown" : kind, fate_of_request(data));
  if (const json::Value* after = data.find("retryAfterMs", json::Value::Kind::number)) {
    text += fmt::format("; try again in {} ms", after->text);
  }
  text += describe_upstream_error(data);
  for (const auto& [member, header] : {std::pair("wwwAuthenticate", "WWW-Authenticate"),
                                       std::pair("mcpAuthServer", "Mcp-Auth-Server")}) {
    if (const std::string_view hint = data.string(member); !hint.empty()) {
      text += fmt::format("; {}: {}", header, hint);
    }
  }
  if (kind == "job") text += "; mcp-nc jobs lists those there are";
  if (const std::string_view login = data.string("login"); !login.empty()) {
    text += fmt::format("; log in by: {}", login);
  } else if (kind == "auth") {
    text += "; the daemon's token is what the server judges, not yours";
  }
  return text;
}

struct Page {
  std::string purpose;
  std::string address;
};

std::vector<Page> pages_of(std::string_view error_json) {
  constexpr std::size_t most = 16;
  std::vector<Page> pages;
  const auto error = json::parse(error_json);
  if (!error || !error->is(json::Value::Kind::object)) return pages;
  const json::Value* const code = error->find("code", json::Value::Kind::number);
  const json::Value* const data = error->find("data", json::Value::Kind::object);
  if (code == nullptr || code->text != "-32042" || data == nullptr) return pages;
  const json::Value* const list = data->find("elicitations", json::Value::Kind::array);
  if (list == nullptr) return pages;
  for (const json::Value& one : list->items) {
    if (!one.is(json::Value::Kind::object) || one.string("url").empty()) continue;
    if (pages.size() < most)
      pages.push_back({std::string(one.string("message")), std::string(one.string("url"))});
  }
  return pages;
}

}  // namespace

std::string describe_pages(std::string_view error_json) {
  std::string text;
  for (const Page& page : pages_of(error_json)) {
    text += fmt::format("The server wants a page opened first: {}\n{}",
                        make_visible_line(page.purpose), describe_address(page.address));
  }
  if (!text.empty()) text += "Nothing was opened. Open it yourself, then do this again.\n";
  return text;
}

std::string hint_of_pages(std::string_view error_json) {
  std::string addresses;
  for (const Page& page : pages_of(error_json))
    addresses += (addresses.empty() ? "" : ", ") + make_visible_line(page.address);
  return addresses.empty() ? addresses
                           : fmt::format("open {} in a browser, then do this again", addresses);
}

std::string describe_error(std::string_view error_json) {
  const auto error = json::parse(error_json);
  if (!error || !error->is(json::Value::Kind::object)) {
    return fmt::format("the server answered with an error: {}", error_json);
  }
  const json::Value* data = error->find("data", json::Value::Kind::object);
  if (data != nullptr && data->string("source") == "bridge") {
    return describe_bridge_error(*error, *data);
  }
  const json::Value* code = error->find("code", json::Value::Kind::number);
  std::string text =
      fmt::format("the server answered with error {}: {}",
                  code == nullptr ? "without code" : code->text, error->string("message"));
  const bool has_pages = !pages_of(error_json).empty();
  if (const auto raw = json::member(error_json, "data"); raw && *raw != "null" && !has_pages) {
    text +=
        fmt::format(" {}{}", raw->substr(0, longest_data), raw->size() > longest_data ? "..." : "");
  }
  const std::string hint = hint_for_capability(error->string("message"));
  return hint.empty() ? text : fmt::format("{}; {}", text, hint);
}

std::string hint_for_capability(std::string_view message) {
  if (message.find("tasks are not translated") != message.npos)
    return "mcp-nc call --detach makes a job of a call, and a task where the server wants one";
  if (message.find("does not support") == message.npos) return {};
  for (const std::string_view capability : {"elicitation", "sampling", "roots"}) {
    if (message.find(capability) == message.npos) continue;
    return fmt::format(
        "the session was opened without {}: mcp-bridged --client-capabilities '{{\"{}\":{{}}}}' "
        "opens it with that",
        capability, capability);
  }
  return {};
}

bool error_wants_login(std::string_view error_json) {
  const auto error = json::parse(error_json);
  const json::Value* data = error ? error->find("data", json::Value::Kind::object) : nullptr;
  return data != nullptr && data->string("source") == "bridge" && !data->string("login").empty();
}

std::string describe_daemon_error(std::string_view error_json) {
  const auto error = json::parse(error_json);
  const json::Value* data = error ? error->find("data", json::Value::Kind::object) : nullptr;
  if (!error || error->string("message").empty() || data != nullptr) {
    return describe_error(error_json);
  }
  return fmt::format("the daemon: {}", error->string("message"));
}

std::string describe_refused_line(std::string_view error_json) {
  const auto error = json::parse(error_json);
  return fmt::format("the daemon does not take the request: {}",
                     error ? error->string("message") : error_json);
}

}  // namespace client
