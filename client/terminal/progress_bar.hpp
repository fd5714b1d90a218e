#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace client {

/// What one notifications/progress said.
struct Progress {
  double done = 0;
  std::optional<double> total;
  std::string message;  ///< as the server wrote it
};

/// Reads the params of a notifications/progress; nothing if they are for another token or no
/// progress. `token` is JSON.
std::optional<Progress> read_progress(std::string_view params, std::string_view token);

/// One line without line break that fits into `width` columns, safe for a terminal.
std::string draw_progress(const Progress& progress, std::size_t width);

/// `[####----]`, `cells` wide inside the brackets. A fraction out of 0..1 is brought into it.
std::string draw_bar(double fraction, std::size_t cells);

}  // namespace client
