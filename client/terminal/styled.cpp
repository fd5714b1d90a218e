#include "terminal/styled.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "json/document.hpp"
#include "text/characters.hpp"
#include "text/columns.hpp"
#include "text/decimal.hpp"
#include "text/visible_text.hpp"

namespace client {
namespace {

constexpr std::string_view reset = "\x1b[0m";

/// ECMA-48, "Select graphic rendition"; in the order of Tone.
constexpr std::string_view sequences[] = {"",         "\x1b[1m",  "\x1b[2m",
                                          "\x1b[32m", "\x1b[33m", "\x1b[31m"};

std::string_view sequence_of(Tone tone) { return sequences[static_cast<std::size_t>(tone)]; }

bool is_set(const char* value) { return value != nullptr && *value != '\0'; }

/// The first variable that is set decides: locale(7).
bool names_utf8(const char* (*variable)(const char*)) {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* const value = variable(name);
    if (!is_set(value)) continue;
    const std::string locale = bridge::ascii_lower(std::string_view(value));
    return locale.find("utf-8") != locale.npos || locale.find("utf8") != locale.npos;
  }
  return false;
}

constexpr std::size_t eighths_of_a_cell = 8;
constexpr std::array<std::string_view, eighths_of_a_cell> partial = {"",  "▏", "▎", "▍",
                                                                     "▌", "▋", "▊", "▉"};

/// The number of filled cells of `steps`.
std::size_t filled(double fraction, std::size_t steps) {
  if (!(fraction > 0)) return 0;
  if (fraction >= 1) return steps;
  const auto rounded = static_cast<std::size_t>(std::lround(fraction * static_cast<double>(steps)));
  return std::clamp<std::size_t>(rounded, 1, steps - 1);
}

constexpr std::size_t widest_bar = 30;
constexpr std::size_t narrowest_bar = 5;

std::string amount(double number) { return bridge::general_text(number, 6); }

constexpr std::string_view enter_sequence =
    "\x1b[?1049h\x1b[?25l\x1b[H\x1b[2J";  // alternate screen, no cursor
constexpr std::string_view leave_sequence = "\x1b[?25h\x1b[?1049l";
constexpr std::string_view top_left = "\x1b[H";
constexpr std::string_view clear_to_line_end = "\x1b[K";
constexpr std::string_view clear_to_screen_end = "\x1b[J";

}  // namespace

Look choose_look(bool is_terminal, std::size_t width, std::size_t height,
                 const char* (*variable)(const char*)) {
  Look look;
  if (!is_terminal) return look;
  const char* const terminal = variable("TERM");
  const bool is_dumb = !is_set(terminal) || std::string_view(terminal) == "dumb";
  look.colours = !is_dumb && !is_set(variable("NO_COLOR"));
  look.unicode = !is_dumb && names_utf8(variable);
  look.width = width;
  look.height = height;
  return look;
}

StyledLine& StyledLine::add(std::string_view text, Tone tone) {
  if (text.empty()) return *this;
  std::string visible = bridge::make_visible_line(text);
  width_ += bridge::display_width(visible);
  pieces_.push_back({std::move(visible), tone});
  return *this;
}

StyledLine& StyledLine::pad_to(std::size_t column) {
  return width_ < column ? add(std::string(column - width_, ' ')) : *this;
}

std::string StyledLine::draw(const Look& look) const {
  std::string line;
  std::size_t room = look.width > 0 ? look.width : width_;
  for (const Piece& piece : pieces_) {
    const std::string_view fitting = bridge::fit_columns(piece.text, room);
    room -= bridge::display_width(fitting);
    const std::string_view sequence = look.colours ? sequence_of(piece.tone) : "";
    line += sequence;
    line += fitting;
    if (!sequence.empty()) line += reset;
    if (fitting.size() < piece.text.size()) break;
  }
  const std::size_t end = line.find_last_not_of(' ');
  line.erase(end == line.npos ? 0 : end + 1);
  return line;
}

std::string draw_lines(const std::vector<StyledLine>& lines, const Look& look) {
  std::string text;
  for (const StyledLine& line : lines) text += line.draw(look) + "\n";
  return text;
}

std::string draw_gauge(double fraction, std::size_t cells, bool unicode) {
  if (cells == 0) return {};
  if (!unicode) {
    const std::size_t full = filled(fraction, cells);
    return "[" + std::string(full, '#') + std::string(cells - full, '-') + "]";
  }
  const std::size_t eighths = filled(fraction, cells * eighths_of_a_cell);
  const std::size_t full = eighths / eighths_of_a_cell;
  const std::string_view part = partial[eighths % eighths_of_a_cell];
  std::string bar;
  for (std::size_t cell = 0; cell < full; ++cell) bar += "█";
  bar += part;
  for (std::size_t cell = full + (part.empty() ? 0 : 1); cell < cells; ++cell) bar += "░";
  return bar;
}

std::optional<Progress> read_progress(std::string_view params, std::string_view token) {
  if (json::find_member(params, "progressToken") != std::optional(token)) return std::nullopt;
  const json::Value value = json::parse_or_null(params);
  const json::Value* const done = value.find("progress", json::Value::Kind::number);
  if (done == nullptr) return std::nullopt;
  Progress progress;
  progress.done = done->number;
  if (const json::Value* total = value.find("total", json::Value::Kind::number))
    progress.total = total->number;
  progress.message = value.string("message");
  return progress;
}

