#include "reply.hpp"

#include <fmt/format.h>

#include "json_text.hpp"

namespace demo {

Reply Reply::error(int code, std::string_view message) {
  return {fmt::format(R"({{"code":{},"message":{}}})", code, json::quoted(message)), true};
}

Reply Reply::text(std::string_view text, bool is_error) {
  constexpr std::string_view kHead = R"({"content":[{"type":"text","text":)";
  std::string json;
  json.reserve(kHead.size() + text.size() + 32);
  json.append(kHead).append(text).append(is_error ? R"(}],"isError":true})" : "}]}");
  return result(std::move(json));
}

std::string Reply::message(std::string_view id) const {
  std::string whole;
  whole.reserve(json.size() + id.size() + 48);
  whole.append(is_error ? R"({"jsonrpc":"2.0","error":)" : R"({"jsonrpc":"2.0","result":)");
  whole.append(json).append(R"(,"id":)").append(id).append("}");
  return whole;
}

}  // namespace demo
