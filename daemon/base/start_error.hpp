#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace bridge {

/// Exit codes (BEHAVIOUR, "Start"; the numbers of sysexits.h).
namespace exit_code {
constexpr int usage = 64;
constexpr int cannot_run = 69;
constexpr int cannot_bind = 73;
constexpr int configuration = 78;
}  // namespace exit_code

/// Why the daemon cannot start: a line for a person (StartChecks: several), and the exit code.
/// Thrown to main only.
class StartError : public std::runtime_error {
 public:
  StartError(int code, const std::string& message) : std::runtime_error(message), code_(code) {}
  int code() const { return code_; }

 private:
  int code_;
};

/// Checks that do not depend on one another: those of --check all run, and throw together what is
/// wrong, a line each; else the first that fails throws. A value.
class StartChecks {
 public:
  explicit StartChecks(bool all) : all_(all) {}

  /// `check` throws StartError.
  template <class Check>
  void run(Check&& check) {
    try {
      std::forward<Check>(check)();
    } catch (const StartError& error) {
      if (!all_) throw;
      if (!faults_.empty()) faults_ += '\n';
      faults_ += error.what();
    }
  }
  void throw_faults() const {
    if (!faults_.empty()) throw StartError(exit_code::configuration, faults_);
  }

 private:
  bool all_;
  std::string faults_;
};

}  // namespace bridge
