#pragma once

#include <cstddef>
#include <string>

namespace client {

struct FileText {
  std::string text{};
  int error = 0;  ///< errno; EFBIG if there is more than that
  /// Nobody but this user and root can have written it: it is one of theirs, and no group's.
  bool is_own = false;
};

/// What stands in a regular file; of anything else nothing is read, since it could have us wait.
FileText read_whole_file(const std::string& path, std::size_t most);

/// Adds it to the end of a file that only its owner may read, which is made if it is not there.
/// Returns errno.
int append_to_file(const std::string& path, const std::string& text);

/// Gives a file that only its owner may read this content, whole or not at all. Returns errno.
int replace_file(const std::string& path, const std::string& text);

}  // namespace client
