#include "terminal/full_screen.hpp"

#include <algorithm>

namespace client {
namespace {

constexpr std::string_view enter_sequence =
    "\x1b[?1049h\x1b[?25l\x1b[H\x1b[2J";  // other screen, no cursor
constexpr std::string_view leave_sequence = "\x1b[?25h\x1b[?1049l";
constexpr std::string_view top_left = "\x1b[H";
constexpr std::string_view clear_to_line_end = "\x1b[K";
constexpr std::string_view clear_to_screen_end = "\x1b[J";

}  // namespace

FullScreen::FullScreen(Console& console) : console_(console) { enter(); }

void FullScreen::enter() {
  if (entered_ || !console_.output_is_terminal()) return;
  console_.print_raw(enter_sequence);
  entered_ = true;
}

void FullScreen::leave() {
  if (!entered_) return;
  entered_ = false;
  console_.print_raw(leave_sequence);
}

void FullScreen::show(const std::vector<StyledLine>& lines, const Look& look) {
  const bool is_repeat = std::exchange(has_shown_, true);
  if (!entered_) {
    console_.print_raw((is_repeat ? "\n" : "") + draw_lines(lines, look));
    return;
  }
  // The last column stays free: filling it leaves the cursor in it, and clearing would erase it.
  Look inner = look;
  if (inner.width > 1) --inner.width;
  const std::size_t rows = look.height > 0 ? std::min(lines.size(), look.height) : lines.size();
  std::string frame(top_left);
  for (std::size_t at = 0; at < rows; ++at) {
    if (at > 0) frame += "\r\n";
    frame += lines[at].draw(inner);
    frame += clear_to_line_end;
  }
  // From behind the last line on; a line break in the last row would scroll the screen.
  if (rows < look.height) {
    frame += "\r\n";
    frame += clear_to_screen_end;
  }
  console_.print_raw(frame);
}

}  // namespace client
