#pragma once

#include <signal.h>

#include <functional>
#include <optional>
#include <string>

#include "system/file_descriptor.hpp"

namespace client {

/// While it lives, SIGINT and SIGTERM do not end the process but make a descriptor readable. A
/// signal that the caller had ignored (nohup, a shell's background job) stays ignored.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  /// To poll for POLLIN; -1 if there is none.
  int descriptor() const { return descriptor_.get(); }

  /// The number of the signal that came, 0 if none did.
  int take();

 private:
  FileDescriptor descriptor_;
  sigset_t before_{};
  int seen_ = 0;
};

/// A line that is typed at the terminal on stdin, without its end; nothing at the end of the input
/// or after an interrupt. `hidden`: what is typed is not shown, from before `prompt` is called on.
/// REQUIRES: stdin is a terminal, and nobody else reads it.
std::optional<std::string> read_typed_line(bool hidden, const std::function<void()>& prompt);

}  // namespace client
