#include "state/log_writer.hpp"

#include <cerrno>

namespace bridge {
namespace {

/// What grew for a large write is given back.
constexpr std::size_t usual_capacity = 64u << 10;

}  // namespace

bool LogWriter::write() {
  std::string_view rest = gathered_;
  while (!rest.empty()) {
    const ssize_t count =
        pwrite(file_.get(), rest.data(), rest.size(), static_cast<off_t>(written_));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      if (count == 0) errno = ENOSPC;
      return false;
    }
    written_ += static_cast<std::uint64_t>(count);
    rest.remove_prefix(static_cast<std::size_t>(count));
  }
  gathered_.clear();
  if (gathered_.capacity() > usual_capacity) gathered_.shrink_to_fit();
  return true;
}

}  // namespace bridge
