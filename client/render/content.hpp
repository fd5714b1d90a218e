#pragma once

#include <variant>
#include <vector>

#include "render/failure.hpp"

namespace client {

/// One piece of a tool's, a resource's or a prompt's content.
struct ContentPart {
  enum class Kind {
    text,     ///< to be printed unchanged
    json,     ///< without a plainer form, as the server wrote it
    data,     ///< bytes: an image, audio, a blob
    heading,  ///< the role of what follows, in a prompt
  };
  Kind kind = Kind::text;
  std::string text{};       ///< of data: its Base64 form
  std::string what{};       ///< of data: "image", "audio", "blob"
  std::string mime_type{};  ///< of data, may be empty
  std::string name{};       ///< of data: the server's name or address for it, may be empty
};

/// The parts to print of the result of tools/call, resources/read and prompts/get. A result of
/// another shape is one json part.
std::vector<ContentPart> read_tool_result(std::string_view result);
std::vector<ContentPart> read_resource(std::string_view result);
std::vector<ContentPart> read_prompt(std::string_view result);

/// The same for the result of one of them, if it is unknown which.
std::vector<ContentPart> read_any_result(std::string_view result);

/// Whether the tool itself reports a failure.
bool is_tool_error(std::string_view result);

/// The value at a path in a JSON value, such as `items.0.name` or `items[0].name`: member names and
/// array indexes. Of a string its text, of anything else its JSON as written. nullopt if there is
/// no such value. An empty path is the value itself.
std::optional<std::string> field_at(std::string_view json, std::string_view path);

/// The same for a result: from its `structuredContent` if found there, else from the whole result.
std::optional<std::string> field_of_result(std::string_view result, std::string_view path);

/// A file name for a piece of data: from the last part of the server's name for it, else from its
/// kind, with an extension that fits the type. Never a path: no '/', no leading dot, only letters,
/// digits and "._-", at most 100 characters.
std::string choose_file_name(const ContentPart& part);

struct SaveFailure {
  std::string message;
};

/// Writes bytes to a new file in `folder`, which is created if missing. A name that exists gets a
/// number; nothing is overwritten and no link followed. Returns the path.
std::variant<std::string, SaveFailure> save_file(const std::string& folder, const std::string& name,
                                                 std::string_view bytes);

using ReadParts = std::vector<ContentPart> (*)(std::string_view result);

/// Prints a result as the options require: raw, or the parts that `read_parts` makes of it. Data
/// goes to a file with --save, whose path is printed; else its type and size are printed, at a
/// terminal on stdout, elsewhere on stderr; but a resource that is one blob goes to a file or pipe
/// as its bytes. --output writes the whole to one file. A tool's own failure is reported on stderr;
/// `about` precedes messages ("" or "job x: "), and `hint` is for a --json error without a better
/// one.
ExitCode present_result(const std::string& result, ReadParts read_parts, const Options& options,
                        Console& console, std::string_view about = "", std::string_view hint = {});

/// Prints the member of a result that --field names; reports an error if it is missing.
ExitCode print_field(const std::string& result, const Options& options, Console& console);

/// Prints the output that the console has held back. Up to --max-bytes it is printed whole; longer
/// output is saved whole in a new file, readable by the user alone, and its beginning and the
/// file's name are printed. With --json it prints `{"cut":{"bytes":…,"file":…}}` instead. Returns
/// `code`, or an error if the file cannot be written.
ExitCode print_held(Console& console, const Options& options, ExitCode code);

}  // namespace client
