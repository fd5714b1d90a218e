#include "message.hpp"

#include "json_text.hpp"

namespace demo {

Message Message::parse(std::string_view body) {
  Message message;
  const auto value = json::whole(body);
  if (value.empty()) return message;
  if (value.front() == '[') message.kind = Kind::kBatch;
  if (value.front() != '{') return message;
  json::each_member(value, [&](std::string_view key, std::string_view content) {
    if (key == "method") message.method = json::inside(content);
    if (key == "id") message.id = content;
    if (key == "params") message.params = content;
    if (key == "result") message.result = content;
    if (key == "error") message.error = content;
  });
  if (!message.method.empty()) {
    message.kind = message.id.empty() ? Kind::kNotification : Kind::kRequest;
  } else if (!message.id.empty() && (!message.result.empty() || !message.error.empty())) {
    message.kind = Kind::kAnswer;
  }
  return message;
}

std::string_view Message::progress_token() const {
  return json::path(params, {"_meta", "progressToken"});
}

}  // namespace demo
