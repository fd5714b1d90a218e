// What was recorded is sent again, and the answers are compared.
#include <fmt/format.h>

#include <cstring>

#include "json/text.hpp"
#include "servers/whole_file.hpp"
#include "terminal/visible.hpp"
#include "text/whole_characters.hpp"
#include "verbs/failure.hpp"
#include "verbs/recording.hpp"
#include "verbs/verbs.hpp"

namespace client {
namespace {

constexpr std::size_t longest_recording = 64 << 20;
constexpr std::size_t longest_shown = 300;

std::string start_of(std::string_view text) {
  const std::string line = json::on_one_line(text);
  const std::string_view shown = bridge::whole_characters(line, longest_shown);
  return std::string(shown) + (shown.size() < line.size() ? "..." : "");
}

std::string difference(const RecordedRequest& request, const Answer& now, bool as_json) {
  if (as_json) {
    return fmt::format(
        R"({{"method":{},"params":{},"was":{},"is":{}}})", json::quote(request.method),
        request.params.empty() ? "null" : request.params, request.answer, now.payload);
  }
  return fmt::format("{} {}\n  was: {}\n  is:  {}\n", make_visible_line(request.method),
                     start_of(request.params), start_of(request.answer), start_of(now.payload));
}

}  // namespace

ExitCode replay(Dialogue& dialogue, const Options& options) {
  Console& console = dialogue.console();
  const std::string& path = options.operands.front();
  const FileText file = read_whole_file(path, longest_recording);
  if (file.error != 0) {
    return tell_failure(
        console, options,
        {"file",
         fmt::format("cannot read {}: {}", make_visible_line(path), std::strerror(file.error)),
         ExitCode::usage});
  }
  const Recording recording = read_recording(file.text);
  if (recording.wrong_line != 0) {
    return tell_failure(
        console, options,
        {"usage",
         fmt::format("{}: line {} is none that mcp-nc record writes; nothing was sent",
                     make_visible_line(path), recording.wrong_line),
         ExitCode::usage});
  }
  std::string differences;
  std::size_t different = 0;
  for (const RecordedRequest& request : recording.requests) {
    const Answer now = dialogue.ask(request.method, request.params);
    const bool has_failed = now.outcome == Answer::Outcome::error;
    if (!has_failed && now.outcome != Answer::Outcome::result) return dialogue.report(now);
    if (has_failed == request.has_failed && is_same_answer(request.answer, now.payload)) continue;
    ++different;
    if (options.json && !differences.empty()) differences += ',';
    differences += difference(request, now, options.json);
  }
  if (options.json) {
    console.print(fmt::format("{{\"replayed\":{},\"leftOut\":{},\"different\":[{}]}}\n",
                              recording.requests.size(), recording.left_out, differences));
  } else {
    console.print(differences);
    console.note(fmt::format(
        "{} sent again, {} answered otherwise{}", recording.requests.size(), different,
        recording.left_out == 0 ? ""
                                : fmt::format("; {} left out, whose answer or params are not in "
                                              "the record",
                                              recording.left_out)));
  }
  return different == 0 ? ExitCode::ok : ExitCode::answered_error;
}

}  // namespace client
