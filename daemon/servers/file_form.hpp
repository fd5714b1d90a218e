#pragma once

#include <string>
#include <string_view>

namespace bridge {

/// A config file as JSON, or why it cannot be read: of what it contains, `fault` names nothing.
struct FileAsJson {
  std::string text;
  std::string fault{};  ///< empty: it was read
};

/// The daemon's toml_as_json(), or the client's way to it.
using ReadToml = FileAsJson (*)(std::string_view text);

/// A file in the form that its path tells: TOML in a `.toml` (Codex), Gemini's `$NAME` for
/// `${NAME}` in a folder `.gemini`. Any other is returned as it is, JSON or not. Pure except for
/// `read_toml`.
FileAsJson file_as_json(std::string_view text, std::string_view path, ReadToml read_toml);

}  // namespace bridge
