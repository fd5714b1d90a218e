#include "verbs/describe_error.hpp"

#include <fmt/format.h>

#include "json/scan.hpp"
#include "json/value.hpp"

namespace client {
namespace {

constexpr std::size_t longest_data = 500;

std::string describe_bridge_error(const json::Value& error, const json::Value& data) {
  std::string text = fmt::format("the bridge: {}", error.string("message"));
  const std::string_view kind = data.string("kind");
  const std::string_view delivered = data.string("delivered");
  text += fmt::format(" (kind {}", kind.empty() ? "unknown" : kind);
  if (delivered == "no") text += "; the server did not get the request, it can be sent again";
  if (delivered == "unknown") text += "; the server may have acted on the request";
  text += ")";
  if (const json::Value* after = data.find("retryAfterMs", json::Value::Kind::number)) {
    text += fmt::format("; try again in {} ms", after->text);
  }
  return text;
}

}  // namespace

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
  if (const auto raw = json::member(error_json, "data"); raw && *raw != "null") {
    text +=
        fmt::format(" {}{}", raw->substr(0, longest_data), raw->size() > longest_data ? "..." : "");
  }
  return text;
}

}  // namespace client
