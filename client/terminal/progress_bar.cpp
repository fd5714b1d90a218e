#include "terminal/progress_bar.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "json/scan.hpp"
#include "json/value.hpp"
#include "terminal/utf8.hpp"
#include "terminal/visible.hpp"

namespace client {
namespace {

constexpr std::size_t widest_bar = 30;
constexpr std::size_t narrowest_bar = 5;

std::string amount(double number) { return fmt::format("{:.6g}", number); }

}  // namespace

std::optional<Progress> read_progress(std::string_view params, std::string_view token) {
  const auto found = json::member(params, "progressToken");
  if (!found || *found != token) return std::nullopt;
  const auto value = json::parse(params);
  if (!value) return std::nullopt;
  const json::Value* done = value->find("progress", json::Value::Kind::number);
  if (done == nullptr) return std::nullopt;
  Progress progress;
  progress.done = done->number;
  if (const json::Value* total = value->find("total", json::Value::Kind::number)) {
    progress.total = total->number;
  }
  progress.message = value->string("message");
  return progress;
}

std::string draw_bar(double fraction, std::size_t cells) {
  if (!(fraction > 0)) fraction = 0;
  fraction = std::min(fraction, 1.0);
  const auto full = static_cast<std::size_t>(std::floor(fraction * static_cast<double>(cells)));
  return "[" + std::string(full, '#') + std::string(cells - full, '-') + "]";
}

std::string draw_progress(const Progress& progress, std::size_t width) {
  std::string line;
  if (progress.total && *progress.total > 0) {
    const double fraction = progress.done / *progress.total;
    const std::string figures = fmt::format("{:3.0f}% {}/{}", std::clamp(fraction, 0.0, 1.0) * 100,
                                            amount(progress.done), amount(*progress.total));
    // Half of the line is for the message, if there is one.
    const std::size_t share = progress.message.empty() ? width : width / 2;
    const std::size_t taken = figures.size() + 3;
    const std::size_t cells = share > taken ? std::min(share - taken, widest_bar) : 0;
    if (cells >= narrowest_bar) line = draw_bar(fraction, cells) + " ";
    line += figures;
  } else {
    line = amount(progress.done);
  }
  if (!progress.message.empty()) line += " " + make_visible_line(progress.message);
  return std::string(fit_columns(line, width));
}

}  // namespace client
