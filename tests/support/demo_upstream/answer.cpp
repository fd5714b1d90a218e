#include "answer.hpp"

#include <fmt/format.h>

#include "json_text.hpp"

namespace demo {

BodyEnd body_end(std::string_view name) {
  if (name == "cut") return BodyEnd::kCut;
  if (name == "reset") return BodyEnd::kReset;
  return BodyEnd::kClose;
}

Answer Answer::json(std::string body, int status) {
  Answer answer;
  answer.status = status;
  answer.content_type = "application/json";
  answer.body = std::move(body);
  return answer;
}

Answer Answer::empty(int status) {
  Answer answer;
  answer.status = status;
  return answer;
}

Answer Answer::events(BodyWriter writer) {
  Answer answer;
  answer.content_type = "text/event-stream";
  answer.headers.emplace_back("Cache-Control", "no-cache, no-transform");
  answer.writer = std::move(writer);
  return answer;
}

Answer rpc_error(int status, int code, std::string_view message, std::string_view id) {
  return Answer::json(
      fmt::format(R"({{"jsonrpc":"2.0","error":{{"code":{},"message":{}}},"id":{}}})", code,
                  json::quoted(message), id),
      status);
}

}  // namespace demo
