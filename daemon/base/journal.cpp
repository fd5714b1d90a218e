#include "base/journal.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <cstdint>
#include <cstdlib>

namespace bridge {

bool names_file(std::string_view variable, dev_t device, ino_t inode) {
  const char* const last = variable.data() + variable.size();
  std::uint64_t named_device = 0;
  const auto [colon, device_error] = std::from_chars(variable.data(), last, named_device);
  if (device_error != std::errc() || colon == last || *colon != ':') return false;
  std::uint64_t named_inode = 0;
  const auto [end, inode_error] = std::from_chars(colon + 1, last, named_inode);
  return inode_error == std::errc() && end == last && named_device == device &&
         named_inode == inode;
}

bool stderr_is_journal() {
  const char* const variable = std::getenv("JOURNAL_STREAM");
  struct stat file {};
  return variable != nullptr && fstat(STDERR_FILENO, &file) == 0 &&
         names_file(variable, file.st_dev, file.st_ino);
}

std::string_view journal_prefix(LogLevel level) {
  switch (level) {
    case LogLevel::debug: return "<7>";
    case LogLevel::info: return "<6>";
    case LogLevel::warning: return "<4>";
    case LogLevel::error:
    case LogLevel::off: break;
  }
  return "<3>";
}

}  // namespace bridge
