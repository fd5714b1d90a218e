#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace client {

/// One piece of what a tool, a resource or a prompt consists of.
struct ContentPart {
  enum class Kind {
    text,     ///< to be printed as it is
    json,     ///< something without a plainer form, as the server wrote it
    data,     ///< bytes: an image, audio, a blob
    heading,  ///< who says what follows, in a prompt
  };
  Kind kind = Kind::text;
  std::string text;       ///< of data: its Base64 form
  std::string what;       ///< of data: "image", "audio", "blob"
  std::string mime_type;  ///< of data, may be empty
  std::string name;       ///< of data: the server's name or address for it, may be empty
};

/// What to print of the result of tools/call, resources/read and prompts/get. A result that is
/// shaped otherwise is one json part.
std::vector<ContentPart> read_tool_result(std::string_view result);
std::vector<ContentPart> read_resource(std::string_view result);
std::vector<ContentPart> read_prompt(std::string_view result);

/// The same for the result of one of them, it is not known which.
std::vector<ContentPart> read_any_result(std::string_view result);

/// Does the tool itself say that it failed?
bool is_tool_error(std::string_view result);

}  // namespace client
