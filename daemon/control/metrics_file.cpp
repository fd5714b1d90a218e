#include "control/metrics_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

namespace bridge {
namespace {

bool write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

/// A file that was not there before: nothing that others have put there is written to or waited
/// for. What an earlier process of this number has left is removed.
int make_file(const std::string& path) {
  const auto make = [&path] {
    return open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
  };
  const int descriptor = make();
  if (descriptor >= 0 || errno != EEXIST || unlink(path.c_str()) != 0) return descriptor;
  return make();
}

}  // namespace

// The collector reads what ends in `.prom`, so the temporary name must not.
std::string replace_file(const std::string& path, const std::string& text) {
  const std::string temporary = fmt::format("{}.{}", path, getpid());
  const int descriptor = make_file(temporary);
  if (descriptor < 0) return std::strerror(errno);
  // fchmod: whatever the umask is. No fsync: after a crash of the machine the figures are worth
  // nothing.
  bool well = fchmod(descriptor, 0644) == 0 && write_all(descriptor, text);
  int error = errno;
  if (close(descriptor) != 0 && well) {
    well = false;
    error = errno;
  }
  if (well && rename(temporary.c_str(), path.c_str()) == 0) return {};
  if (well) error = errno;
  unlink(temporary.c_str());
  return std::strerror(error);
}

MetricsFile::MetricsFile(EventLoop& loop, std::string path, std::function<std::string()> text,
                         Log& log)
    : path_(std::move(path)),
      text_(std::move(text)),
      log_(log),
      timer_(loop, [this] { write(); }) {}

MetricsFile::~MetricsFile() {
  if (written_) unlink(path_.c_str());
}

void MetricsFile::write() {
  const std::string fault = replace_file(path_, text_());
  written_ = written_ || fault.empty();
  if (!fault.empty()) {
    log_.peer(LogLevel::error, "metrics file", "--metrics-file {} cannot be written: {}", path_,
              fault);
  }
  timer_.set_after(interval);
}

}  // namespace bridge
