#pragma once

#include <cstdint>
#include <string_view>

namespace bridge {

/// What a client must have declared to be asked a request of the upstream, as bits: one of them is
/// enough. None: any client that has initialized may be asked, and knows itself what it answers
/// (MCP 2025-11-25, "Client Features").
enum class AskedFor : std::uint8_t {
  anything = 0,
  sampling = 1,
  elicitation_form = 2,
  elicitation_url = 4,
  roots = 8,
};

constexpr AskedFor last_of(AskedFor) { return static_cast<AskedFor>(15); }  // all bits
constexpr AskedFor operator|(AskedFor left, AskedFor right) {
  return static_cast<AskedFor>(static_cast<unsigned>(left) | static_cast<unsigned>(right));
}
constexpr bool overlap(AskedFor left, AskedFor right) {
  return (static_cast<unsigned>(left) & static_cast<unsigned>(right)) != 0;
}

/// What this request of the upstream asks for. `params` is JSON, or empty.
AskedFor asked_for(std::string_view method, std::string_view params);

/// The capabilities, as JSON, that a client must declare to be asked this.
std::string_view capabilities_for(AskedFor asked);

/// What `capabilities`, a client's in its `initialize`, declare. Anything but an object declares
/// nothing. An elicitation that names no mode is the one by form.
AskedFor declared_by(std::string_view capabilities);

}  // namespace bridge
