#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <string>
#include <vector>

namespace bridge {

/// Adds the value of a configured header to `secrets`; after a scheme ("Bearer", "Basic") the
/// credentials are also added alone (RFC 9110, section 11.4).
inline void add_header_secrets(const std::string& value, std::vector<std::string>& secrets) {
  secrets.push_back(value);
  const auto space = value.find(' ');
  if (space != value.npos) secrets.push_back(value.substr(space + 1));
}

/// The content of a file, or why it cannot be read.
struct FileContent {
  std::string bytes;
  std::string fault;      ///< empty: it was read. Names neither the file nor anything in it
  struct stat status {};  ///< of what was read
};

/// Reads a configuration file: a regular file of at most `most` bytes; links are followed.
///
/// Never blocks, and opens nothing that acts on being opened: a FIFO, a terminal or another device
/// in the file's place is a fault. Every file that an option names is read by this. May be called
/// on the loop's thread at any time.
FileContent read_regular_file(const std::string& path, std::size_t most);

/// The attributes of a file that change when its content is replaced or rewritten.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::int64_t modified_ns = 0;
  std::int64_t size = -1;

  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};

/// A value that no file has, if there is no file.
FileIdentity identity_of(const std::string& path);

struct SecretFile {
  std::string content;    ///< without trailing line ends
  std::string fault;      ///< why it cannot be used, naming the file but nothing in it; or empty
  FileIdentity identity;  ///< of what was read
  /// Written so recently that another write may leave its identity unchanged.
  bool is_fresh = false;
};

/// Reads a small file that holds a secret (read_regular_file()): at most 64 KiB, and not empty.
/// `what` names the option for the fault.
SecretFile read_secret_file(const std::string& path, const std::string& what);

/// Whether `text` is usable as a whole in an Authorization header: visible ASCII, at least one
/// character and at most 64 KiB.
bool is_token(const std::string& text);

/// The path at which the service manager put the credential of that name (LoadCredential=,
/// systemd.exec(5)); empty if it passed none.
std::string credential_file(const std::string& name);

}  // namespace bridge
