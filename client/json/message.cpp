#include "json/message.hpp"

#include <fmt/format.h>

#include "json/text.hpp"
#include "text/json_scanner.hpp"

namespace client::json {
namespace {

std::string with_params(std::string head, std::string_view params) {
  if (!params.empty()) head.append(",\"params\":").append(params);
  head.push_back('}');
  return head;
}

}  // namespace

Message parse_message(std::string_view line) {
  Message message;
  const auto all = members(line);
  if (!all) return message;
  bool has_method = false;
  for (const RawMember& member : *all) {
    const std::string_view raw = member.key.substr(1, member.key.size() - 2);
    const auto is = [raw](std::string_view name) { return bridge::key_is(raw, name); };
    if (is("id")) {
      message.id = member.value;
    } else if (is("method") && is_string(member.value)) {
      message.method = decode_string(member.value);
      has_method = true;
    } else if (is("params")) {
      message.params = member.value;
    } else if (is("result")) {
      message.result = member.value;
    } else if (is("error")) {
      message.error = member.value;
    }
  }
  if (has_method) {
    message.kind = message.id.empty() ? Message::Kind::notification : Message::Kind::request;
  } else if (message.result.empty() != message.error.empty()) {
    message.kind = Message::Kind::response;
  }
  return message;
}

std::string make_request(std::string_view id, std::string_view method, std::string_view params) {
  std::string head = R"({"jsonrpc":"2.0","id":)";
  head.append(id).append(R"(,"method":)").append(quote(method));
  return with_params(std::move(head), params);
}

std::string make_notification(std::string_view method, std::string_view params) {
  return with_params(fmt::format(R"({{"jsonrpc":"2.0","method":{})", quote(method)), params);
}

std::string make_result(std::string_view id, std::string_view result) {
  return fmt::format(R"({{"jsonrpc":"2.0","id":{},"result":{}}})", id, result);
}

std::string make_error(std::string_view id, int code, std::string_view message) {
  return fmt::format(R"({{"jsonrpc":"2.0","id":{},"error":{{"code":{},"message":{}}}}})", id, code,
                     quote(message));
}

}  // namespace client::json
