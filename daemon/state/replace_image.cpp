#include "state/replace_image.hpp"

#include <fcntl.h>
#include <linux/close_range.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>

#include "process/process_start.hpp"
#include "state/program_file.hpp"

namespace bridge {

void replace_image(NextImage next) {
  const std::vector<char*> arguments = pointers_to(next.arguments);
  const std::vector<char*> environment = pointers_to(next.environment);
  // Whatever a library has opened. What should be closed by exec anyway stays so if this fails.
  close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
  for (const int descriptor : next.descriptors) fcntl(descriptor, F_SETFD, 0);
  const FileCapabilitiesOff until_it_fails;
  execveat(next.program, "", arguments.data(), environment.data(), AT_EMPTY_PATH);
  const int error = errno;
  for (const int descriptor : next.descriptors) fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  errno = error;
}

std::vector<std::string> environment_of_loader(const std::vector<std::string>& environment) {
  constexpr std::array<std::string_view, 8> read_early = {
      "LD_",           "GLIBC_TUNABLES=", "MALLOC_",       "ASAN_OPTIONS=",
      "LSAN_OPTIONS=", "UBSAN_OPTIONS=",  "TSAN_OPTIONS=", "LLVM_PROFILE_FILE="};
  std::vector<std::string> kept;
  for (const std::string& variable : environment) {
    if (std::any_of(read_early.begin(), read_early.end(),
                    [&](std::string_view name) { return variable.starts_with(name); }))
      kept.push_back(variable);
  }
  return kept;
}

}  // namespace bridge
