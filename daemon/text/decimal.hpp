#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace bridge {

// Numbers with a fraction. They are written by the C library, which is in a static program anyway,
// while std::to_chars and fmt bring tables of their own; what uses these leaves its locale alone,
// so that the point is a point. No thread matters, nothing throws but for memory.

/// `number`: in JSON's grammar (RFC 8259, section 6), or digits with a point. None: something else
/// stands in it, or it is too large or too small for a double.
[[nodiscard]] std::optional<double> to_double(std::string_view number);

/// The fewest digits that are read as the same number again.
[[nodiscard]] std::string shortest_text(double number);

/// Rounded to so many digits that matter, at most 17; without zeros at its end.
[[nodiscard]] std::string general_text(double number, int digits);

/// With so many digits behind the point, at most 17.
[[nodiscard]] std::string fixed_text(double number, int digits);

}  // namespace bridge
