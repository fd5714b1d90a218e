#pragma once

#include <cstdlib>
#include <optional>
#include <vector>

#include "terminal/console.hpp"

namespace client {

/// What a piece of text is, which a terminal may show by a colour.
enum class Tone { plain, strong, faint, good, warning, bad };

/// How text is shown: what the terminal can do, and how much room there is.
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

/// One line, piece by piece. Safe for a terminal: whatever is added is made visible and stays on
/// the line.
class StyledLine {
 public:
  StyledLine& add(std::string_view text, Tone tone = Tone::plain);
  /// Fills up with spaces to that column.
  StyledLine& pad_to(std::size_t column);

  std::size_t width() const { return width_; }
  bool is_empty() const { return pieces_.empty(); }
  /// With what a terminal needs for the tones, cut to the look's width; without a line break.
  std::string draw(const Look& look) const;

 private:
  struct Piece {
    std::string text;
    Tone tone;
  };
  std::vector<Piece> pieces_;
  std::size_t width_ = 0;
};

/// Each with a line break.
std::string draw_lines(const std::vector<StyledLine>& lines, const Look& look);

/// The look of the console's output as it is now: a window's size changes. `whole_screen`: no more
/// rows than it has.
inline Look look_of(const Console& console, bool whole_screen = false) {
  return choose_look(console.output_is_terminal(), console.output_width(),
                     whole_screen ? console.output_height() : 0,
                     [](const char* name) -> const char* { return std::getenv(name); });
}

/// A bar of so many cells: `█████▋░░░░` with `unicode`, else `[#####----]` with the brackets beside
/// the cells. A fraction out of 0..1 is brought into it; one above 0 is never shown as nothing, one
/// below 1 never as full.
std::string draw_gauge(double fraction, std::size_t cells, bool unicode);

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

/// Lines that are shown again and again. On a terminal they take the whole screen, each text drawn
/// over the last one in a single write, and what was there before comes back at the end; elsewhere
/// each text follows the last one after an empty line.
class FullScreen {
 public:
  explicit FullScreen(Console& console);
  ~FullScreen() { leave(); }
  FullScreen(const FullScreen&) = delete;
  FullScreen& operator=(const FullScreen&) = delete;

  /// What does not fit into the look's height is left out.
  void show(const std::vector<StyledLine>& lines, const Look& look);

  /// Takes the screen; nothing if that was done, or if there is none.
  void enter();
  /// Gives the terminal back, for messages or a pause; nothing if that was done.
  void leave();

 private:
  Console& console_;
  bool entered_ = false;
  bool has_shown_ = false;
};

}  // namespace client