std::string draw_progress(const Progress& progress, std::size_t width) {
  std::string line;
  if (progress.total && *progress.total > 0) {
    const double fraction = progress.done / *progress.total;
    const std::string percent = bridge::fixed_text(std::clamp(fraction, 0.0, 1.0) * 100, 0);
    const std::string figures =
        fmt::format("{:>3}% {}/{}", percent, amount(progress.done), amount(*progress.total));
    // The message gets half of the line, if there is one.
    const std::size_t share = progress.message.empty() ? width : width / 2;
    const std::size_t taken = figures.size() + 3;
    const std::size_t cells = share > taken ? std::min(share - taken, widest_bar) : 0;
    if (cells >= narrowest_bar) line = draw_gauge(fraction, cells, false) + " ";
    line += figures;
  } else {
    line = amount(progress.done);
  }
  if (!progress.message.empty()) line += " " + bridge::make_visible_line(progress.message);
  return std::string(bridge::fit_columns(line, width));
}

std::string pretty_json(std::string_view json, const Look& look) {
  std::string text;
  std::size_t depth = 0;
  const auto add = [&](std::string_view piece, Tone tone) {
    const std::string_view begin = look.colours ? sequence_of(tone) : "";
    text.append(begin).append(piece).append(begin.empty() ? "" : reset);
  };
  const auto break_line = [&] { text += "\n" + std::string(2 * depth, ' '); };
  for (std::size_t at = 0; at < json.size();) {
    const char c = json[at];
    std::size_t end = at + 1;
    if (c == '"') {
      while (end < json.size() && json[end] != '"') end += json[end] == '\\' ? 2 : 1;
      end = std::min(end + 1, json.size());
      const std::size_t next = std::min(json.find_first_not_of(" \t\r\n", end), json.size());
      add(json.substr(at, end - at), json.substr(next, 1) == ":" ? Tone::strong : Tone::good);
    } else if (c == '{' || c == '[') {
      end = std::min(json.find_first_not_of(" \t\r\n", end), json.size());
      text += c;
      if (json.substr(end, 1) == "}" || json.substr(end, 1) == "]") {
        text += json[end++];
      } else {
        ++depth;
        break_line();
      }
    } else if (c == '}' || c == ']') {
      if (depth > 0) --depth;
      break_line();
      text += c;
    } else if (c == ',') {
      text += c;
      break_line();
    } else if (c == ':') {
      text += ": ";
    } else if (std::string_view(" \t\r\n").find(c) == std::string_view::npos) {
      end = std::min(json.find_first_of(",}] \t\r\n", at), json.size());
      add(json.substr(at, end - at), Tone::warning);
    }
    at = end;
  }
  return text + "\n";
}

FullScreen::FullScreen(Console& console) : console_(console) { enter(); }

void FullScreen::enter() {
  if (entered_ || !console_.output_is_terminal()) return;
  console_.print_raw(enter_sequence);
  entered_ = true;
  termios now{};
  if (!console_.input_is_terminal() || ::tcgetpgrp(STDIN_FILENO) != ::getpgrp() ||
      ::tcgetattr(STDIN_FILENO, &now) != 0)
    return;
  keys_before_ = now;
  now.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  now.c_cc[VMIN] = 0;
  now.c_cc[VTIME] = 0;
  ::tcsetattr(STDIN_FILENO, TCSANOW, &now);
}

bool FullScreen::has_quit_key() const {
  pollfd input = {keys(), POLLIN, 0};
  if (::poll(&input, 1, 0) != 1) return false;
  std::array<char, 64> typed{};
  const ssize_t count = ::read(STDIN_FILENO, typed.data(), typed.size());
  return count <= 0 || std::string_view(typed.data(), static_cast<std::size_t>(count)).find('q') !=
                           std::string_view::npos;
}

void FullScreen::leave() {
  if (!entered_) return;
  entered_ = false;
  if (keys_before_) ::tcsetattr(STDIN_FILENO, TCSANOW, &*keys_before_);
  keys_before_.reset();
  console_.print_raw(leave_sequence);
}

void FullScreen::show(const std::vector<StyledLine>& lines, const Look& look) {
  const bool is_repeat = std::exchange(has_shown_, true);
  if (!entered_) {
    console_.print_raw((is_repeat ? "\n" : "") + draw_lines(lines, look));
    return;
  }
  // The last column stays free: a full one keeps the cursor, and clearing would erase it.
  Look inner = look;
  if (inner.width > 1) --inner.width;
  const std::size_t rows = look.height > 0 ? std::min(lines.size(), look.height) : lines.size();
  std::string frame(top_left);
  for (std::size_t at = 0; at < rows; ++at) {
    if (at > 0) frame += "\r\n";
    frame += lines[at].draw(inner);
    frame += clear_to_line_end;
  }
  // From the end of the last line; a line break in the last row would scroll the screen.
  if (rows < look.height) {
    frame += "\r\n";
    frame += clear_to_screen_end;
  }
  console_.print_raw(frame);
}

}  // namespace client
