#pragma once

#include <doctest/doctest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <string>

namespace bridge {

/// Captures this process's stderr while it lives: the output of a Log that is made meanwhile.
class CapturedStderr {
 public:
  CapturedStderr() : before_(dup(STDERR_FILENO)), file_(memfd_create("stderr", MFD_CLOEXEC)) {
    REQUIRE(before_ >= 0);
    REQUIRE(file_ >= 0);
    dup2(file_, STDERR_FILENO);
  }
  ~CapturedStderr() {
    dup2(before_, STDERR_FILENO);
    close(before_);
    close(file_);
  }
  CapturedStderr(const CapturedStderr&) = delete;
  CapturedStderr& operator=(const CapturedStderr&) = delete;

  std::string text() const {
    std::string all;
    std::array<char, 4096> buffer{};
    for (;;) {
      const ssize_t length =
          pread(file_, buffer.data(), buffer.size(), static_cast<off_t>(all.size()));
      if (length <= 0) return all;
      all.append(buffer.data(), static_cast<std::size_t>(length));
    }
  }
  bool has(const std::string& part) const { return text().find(part) != std::string::npos; }

 private:
  int before_;
  int file_;
};

}  // namespace bridge
