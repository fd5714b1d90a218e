#include "handover/handover_start.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <charconv>
#include <cstring>

#include "base/start_error.hpp"
#include "handover/memory_file.hpp"

namespace bridge {

std::optional<HandedOver> handed_over(int argc, char** argv) {
  if (argc < 3) return std::nullopt;
  const std::string_view option = argv[1];
  if (option != check_option && option != take_over_option) return std::nullopt;
  const auto refuse = [option](std::string_view why) {
    return StartError(exit_code::configuration, fmt::format("{}: {}", option, why));
  };
  int descriptor = -1;
  std::from_chars(argv[2], argv[2] + std::strlen(argv[2]), descriptor);
  const auto bytes = read_memory_file(descriptor);
  if (!bytes) throw refuse("there is no state: this is for the program itself (SIGUSR2)");
  const Descriptor until_the_end(descriptor);
  auto read = read_handover_log(*bytes);
  if (const auto* reason = std::get_if<std::string>(&read)) throw refuse(*reason);
  HandedOver handed{option == check_option, std::move(std::get<HandoverState>(read))};
  if (!handed.only_check) {
    for (const int one : handed.state.descriptors()) fcntl(one, F_SETFD, FD_CLOEXEC);
  }
  return handed;
}

}  // namespace bridge
