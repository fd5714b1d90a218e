#include "render/table.hpp"

#include <algorithm>

#include "terminal/utf8.hpp"
#include "terminal/visible.hpp"

namespace client {
namespace {

constexpr std::size_t widest_last_column = 60;
constexpr std::size_t narrowest_last_column = 10;
constexpr std::size_t column_gap = 2;

void shorten(std::string& text, std::size_t room) {
  if (display_width(text) <= room) return;
  text = std::string(fit_columns(text, room - 3)) + "...";
}

}  // namespace

std::vector<StyledLine> render_table(const std::vector<TableColumn>& columns,
                                     std::vector<std::vector<TableCell>> rows, const Look& look) {
  const std::size_t last = columns.size() - 1;
  std::vector<std::size_t> widths;
  std::size_t taken = 0;
  for (std::size_t at = 0; at < last; ++at) {
    std::size_t width = columns[at].heading.size();
    for (const auto& row : rows) width = std::max(width, display_width(row[at].text));
    widths.push_back(width);
    taken += width + column_gap;
  }
  std::size_t room = widest_last_column;
  if (look.width > 0) {
    room = look.width > taken + narrowest_last_column ? look.width - taken : narrowest_last_column;
  }
  std::vector<TableCell> headings;
  headings.reserve(columns.size());
  for (const TableColumn& column : columns) {
    headings.push_back({std::string(column.heading), Tone::strong});
  }
  for (auto& row : rows) shorten(row[last].text, room);
  rows.insert(rows.begin(), std::move(headings));

  std::vector<StyledLine> lines;
  for (const auto& row : rows) {
    StyledLine& line = lines.emplace_back();
    std::size_t begin = 0;
    for (std::size_t at = 0; at < columns.size(); ++at) {
      const std::size_t width = at < last ? widths[at] : 0;
      line.pad_to(columns[at].is_figure ? begin + width - display_width(row[at].text) : begin);
      line.add(row[at].text, row[at].tone);
      begin += width + column_gap;
    }
  }
  return lines;
}

std::string plain_cell(const json::Value* value) {
  if (value == nullptr || value->is(json::Value::Kind::null)) return "-";
  return make_visible_line(value->is(json::Value::Kind::string) ? value->text
                                                                : json::to_json(*value));
}

}  // namespace client
