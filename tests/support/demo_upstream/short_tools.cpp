#include <fmt/format.h>

#include <chrono>

#include "json_text.hpp"
#include "tools.hpp"

namespace demo {
namespace {

constexpr std::int64_t kMaxBigBytes = 1 << 30;

Reply missing(std::string_view argument) {
  return Reply::error(-32602, fmt::format("Invalid arguments: {} is required", argument));
}

Reply echo(std::string_view arguments) {
  const auto message = json::member(arguments, "message");
  if (message.empty()) return missing("message");
  return message.front() == '"' ? Reply::text(message) : Reply::text(json::quoted(message));
}

Reply add(std::string_view arguments) {
  const auto a = json::number(json::member(arguments, "a"));
  const auto b = json::number(json::member(arguments, "b"));
  if (!a || !b) return missing("a and b");
  return Reply::text(fmt::format("\"{}\"", *a + *b));
}

Reply big(std::string_view arguments) {
  const auto bytes = json::integer(json::member(arguments, "bytes"), 65536);
  if (bytes < 0 || bytes > kMaxBigBytes) return missing("bytes up to 1 GiB");
  return Reply::text('"' + std::string(static_cast<std::size_t>(bytes), 'x') + '"');
}

Reply burst(std::string_view arguments, Session& session) {
  const auto count = json::integer(json::member(arguments, "count"), 100);
  for (std::int64_t n = 1; n <= count; ++n) {
    session.server_stream()->append(fmt::format(
        R"({{"jsonrpc":"2.0","method":"notifications/message","params":{{"level":"info","logger":"burst","data":{{"n":{}}}}}}})",
        n));
  }
  return Reply::text(fmt::format("\"emitted {}\"", count));
}

void tick(Session& session) {
  session.server_stream()->append(
      R"({"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"demo://ticker"}})");
  session.server_stream()->append(fmt::format(
      R"({{"jsonrpc":"2.0","method":"notifications/message","params":{{"level":"info","logger":"ticker","data":"tick {}"}}}})",
      session.next_tick()));
}

Reply ticker(std::string_view arguments, const std::shared_ptr<Session>& session,
             GrowingPool& pool) {
  const auto seconds = json::number(json::member(arguments, "seconds")).value_or(10);
  const auto interval =
      std::max<std::int64_t>(1, json::integer(json::member(arguments, "intervalMs"), 1000));
  // A key that no request id has: only the end of the session ends it early.
  auto call = session->begin_call("ticker");
  pool.run([session, call, seconds, interval] {
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    while (call->sleep(std::chrono::milliseconds(interval))) {
      tick(*session);
      if (std::chrono::steady_clock::now() + std::chrono::milliseconds(interval) > end) break;
    }
    session->end_call(call);
  });
  return Reply::text(fmt::format("\"ticking for {} s\"", seconds));
}

}  // namespace

Reply run_short_tool(const Message& request, const std::shared_ptr<Session>& session,
                     GrowingPool& pool) {
  const auto name = json::inside(json::member(request.params, "name"));
  const auto arguments = json::member(request.params, "arguments");
  if (name == "echo") return echo(arguments);
  if (name == "mirror") {
    return Reply::result(fmt::format(R"({{"content":[],"structuredContent":{}}})",
                                     arguments.empty() ? "{}" : arguments));
  }
  if (name == "add") return add(arguments);
  if (name == "big") return big(arguments);
  if (name == "burst") return burst(arguments, *session);
  if (name == "ticker") return ticker(arguments, session, pool);
  if (name == "fail") {
    const auto message = json::member(arguments, "message");
    return Reply::text(message.empty() ? R"("it failed")" : message, true);
  }
  return Reply::error(-32602, fmt::format("Unknown tool: {}", name));
}

}  // namespace demo
