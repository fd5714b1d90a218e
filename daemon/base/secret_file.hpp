#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <string>
#include <vector>

namespace bridge {

/// The value of a header that was configured; behind a scheme ("Bearer", "Basic") the credentials
/// are one by themselves (RFC 9110, section 11.4).
inline void add_header_secrets(const std::string& value, std::vector<std::string>& secrets) {
  secrets.push_back(value);
  const auto space = value.find(' ');
  if (space != value.npos) secrets.push_back(value.substr(space + 1));
}

/// What was read of a file, or why it cannot be.
struct FileContent {
  std::string bytes;
  std::string fault;      ///< empty: it was read. Names neither the file nor anything in it
  struct stat status {};  ///< of what was read
};

/// Reads a file of the configuration: a regular one of at most `most` bytes, links followed.
///
/// It never waits, and opens nothing that acts on being opened: a FIFO, a terminal or another
/// device in the file's place is a fault. Every file that an option names goes through here. May be
/// called on the loop's thread at any time.
FileContent read_regular_file(const std::string& path, std::size_t most);

/// What of a file changes when its content does, be it replaced or rewritten.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::int64_t modified_ns = 0;
  std::int64_t size = -1;

  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};

/// Nothing that a file could have, if there is none.
FileIdentity identity_of(const std::string& path);

struct SecretFile {
  std::string content;    ///< without the line ends at its end
  std::string fault;      ///< why it cannot be had, naming the file but nothing in it; or empty
  FileIdentity identity;  ///< of what was read
  /// It was written so recently that it may be written again without its identity changing.
  bool is_fresh = false;
};

/// Reads a small file that holds a secret (read_regular_file()): at most 64 KiB, and not empty.
/// `what` names the option for the fault.
SecretFile read_secret_file(const std::string& path, const std::string& what);

/// Whether all of it can stand in an Authorization header: visible ASCII, at least one character
/// and at most 64 KiB.
bool is_token(const std::string& text);

/// Where the service manager put the credential of that name (LoadCredential=, systemd.exec(5));
/// empty if it passed none.
std::string credential_file(const std::string& name);

}  // namespace bridge
