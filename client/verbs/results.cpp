#include "verbs/results.hpp"

#include <fmt/format.h>

#include "json/text.hpp"
#include "render/content.hpp"
#include "render/field.hpp"

namespace client {

ExitCode print_field(const std::string& result, const Options& options, Console& console) {
  const auto found = field_of_result(result, options.field);
  if (!found) {
    console.note(fmt::format("the result has no {} (--json shows it)", options.field));
    return ExitCode::answered_error;
  }
  console.print(*found + "\n");
  return ExitCode::ok;
}

JsonError error_of_tool(const std::string& result) {
  JsonError error;
  error.kind = "tool";
  error.delivered = "yes";
  for (const ContentPart& part : read_tool_result(result)) {
    if (part.kind != ContentPart::Kind::text) continue;
    error.message += (error.message.empty() ? "" : "\n") + part.text;
  }
  if (error.message.empty()) error.message = "the tool says that it failed";
  error.result = json::on_one_line(result);
  return error;
}

}  // namespace client
