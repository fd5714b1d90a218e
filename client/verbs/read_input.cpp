#include "verbs/read_input.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "system/file_descriptor.hpp"

namespace client {
namespace {

std::variant<std::string, UsageError> read_whole(int descriptor, const std::string& name) {
  std::string text;
  std::array<char, 65536> bytes;
  for (;;) {
    const ssize_t count = ::read(descriptor, bytes.data(), bytes.size());
    if (count == 0) return text;
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return UsageError{fmt::format("cannot read {}: {}", name, std::strerror(errno))};
    text.append(bytes.data(), static_cast<std::size_t>(count));
    if (text.size() > longest_input)
      return UsageError{fmt::format("{} has more than {} MiB", name, longest_input >> 20)};
  }
}

}  // namespace

std::variant<std::string, UsageError> read_standard_input() {
  return read_whole(STDIN_FILENO, "stdin");
}

std::variant<std::string, UsageError> read_input_file(const std::string& path) {
  if (path == "-") return read_standard_input();
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return UsageError{fmt::format("cannot open '{}': {}", path, std::strerror(errno))};
  return read_whole(file.get(), fmt::format("'{}'", path));
}

}  // namespace client
