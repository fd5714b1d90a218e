#include "verbs/present.hpp"

#include <fmt/format.h>
#include <stdlib.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "json/document.hpp"
#include "text/base64.hpp"
#include "text/characters.hpp"

namespace client {
namespace {

/// Of the result of a tool that says that it failed, for --json: its text, and all of it.
Failure error_of_tool(const std::string& result) {
  Failure error;
  error.kind = "tool";
  error.delivered = "yes";
  for (const ContentPart& part : read_tool_result(result)) {
    if (part.kind != ContentPart::Kind::text) continue;
    error.message += (error.message.empty() ? "" : "\n") + part.text;
  }
  if (error.message.empty()) error.message = "the tool reported a failure";
  error.result = json::on_one_line(result);
  return error;
}

std::string with_line_end(const std::string& text) {
  return text.empty() || text.back() == '\n' ? text : text + "\n";
}

bool present_data(const ContentPart& part, const std::string& save_folder, Console& console) {
  const auto bytes = bridge::decode_base64(part.text);
  if (!bytes) {
    console.note(fmt::format("cannot decode the {} from the server: not Base64 (--json shows it)",
                             part.what));
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

Failure told_failure(const std::string& result, std::string_view hint) {
  Failure error = error_of_tool(result);
  if (error.hint.empty()) error.hint = hint_for_capability(error.message);
  if (error.hint.empty()) error.hint = hint;
  return error;
}

/// A new folder that only the user can look into.
std::variant<std::string, SaveFailure> make_folder() {
  const char* const named = std::getenv("TMPDIR");
  std::string path = named != nullptr && *named != '\0' ? named : "/tmp";
  path += "/mcp-nc-XXXXXX";
  if (::mkdtemp(path.data()) == nullptr)
    return SaveFailure{fmt::format("cannot create '{}': {}", path, std::strerror(errno))};
  return path;
}

std::variant<std::string, SaveFailure> save(const std::string& text, const Options& options) {
  auto folder =
      options.save.empty() ? make_folder() : std::variant<std::string, SaveFailure>(options.save);
  if (std::holds_alternative<SaveFailure>(folder)) return folder;
  return save_file(std::get<std::string>(folder), options.json ? "output.json" : "output.txt",
                   text);
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
    console.note(fmt::format("{}the tool reported a failure{}{}", about, needed.empty() ? "" : "; ",
                             needed));
    return ExitCode::answered_error;
  }
  return ExitCode::ok;
}

ExitCode print_field(const std::string& result, const Options& options, Console& console) {
  const auto found = field_of_result(result, options.field);
  if (!found) {
    console.note(fmt::format("no '{}' in the result; --json shows all of it", options.field));
    return ExitCode::answered_error;
  }
  console.print(*found + "\n");
  return ExitCode::ok;
}

ExitCode print_held(Console& console, const Options& options, ExitCode code) {
  if (!options.max_bytes) return code;
  const std::string text = console.take_held();
  if (text.size() <= *options.max_bytes) {
    console.print(text);
    return code;
  }
  const auto saved = save(text, options);
  const auto* const file = std::get_if<std::string>(&saved);
  if (file == nullptr) {
    const std::string& why = std::get<SaveFailure>(saved).message;
    const ExitCode failed =
        tell_failure(console, options, {"file", why, ExitCode::answered_error, "yes"});
    if (options.json) return failed;
  } else if (options.json) {
    console.print(
        fmt::format("{{\"cut\":{{\"bytes\":{},\"file\":{}}}}}\n", text.size(), json::quote(*file)));
    return code;
  }
  std::string shown(bridge::whole_characters(text, static_cast<std::size_t>(*options.max_bytes)));
  if (!shown.empty() && shown.back() != '\n') shown += '\n';
  console.print(shown + (file == nullptr
                             ? fmt::format("[cut off after {} of {} bytes]\n", *options.max_bytes,
                                           text.size())
                             : fmt::format("[cut off after {} of {} bytes; all of it is in {}]\n",
                                           *options.max_bytes, text.size(), *file)));
  return file == nullptr ? ExitCode::answered_error : code;
}

}  // namespace client
