#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/secret_file.hpp"

namespace bridge {

/// A file that holds one token: checked at most once a second, read again when it has changed or
/// had a fault. While it cannot be used, there is no token; the last one is not used further. The
/// loop's thread only.
class WatchedToken {
 public:
  /// Reads it; `option` names it in the fault.
  WatchedToken(std::string path, std::string_view option);

  /// Reads it again if it has changed, and returns whether it did; does nothing within a second
  /// after the last check.
  bool look(SteadyTime now);
  void read();
  /// Empty: fault() says why.
  const std::string& token() const { return token_; }
  const std::string& fault() const { return fault_; }

 private:
  std::string path_;
  std::string option_;
  std::string token_;
  std::string fault_;
  std::optional<FileIdentity> identity_;  ///< of the file that was read; none: read it again
  SteadyTime looked_{};
};

}  // namespace bridge
