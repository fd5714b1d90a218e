#pragma once

#include <optional>
#include <string_view>

#include "handover/handover_state.hpp"

namespace bridge {

// How one image of the program starts another: as the first argument, with the descriptor of the
// state behind it.
constexpr std::string_view check_option = "--check-state";
constexpr std::string_view take_over_option = "--take-over";

/// What an earlier image of the program has left to this one.
struct HandedOver {
  bool only_check = false;  ///< it asks whether it could be gone on with
  HandoverState state;
};

/// Reads it, if the arguments say so. All descriptors that come with it are closed by exec from now
/// on. Throws StartError if it cannot be gone on with.
std::optional<HandedOver> handed_over(int argc, char** argv);

}  // namespace bridge
