#include "terminal/full_screen.hpp"

#include <algorithm>
#include <string>

#include "terminal/utf8.hpp"
#include "terminal/visible.hpp"

namespace client {
namespace {

constexpr std::string_view enter_sequence = "\x1b[?1049h\x1b[?25l";  // other screen, no cursor
constexpr std::string_view leave_sequence = "\x1b[?25h\x1b[?1049l";
constexpr std::string_view top_left = "\x1b[H";
constexpr std::string_view clear_to_line_end = "\x1b[K";
constexpr std::string_view clear_to_screen_end = "\x1b[J";

}  // namespace

FullScreen::FullScreen(Console& console) : console_(console) {
  if (!console.output_is_terminal()) return;
  console.print_raw(enter_sequence);
  entered_ = true;
}

void FullScreen::leave() {
  if (!entered_) return;
  entered_ = false;
  console_.print_raw(leave_sequence);
}

void FullScreen::show(std::string_view text, bool is_repeat) {
  if (!entered_) {
    if (is_repeat) console_.print("\n");
    return console_.print(text);
  }
  const std::string visible = make_visible(text);
  // The last column stays free: filling it leaves the cursor in it, and clearing would erase it.
  const std::size_t width = console_.output_width() - 1;
  std::size_t rows_left = console_.output_height();
  std::string frame(top_left);
  std::string_view rest = visible;
  while (!rest.empty() && rows_left > 0) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    frame += fit_columns(rest.substr(0, end), width);
    frame += clear_to_line_end;
    rest.remove_prefix(std::min(end + 1, rest.size()));
    // A line break in the last row would scroll the screen.
    if (--rows_left > 0 && !rest.empty()) frame += "\r\n";
  }
  frame += rest.empty() && rows_left > 0 ? "\r\n" : "";
  if (rest.empty() && rows_left > 0) frame += clear_to_screen_end;
  console_.print_raw(frame);
}

}  // namespace client
