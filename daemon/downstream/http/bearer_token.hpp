#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "base/secret_file.hpp"

namespace bridge {

/// The token that callers of the face must present: --http-token-file, looked at once a second at
/// most and only when somebody calls, read again when it is another one. While the file cannot be
/// read nobody is admitted. A part of AccessCheck; the loop's thread only.
class BearerToken {
 public:
  /// No path: everybody is admitted.
  explicit BearerToken(std::string path);

  /// Empty, or why the file is of no use; for the start.
  const std::string& fault() const { return fault_; }
  /// `authorization` is the value of that header, `now` for the pace of looking.
  bool admits(std::string_view authorization, std::chrono::steady_clock::time_point now);

 private:
  void read();

  std::string path_;
  std::string token_;
  std::string fault_;
  std::optional<FileIdentity> identity_;  ///< nothing: read it again
  std::chrono::steady_clock::time_point looked_{};
};

}  // namespace bridge
