#include <fmt/format.h>

#include "json_text.hpp"
#include "tools.hpp"

namespace demo {
namespace {

std::optional<Reply> slow(const LongCall& call, std::string_view arguments,
                          std::string_view token) {
  const auto steps = json::integer(json::member(arguments, "steps"), 5);
  const std::chrono::milliseconds delay(json::integer(json::member(arguments, "delayMs"), 200));
  for (std::int64_t step = 1; step <= steps; ++step) {
    if (!call.call->sleep(delay)) return std::nullopt;
    if (token.empty()) continue;
    call.out->append(fmt::format(
        R"({{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{},"progress":{},"total":{},"message":"step {}"}}}})",
        token, step, steps, step));
  }
  return Reply::text(fmt::format("\"done after {} steps\"", steps));
}

/// Sends a request to the client and returns its response.
std::optional<Reply> put(const LongCall& call, std::string_view method, std::string_view params) {
  const auto id = call.session->expect_answer(call.call);
  call.out->append(
      fmt::format(R"({{"jsonrpc":"2.0","id":{},"method":"{}","params":{}}})", id, method, params));
  const auto body = call.call->wait_for_answer();
  if (!body) return std::nullopt;
  const auto answer = Message::parse(*body);
  return answer.error.empty() ? Reply::text(json::quoted(answer.result))
                              : Reply::text(json::quoted(answer.error), true);
}

std::string_view or_default(std::string_view value, std::string_view otherwise) {
  return value.empty() ? otherwise : value;
}

std::string question_params(std::string_view arguments) {
  return fmt::format(
      R"({{"mode":"form","message":{},"requestedSchema":{{"type":"object","properties":{{"answer":{{"type":"string"}}}},"required":["answer"]}}}})",
      or_default(json::member(arguments, "question"), R"("What is your name?")"));
}

std::string sampling_params(std::string_view arguments) {
  return fmt::format(
      R"({{"messages":[{{"role":"user","content":{{"type":"text","text":{}}}}}],"maxTokens":100}})",
      or_default(json::member(arguments, "prompt"), R"("Say hello")"));
}

}  // namespace

bool is_long_tool(std::string_view name) {
  return name == "slow" || name == "ask" || name == "sample" || name == "roots";
}

std::optional<Reply> run_long_tool(const LongCall& call) {
  const auto request = Message::parse(call.body);
  const auto name = json::inside(json::member(request.params, "name"));
  const auto arguments = json::member(request.params, "arguments");
  if (name == "ask") return put(call, "elicitation/create", question_params(arguments));
  if (name == "sample") return put(call, "sampling/createMessage", sampling_params(arguments));
  if (name == "roots") return put(call, "roots/list", "{}");
  return slow(call, arguments, request.progress_token());
}

}  // namespace demo
