#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

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

/// Where distributions keep the certificate authorities they trust, as one file (PEM).
const std::vector<std::string>& known_ca_files();

/// The first of `known` that can be read, else `own`; empty if `usual`, which the TLS library uses
/// by itself, can be read, or if nothing can.
std::string choose_ca_file(std::string_view usual, const std::vector<std::string>& known,
                           const std::string& own);

/// The file to trust where the one that libcurl was built for is missing: in an image of another
/// distribution, or in one without any, where the copy that stands beside a self-contained program
/// counts (docker/self_contained.sh). Empty: libcurl's own.
std::string find_ca_file();

}  // namespace bridge
