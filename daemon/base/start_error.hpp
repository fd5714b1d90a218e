#pragma once

#include <stdexcept>
#include <string>

namespace bridge {

/// Exit codes (BEHAVIOUR, "Start"; the numbers of sysexits.h).
namespace exit_code {
constexpr int usage = 64;
constexpr int cannot_run = 69;
constexpr int cannot_bind = 73;
constexpr int configuration = 78;
}  // namespace exit_code

/// Why the daemon cannot start: one line for a person, and the exit code. Thrown to main only.
class StartError : public std::runtime_error {
 public:
  StartError(int code, const std::string& message) : std::runtime_error(message), code_(code) {}
  int code() const { return code_; }

 private:
  int code_;
};

}  // namespace bridge
