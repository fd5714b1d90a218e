#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <variant>

#include "base/descriptor.hpp"

namespace bridge {

/// The path by which this process was started, links kept; `name` is its first argument. If that
/// does not lead to this program, the kernel's word. REQUIRES: called at the start, before another
/// file can have taken the place.
std::string program_as_started(const std::string& name);

/// Copies the program at `path` into memory to be checked and executed, or says why it is not: it
/// must be a file of root's or of our own user that only they can write, in folders of which the
/// same holds. The copy is sealed, and can be executed but not read: so the kernel lets no other
/// process of the same user inspect the process that executes it, from its first instant on
/// (ptrace(2), "PTRACE_MODE"; execve(2)). REQUIRES then: FileCapabilitiesOff around the execution.
std::variant<Descriptor, std::string> open_program(const std::string& path);

/// While it lives, a process of root does not read files that it may not (CAP_DAC_OVERRIDE and
/// CAP_DAC_READ_SEARCH are not effective); what is executed meanwhile has them again.
class FileCapabilitiesOff {
 public:
  FileCapabilitiesOff();
  ~FileCapabilitiesOff();
  FileCapabilitiesOff(const FileCapabilitiesOff&) = delete;
  FileCapabilitiesOff& operator=(const FileCapabilitiesOff&) = delete;

 private:
  std::array<std::uint32_t, 6> before_{};  ///< of the calling thread, as capget(2) gives them
  bool changed_ = false;
};

}  // namespace bridge
