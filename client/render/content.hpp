#pragma once

#include <variant>
#include <vector>

#include "render/failure.hpp"

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
  std::string text{};       ///< of data: its Base64 form
  std::string what{};       ///< of data: "image", "audio", "blob"
  std::string mime_type{};  ///< of data, may be empty
  std::string name{};       ///< of data: the server's name or address for it, may be empty
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

/// What stands in a JSON value at a path like `items.0.name` or `items[0].name`: names of members
/// and places in arrays. Of a string its text, of anything else its JSON as it was written. Nothing
/// if there is no such thing. An empty path is the value itself.
std::optional<std::string> field_at(std::string_view json, std::string_view path);

/// The same of a result: in its `structuredContent` if that has it, else in the whole result.
std::optional<std::string> field_of_result(std::string_view result, std::string_view path);

/// A file name for a piece of data: from the last part of the server's name for it, else from what
/// it is, with an extension that fits the type. Never a path: no '/', no leading dot, only
/// letters, digits and "._-", at most 100 characters.
std::string choose_file_name(const ContentPart& part);

struct SaveFailure {
  std::string message;
};

/// Writes bytes to a new file in `folder`, which is made if it is missing. A name that is taken
/// gets a number; nothing is overwritten and no link followed. Gives the path.
std::variant<std::string, SaveFailure> save_file(const std::string& folder, const std::string& name,
                                                 std::string_view bytes);

using ReadParts = std::vector<ContentPart> (*)(std::string_view result);

/// Prints a result as the options want it: raw, or what `read_parts` makes of it. Data goes to a
/// file with --save, whose path is printed, else its type and size stand for it. A tool's own
/// failure is said on stderr; `about` goes before what is said ("" or "job x: "), and `hint` to the
/// error of --json that has no better one.
ExitCode present_result(const std::string& result, ReadParts read_parts, const Options& options,
                        Console& console, std::string_view about = "", std::string_view hint = {});

/// Prints the member of a result that --field names, or an error if it is missing.
ExitCode print_field(const std::string& result, const Options& options, Console& console);

/// Prints what the console has held back. Up to --max-bytes it is printed whole; above that its
/// beginning and the name of a new file with all of it, readable by the user alone. With --json
/// `{"cut":{"bytes":…,"file":…}}` instead. Returns `code`, or an error if the file cannot be
/// written.
ExitCode print_held(Console& console, const Options& options, ExitCode code);

}  // namespace client
