#include "state/memory_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <set>
#include <string_view>

#include "base/files.hpp"

namespace bridge {

std::vector<int> named_descriptors(const std::vector<std::string>& arguments) {
  constexpr std::string_view folder = "/proc/self/fd/";
  std::set<int> named;
  for (const std::string& argument : arguments) {
    const std::size_t at = argument.rfind(folder);
    if (at == std::string::npos) continue;
    int number = -1;
    const char* const end = argument.data() + argument.size();
    const auto [rest, error] = std::from_chars(argument.data() + at + folder.size(), end, number);
    const bool is_number = error == std::errc() && rest == end && number > STDERR_FILENO;
    if (is_number && fcntl(number, F_GETFD) != -1) named.insert(number);
  }
  return {named.begin(), named.end()};
}

namespace {

constexpr int seals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;

constexpr int most_tries_to_seal = 6;  // the kernel waits for some 150 ms in each

}  // namespace

bool seal(int memory_file) {
  for (int tries = 1;; ++tries) {
    if (fcntl(memory_file, F_ADD_SEALS, seals) == 0) return true;
    if (errno != EBUSY || tries == most_tries_to_seal) return false;
  }
}

Descriptor make_memory_file(std::string_view bytes) {
  Descriptor file(memfd_create("mcp-bridged state", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file) return file;
  if (!write_all(file.get(), bytes) || !seal(file.get())) return {};
  return file;
}

std::optional<std::string> read_memory_file(int descriptor) {
  struct stat status {};
  // Only a memory file has seals.
  if (fcntl(descriptor, F_GET_SEALS) != seals || fstat(descriptor, &status) != 0)
    return std::nullopt;
  std::string bytes(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count =
        pread(descriptor, bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return std::nullopt;
    done += static_cast<std::size_t>(count);
  }
  return bytes;
}

}  // namespace bridge
