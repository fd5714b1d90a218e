#pragma once

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "json/frame.hpp"

namespace bridge {

/// The frame of a valid text; fails the test otherwise.
inline Frame frame_of(std::string text) {
  auto parsed = parse_frame(std::move(text));
  const auto* fault = std::get_if<FrameFault>(&parsed);
  const std::string reason(fault != nullptr ? fault->reason : "");
  CAPTURE(reason);
  REQUIRE(fault == nullptr);
  return std::get<Frame>(std::move(parsed));
}

/// The error code for a text; 0 if it is a frame.
inline int fault_of(std::string_view text) {
  const auto parsed = parse_frame(std::string(text));
  const auto* fault = std::get_if<FrameFault>(&parsed);
  return fault == nullptr ? 0 : fault->code;
}

}  // namespace bridge
