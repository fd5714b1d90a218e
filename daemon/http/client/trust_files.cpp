#include "http/client/trust_files.hpp"

#include <curl/curl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <string_view>

#include "base/start_error.hpp"

namespace bridge {
namespace {

bool write_all(int descriptor, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = write(descriptor, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

HeldFile::HeldFile(const std::string& content)
    : descriptor_(memfd_create("mcp-bridged", MFD_CLOEXEC)),
      path_(fmt::format("/proc/self/fd/{}", descriptor_)) {
  if (descriptor_ >= 0 && write_all(descriptor_, content)) return;
  const int error = errno;
  if (descriptor_ >= 0) close(descriptor_);
  throw StartError(exit_code::configuration,
                   fmt::format("a certificate cannot be kept in memory: {}", std::strerror(error)));
}

HeldFile::~HeldFile() { close(descriptor_); }

namespace {

bool can_be_read(const std::string& file) {
  return !file.empty() && access(file.c_str(), R_OK) == 0;
}

/// `share/` beside the program's folder `bin/`.
std::string beside_program() {
  std::array<char, PATH_MAX> path{};
  const ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
  if (length <= 0) return {};
  const std::string program(path.data(), static_cast<std::size_t>(length));
  const std::size_t folder = program.rfind("/bin/");
  if (folder == program.npos) return {};
  return program.substr(0, folder) + "/share/mcp-session-bridge/ca-certificates.crt";
}

}  // namespace

const std::vector<std::string>& known_ca_files() {
  static const std::vector<std::string> files = {
      "/etc/ssl/certs/ca-certificates.crt",                 // Debian, Ubuntu, Arch
      "/etc/ssl/cert.pem",                                  // Alpine
      "/etc/pki/tls/certs/ca-bundle.crt",                   // Fedora
      "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",  // RHEL
      "/etc/ssl/ca-bundle.pem",                             // openSUSE
  };
  return files;
}

std::string choose_ca_file(std::string_view usual, const std::vector<std::string>& known,
                           const std::string& own) {
  if (can_be_read(std::string(usual))) return {};
  for (const std::string& file : known) {
    if (can_be_read(file)) return file;
  }
  return can_be_read(own) ? own : std::string();
}

std::string find_ca_file() {
  const curl_version_info_data* const library = curl_version_info(CURLVERSION_NOW);
  const char* const usual = library->cainfo;
  return choose_ca_file(usual == nullptr ? "" : usual, known_ca_files(), beside_program());
}

}  // namespace bridge
