#include "render/table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "command_line/options.hpp"
#include "text/columns.hpp"
#include "text/decimal.hpp"
#include "text/visible_text.hpp"

namespace client {
namespace {

constexpr std::size_t widest_last_column = 60;
constexpr std::size_t narrowest_last_column = 10;
constexpr std::size_t column_gap = 2;

}  // namespace

std::vector<StyledLine> render_table(std::string_view columns,
                                     std::vector<std::vector<TableCell>> rows, const Look& look) {
  std::vector<TableCell> headings;
  std::string signs;
  while (!columns.empty()) {
    std::string_view heading = columns.substr(0, columns.find('|'));
    columns.remove_prefix(std::min(columns.size(), heading.size() + 1));
    signs += heading.starts_with('>') || heading.starts_with('<') ? heading.front() : ' ';
    if (signs.back() != ' ') heading.remove_prefix(1);
    headings.push_back({std::string(heading), Tone::strong});
  }
  const std::size_t last = headings.size() - 1;
  std::vector<std::size_t> widths;
  std::size_t taken = 0;
  for (std::size_t at = 0; at < last; ++at) {
    std::size_t width = headings[at].text.size();
    for (const auto& row : rows) width = std::max(width, bridge::display_width(row[at].text));
    widths.push_back(width);
    taken += width + column_gap;
  }
  while (look.width > 0 && taken + widest_last_column / 3 > look.width) {
    std::size_t widest = last;
    for (std::size_t at = 0; at < last; ++at) {
      const bool is_wider = widest == last || widths[at] > widths[widest];
      if (signs[at] == '<' && widths[at] > narrowest_last_column && is_wider) widest = at;
    }
    if (widest == last) break;
    --widths[widest];
    --taken;
  }
  std::size_t room = widest_last_column;
  if (look.width > 0)
    room = look.width > taken + narrowest_last_column ? look.width - taken : narrowest_last_column;
  for (auto& row : rows) {
    for (std::size_t at = 0; at < last; ++at) {
      if (signs[at] == '<') row[at].text = in_columns(std::move(row[at].text), widths[at]);
    }
    row[last].text = in_columns(std::move(row[last].text), room);
  }
  rows.insert(rows.begin(), std::move(headings));

  std::vector<StyledLine> lines;
  for (const auto& row : rows) {
    StyledLine& line = lines.emplace_back();
    std::size_t begin = 0;
    for (std::size_t at = 0; at < signs.size(); ++at) {
      const std::size_t width = at < last ? widths[at] : 0;
      line.pad_to(signs[at] == '>' ? begin + width - bridge::display_width(row[at].text) : begin);
      line.add(row[at].text, row[at].tone);
      begin += width + column_gap;
    }
  }
  return lines;
}

std::string plain_cell(const json::Value* value) {
  if (value == nullptr || value->is(json::Value::Kind::null)) return "-";
  return bridge::make_visible_line(json::plain_text(*value));
}

std::string in_columns(std::string text, std::size_t room) {
  if (bridge::display_width(text) <= room) return text;
  return std::string(bridge::fit_columns(text, room - 3)) + "...";
}

std::string size_text(std::uint64_t bytes) {
  if (bytes < 1024) return fmt::format("{} B", bytes);
  double amount = static_cast<double>(bytes) / 1024;
  for (const char* unit : {"KiB", "MiB", "GiB"}) {
    const bool is_whole = amount == static_cast<double>(static_cast<std::uint64_t>(amount));
    if (amount < 1024)  // at least two significant digits
      return fmt::format("{} {}", bridge::fixed_text(amount, is_whole || amount >= 10 ? 0 : 1),
                         unit);
    amount /= 1024;
  }
  return bridge::fixed_text(amount, 1) + " TiB";
}

std::string duration_text(const json::Value& object, std::string_view name) {
  return format_duration(Milliseconds(static_cast<Milliseconds::rep>(object.count(name))));
}

std::string time_text(std::uint64_t microseconds) {
  if (microseconds < 10'000) return fmt::format("{} us", microseconds);
  const double milliseconds = static_cast<double>(microseconds) / 1000;
  if (milliseconds < 10'000)
    return bridge::fixed_text(milliseconds, milliseconds < 100 ? 1 : 0) + " ms";
  return bridge::fixed_text(milliseconds / 1000, 1) + " s";
}

std::string counted(std::uint64_t number, std::string_view thing) {
  return fmt::format("{} {}{}", number, thing, number == 1 ? "" : "s");
}

std::string percent_text(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return {};
  const double percent = 100 * static_cast<double>(part) / static_cast<double>(whole);
  if (percent > 0 && percent < 0.1) return "< 0.1 %";
  return bridge::fixed_text(percent, percent > 0 && percent < 10 ? 1 : 0) + " %";
}

Tone tone_of_state(std::string_view state) {
  if (state == "input_required") return Tone::warning;
  if (state == "failed") return Tone::bad;
  return state == "completed" ? Tone::good : Tone::plain;
}

std::vector<StyledLine> render_tasks(const std::vector<json::Value>& tasks, const Look& look) {
  std::vector<std::vector<TableCell>> rows;
  rows.reserve(tasks.size());
  for (const json::Value& task : tasks) {
    const bool has_end = task.find("ttl", json::Value::Kind::number) != nullptr;
    rows.push_back({{plain_cell(task.find("taskId"))},
                    {plain_cell(task.find("status")), tone_of_state(task.string("status"))},
                    {plain_cell(task.find("createdAt")), Tone::faint},
                    {has_end ? duration_text(task, "ttl") : "-", Tone::faint},
                    {plain_cell(task.find("statusMessage"))}});
  }
  return render_table("TASK|STATE|CREATED|>KEPT|THE SERVER SAYS", std::move(rows), look);
}

std::string render_task(const json::Value& task) {
  std::string text = bridge::make_visible_line(task.string("status"));
  if (const std::string_view says = task.string("statusMessage"); !says.empty())
    text += ": " + bridge::make_visible_line(says);
  return text + "\n";
}

}  // namespace client
