#include "options.hpp"

#include <charconv>
#include <functional>
#include <map>
#include <string_view>

namespace demo {

const char* const kHelp =
    R"(demo-upstream: an MCP server over Streamable HTTP for trying out and for tests

  --port N                    0 (default) takes a free one
  --stateless                 no session ids; GET and DELETE are 405
  --no-stream                 GET is 405
  --answers json|sse|auto     auto: JSON unless something is streamed before the answer
  --event-ids                 streams have event ids and can be resumed
  --retry MS                  the retry of --event-ids, 500
  --token SECRET              wants Authorization: Bearer SECRET
  --unknown-session 404|400|400-sse   what a request of an unknown session gets
  --page-size N               tools on a page of tools/list, 0 is all
  --keep-alive-timeout SEC    closes an idle connection after that long, 600
  --no-log                    keeps no request log

Prints "listening on http://127.0.0.1:PORT/mcp". The same port has a control API for tests:
/control/log, fault, emit, request, answers, sessions/drop, streams/close, token, state, reset;
tests/support/README.md describes it. All faults are played by this program itself, those below
HTTP too (it takes the connection's socket); fault_proxy.py is for what concerns a connection as
such: refusing, hanging, cutting what passes.
)";

namespace {

bool to_int(std::string_view text, int& value) {
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  return result.ec == std::errc{} && result.ptr == text.data() + text.size() && value >= 0;
}

bool to_answers(std::string_view text, Answers& value) {
  if (text == "auto") value = Answers::kAuto;
  if (text == "json") value = Answers::kJson;
  if (text == "sse") value = Answers::kSse;
  return text == "auto" || text == "json" || text == "sse";
}

using Take = std::function<bool(std::string_view)>;

}  // namespace

std::optional<Options> parse_options(int argc, char** argv, std::string& error) {
  Options options;
  const std::map<std::string_view, std::function<void()>> flags{
      {"--stateless", [&] { options.stateless = true; }},
      {"--no-stream", [&] { options.server_stream = false; }},
      {"--event-ids", [&] { options.streams.event_ids = true; }},
      {"--no-log", [&] { options.log = false; }},
      {"--help", [&] { options.help = true; }},
  };
  const std::map<std::string_view, Take> valued{
      {"--port", [&](auto text) { return to_int(text, options.port) && options.port < 65536; }},
      {"--answers", [&](auto text) { return to_answers(text, options.answers); }},
      {"--retry", [&](auto text) { return to_int(text, options.streams.retry_ms); }},
      {"--token", [&](auto text) { return options.token = text, true; }},
      {"--unknown-session",
       [&](auto text) {
         auto& status = options.unknown_session_status;
         options.unknown_session_as_events = text == "400-sse";
         if (options.unknown_session_as_events) return status = 400, true;
         return to_int(text, status) && (status == 404 || status == 400);
       }},
      {"--page-size", [&](auto text) { return to_int(text, options.page_size); }},
      {"--keep-alive-timeout", [&](auto text) { return to_int(text, options.keep_alive_seconds); }},
  };
  for (int at = 1; at < argc; ++at) {
    const std::string_view name = argv[at];
    if (const auto flag = flags.find(name); flag != flags.end()) {
      flag->second();
      continue;
    }
    const auto option = valued.find(name);
    if (option == valued.end()) {
      error = "unknown option " + std::string(name);
      return std::nullopt;
    }
    if (++at == argc || !option->second(argv[at])) {
      error = "missing or wrong value for " + std::string(name);
      return std::nullopt;
    }
  }
  return options;
}

}  // namespace demo
