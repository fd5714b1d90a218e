#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "render/content.hpp"

namespace client {

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

}  // namespace client
