#pragma once

#include "command_line/options.hpp"
#include "render/failure.hpp"
#include "render/save.hpp"
#include "terminal/console.hpp"

namespace client {

/// Prints the parts on stdout. Data goes to a file in `save_folder`, whose path is printed; without
/// a folder ("") a line with its type and size stands for it. False if data could not be saved,
/// which is said on stderr.
bool present(const std::vector<ContentPart>& parts, const std::string& save_folder,
             Console& console);

using ReadParts = std::vector<ContentPart> (*)(std::string_view result);

/// Prints a result as the options want it: raw, or what `read_parts` makes of it. A tool's own
/// failure is said on stderr; `about` goes before what is said ("" or "job x: "), and `hint` to the
/// error of --json that has no better one.
ExitCode present_result(const std::string& result, ReadParts read_parts, const Options& options,
                        Console& console, std::string_view about = "", std::string_view hint = {});

/// Prints what --field names of a result; if there is no such thing, says so.
ExitCode print_field(const std::string& result, const Options& options, Console& console);

/// Prints what the console has held back (--max-bytes): as it is if it is no longer than that, else
/// its beginning and the name of a new file that has all of it, for the user alone. With --json
/// `{"cut":{"bytes":…,"file":…}}` instead, so that it stays JSON. Returns `code`, unless the file
/// cannot be written.
ExitCode print_held(Console& console, const Options& options, ExitCode code);

}  // namespace client
