#pragma once

#include <string_view>

namespace bridge {

/// What some editors put before UTF-8; it is no part of the text.
inline constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

}  // namespace bridge
