#include "verbs/cut_output.hpp"

#include <fmt/format.h>
#include <stdlib.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <variant>

#include "json/text.hpp"
#include "render/save.hpp"
#include "text/whole_characters.hpp"
#include "verbs/failure.hpp"

namespace client {
namespace {

/// A new folder that only the user can look into.
std::variant<std::string, SaveFailure> make_folder() {
  const char* const named = std::getenv("TMPDIR");
  std::string path = named != nullptr && *named != '\0' ? named : "/tmp";
  path += "/mcp-nc-XXXXXX";
  if (::mkdtemp(path.data()) == nullptr)
    return SaveFailure{fmt::format("cannot make a folder '{}': {}", path, std::strerror(errno))};
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
