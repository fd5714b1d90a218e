#include "verbs/present.hpp"

#include <fmt/format.h>

#include "render/save.hpp"
#include "text/base64.hpp"
#include "verbs/describe_error.hpp"
#include "verbs/results.hpp"

namespace client {
namespace {

std::string with_line_end(const std::string& text) {
  return text.empty() || text.back() == '\n' ? text : text + "\n";
}

bool present_data(const ContentPart& part, const std::string& save_folder, Console& console) {
  const auto bytes = bridge::decode_base64(part.text);
  if (!bytes) {
    console.note(
        fmt::format("the server sent {} data that is no Base64 (--json shows it)", part.what));
    return false;
  }
  if (save_folder.empty()) {
    console.print(fmt::format("[{} {}, {} bytes; --save DIR writes it to a file]\n", part.what,
                              part.mime_type.empty() ? "of no given type" : part.mime_type,
                              bytes->size()));
    return true;
  }
  const auto saved = save_file(save_folder, choose_file_name(part), *bytes);
  if (const auto* failure = std::get_if<SaveFailure>(&saved)) {
    console.note(failure->message);
    return false;
  }
  console.print(std::get<std::string>(saved) + "\n");
  return true;
}

}  // namespace

bool present(const std::vector<ContentPart>& parts, const std::string& save_folder,
             Console& console) {
  bool all_well = true;
  for (const ContentPart& part : parts) {
    if (part.kind == ContentPart::Kind::data) {
      all_well = present_data(part, save_folder, console) && all_well;
    } else {
      console.print(with_line_end(part.text));
    }
  }
  return all_well;
}

namespace {

JsonError told_failure(const std::string& result, std::string_view hint) {
  JsonError error = error_of_tool(result);
  if (error.hint.empty()) error.hint = hint_for_capability(error.message);
  if (error.hint.empty()) error.hint = hint;
  return error;
}

}  // namespace

ExitCode present_result(const std::string& result, ReadParts read_parts, const Options& options,
                        Console& console, std::string_view about, std::string_view hint) {
  const bool has_failed = is_tool_error(result);
  if (!options.field.empty() && !has_failed) return print_field(result, options, console);
  if (options.json) {
    console.print(has_failed ? to_text(told_failure(result, hint)) : result + "\n");
  } else if (!present(read_parts(result), options.save, console)) {
    return ExitCode::answered_error;
  }
  if (has_failed) {
    const std::string needed = hint_for_capability(error_of_tool(result).message);
    console.note(fmt::format("{}the tool says that it failed{}{}", about,
                             needed.empty() ? "" : "; ", needed));
    return ExitCode::answered_error;
  }
  return ExitCode::ok;
}

}  // namespace client
