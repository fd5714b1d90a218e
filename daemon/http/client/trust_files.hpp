#pragma once

#include <memory>
#include <string>

namespace bridge {

/// What a file of the configuration held, as a file that only this process has: a library may open
/// it by its path at any time, and cannot be made to wait.
class HeldFile {
 public:
  /// Throws StartError (78) if there can be none.
  explicit HeldFile(const std::string& content);
  ~HeldFile();
  HeldFile(const HeldFile&) = delete;
  HeldFile& operator=(const HeldFile&) = delete;

  const std::string& path() const { return path_; }

 private:
  int descriptor_;
  std::string path_;
};

/// --ca-file, --client-cert and --client-key as they were at the start or at the last SIGHUP.
/// curl opens such files by name with every TLS connection: not the user's own, which may be a FIFO
/// by then. Immutable; shared by the handles that may still use it.
struct TrustFiles {
  std::unique_ptr<HeldFile> authorities;  ///< null: the option is not set
  std::unique_ptr<HeldFile> certificate;
  std::unique_ptr<HeldFile> key;
};

}  // namespace bridge
