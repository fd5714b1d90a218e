#pragma once

#include <string>
#include <vector>

namespace bridge {

/// What takes the place of this image of the program.
struct NextImage {
  int program = -1;  ///< open_program()
  std::vector<std::string> arguments;
  std::vector<std::string> environment;
  std::vector<int> descriptors;  ///< that stay open beside 0, 1 and 2
};

/// Executes it in this process: does not return unless that fails; then all is as before, and errno
/// says why.
void replace_image(NextImage next);

/// Of `environment` (as environ), what is read before main() runs: by the loader, the allocator and
/// sanitizers. The rest goes another way, where nobody sees it.
std::vector<std::string> environment_of_loader(const std::vector<std::string>& environment);

}  // namespace bridge
