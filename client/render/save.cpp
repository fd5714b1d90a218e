#include "render/save.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "system/file_descriptor.hpp"

namespace client {
namespace {

constexpr std::size_t longest_name = 100;
constexpr int most_tries = 10000;

struct TypeEntry {
  std::string_view mime_type;
  std::string_view extension;
};

constexpr TypeEntry known_types[] = {
    {"image/png", "png"},       {"image/jpeg", "jpg"},        {"image/gif", "gif"},
    {"image/webp", "webp"},     {"image/svg+xml", "svg"},     {"image/bmp", "bmp"},
    {"image/tiff", "tiff"},     {"image/avif", "avif"},       {"audio/wav", "wav"},
    {"audio/x-wav", "wav"},     {"audio/mpeg", "mp3"},        {"audio/mp3", "mp3"},
    {"audio/ogg", "ogg"},       {"audio/flac", "flac"},       {"audio/webm", "weba"},
    {"audio/mp4", "m4a"},       {"audio/aac", "aac"},         {"video/mp4", "mp4"},
    {"video/webm", "webm"},     {"application/pdf", "pdf"},   {"application/json", "json"},
    {"application/zip", "zip"}, {"application/gzip", "gz"},   {"application/x-tar", "tar"},
    {"application/xml", "xml"}, {"application/wasm", "wasm"}, {"text/plain", "txt"},
    {"text/html", "html"},      {"text/css", "css"},          {"text/csv", "csv"},
    {"text/markdown", "md"},    {"text/xml", "xml"}};

std::string_view extension_for(std::string_view mime_type) {
  mime_type = mime_type.substr(0, mime_type.find_first_of("; "));
  const auto* found =
      std::find_if(std::begin(known_types), std::end(known_types),
                   [mime_type](const TypeEntry& entry) { return entry.mime_type == mime_type; });
  return found == std::end(known_types) ? "bin" : found->extension;
}

bool is_harmless(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '_' || c == '-';
}

/// The last part of an address, reduced to harmless characters; may be empty.
std::string last_part(std::string_view address) {
  address = address.substr(0, address.find_first_of("?#"));
  while (!address.empty() && address.back() == '/') address.remove_suffix(1);
  address = address.substr(address.rfind('/') + 1);
  std::string name;
  for (const char c : address.substr(0, longest_name)) name.push_back(is_harmless(c) ? c : '_');
  const std::size_t start = name.find_first_not_of(".-_");
  return start == std::string::npos ? "" : name.substr(start);
}

struct NameParts {
  std::string stem;
  std::string extension;  // with its dot
};

NameParts split(const std::string& name) {
  const std::size_t dot = name.rfind('.');
  if (dot == std::string::npos || dot == 0) return {name, ""};
  return {name.substr(0, dot), name.substr(dot)};
}

bool write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

}  // namespace

std::string choose_file_name(const ContentPart& part) {
  std::string name = last_part(part.name);
  if (name.empty()) name = part.what;
  // A name that brings its own extension keeps it, unless the type is known to be another.
  const std::string_view wanted = extension_for(part.mime_type);
  const std::string own = split(name).extension;
  const bool is_known = wanted != "bin";
  const bool differs = own.empty() || std::string_view(own).substr(1) != wanted;
  if (own.empty() || (is_known && differs && part.what != "blob")) {
    name.push_back('.');
    name += wanted;
  }
  return name;
}

std::variant<std::string, SaveFailure> save_file(const std::string& folder, const std::string& name,
                                                 std::string_view bytes) {
  const auto failure = [&folder](std::string_view what) {
    return SaveFailure{
        fmt::format("cannot write to {}: {}: {}", folder, what, std::strerror(errno))};
  };
  if (::mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST) return failure("folder not made");
  const FileDescriptor directory(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory) return failure("folder not opened");
  const NameParts parts = split(name);
  for (int number = 1; number <= most_tries; ++number) {
    const std::string candidate =
        number == 1 ? name : fmt::format("{}-{}{}", parts.stem, number, parts.extension);
    const FileDescriptor file(::openat(directory.get(), candidate.c_str(),
                                       O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
    if (!file && errno == EEXIST) continue;
    if (!file) return failure(candidate);
    if (!write_all(file.get(), bytes)) {
      const SaveFailure full_disk = failure(candidate);
      ::unlinkat(directory.get(), candidate.c_str(), 0);  // half a file is none
      return full_disk;
    }
    return fmt::format("{}{}{}", folder, folder.back() == '/' ? "" : "/", candidate);
  }
  return failure("no free name");
}

}  // namespace client
