#pragma once

#include <termios.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>
#include <vector>

#include "terminal/console.hpp"

namespace client {

/// The role of a piece of text, which a terminal may show by a colour.
enum class Tone { plain, strong, faint, good, warning, bad };

/// How text is shown: the terminal's abilities, and the available room.
struct Look {
  bool colours = false;
  bool unicode = false;    ///< more than ASCII
  std::size_t width = 0;   ///< columns; 0: no limit
  std::size_t height = 0;  ///< rows; 0: no limit
};

/// The look of stdout: plain if it is not a terminal; no colours with NO_COLOR or a dumb terminal;
/// ASCII unless the locale's variables say UTF-8. `variable` reads the environment.
Look choose_look(bool is_terminal, std::size_t width, std::size_t height,
                 const char* (*variable)(const char*));

/// One line, built piece by piece. Safe for a terminal: control characters of added text are made
/// visible, so it stays on the line.
class StyledLine {
 public:
  StyledLine& add(std::string_view text, Tone tone = Tone::plain);
  /// Pads with spaces to that column.
  StyledLine& pad_to(std::size_t column);

  std::size_t width() const { return width_; }
  bool is_empty() const { return pieces_.empty(); }
  /// The text with control sequences for the tones, cut to the look's width; without a line break.
  std::string draw(const Look& look) const;

 private:
  struct Piece {
    std::string text;
    Tone tone;
  };
  std::vector<Piece> pieces_;
  std::size_t width_ = 0;
};

/// The lines, each ending with a line break.
std::string draw_lines(const std::vector<StyledLine>& lines, const Look& look);

/// The present look of the console's output, as a window's size changes. `whole_screen`: no more
/// rows than it has.
inline Look look_of(const Console& console, bool whole_screen = false) {
  return choose_look(console.output_is_terminal(), console.output_width(),
                     whole_screen ? console.output_height() : 0,
                     [](const char* name) -> const char* { return std::getenv(name); });
}

/// A JSON object or list over several lines, in colours for the look. REQUIRES: valid, and safe for
/// a terminal.
std::string pretty_json(std::string_view json, const Look& look);

/// A bar of so many cells: `█████▋░░░░` with `unicode`, else `[#####----]` with the brackets
/// outside of the cells. The fraction is clamped to 0..1; one above 0 is never shown as empty, one
/// below 1 never as full.
std::string draw_gauge(double fraction, std::size_t cells, bool unicode);

/// The content of one notifications/progress.
struct Progress {
  double done = 0;
  std::optional<double> total;
  std::string message;  ///< as the server wrote it
};

/// Reads the params of a notifications/progress; nullopt if they are for another token or are not
/// progress. `token` is JSON.
std::optional<Progress> read_progress(std::string_view params, std::string_view token);

/// One line without line break that fits into `width` columns, safe for a terminal.
std::string draw_progress(const Progress& progress, std::size_t width);

/// Lines that are displayed repeatedly. On a terminal they take the whole screen, each text
/// replacing the last one in a single write, and the previous screen is restored at the end;
/// elsewhere each text follows the last one after an empty line. Meanwhile keys of the terminal on
/// stdin are readable at once and not shown, unless the process is in the background.
class FullScreen {
 public:
  explicit FullScreen(Console& console);
  ~FullScreen() { leave(); }
  FullScreen(const FullScreen&) = delete;
  FullScreen& operator=(const FullScreen&) = delete;

  /// Lines beyond the look's height are left out.
  void show(const std::vector<StyledLine>& lines, const Look& look);

  /// Switches to the full screen; does nothing if already done, or without a terminal.
  void enter();
  /// The descriptor of the keys, -1 if there are none.
  int keys() const { return keys_before_ ? STDIN_FILENO : -1; }
  /// Whether q was typed since the last time, or the terminal is gone. Does not wait.
  bool has_quit_key() const;
  /// Restores the terminal, for messages or a pause; does nothing if already done.
  void leave();

 private:
  Console& console_;
  bool entered_ = false;
  bool has_shown_ = false;
  std::optional<termios> keys_before_;  // while they are readable at once
};

}  // namespace client
