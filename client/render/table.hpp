#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "json/value.hpp"
#include "terminal/styled.hpp"

namespace client {

struct TableColumn {
  std::string_view heading;
  bool is_figure = false;  ///< stands at the right of its column
};

/// Safe for a terminal (plain_cell()).
struct TableCell {
  std::string text;
  Tone tone = Tone::plain;
};

/// A heading and the rows, as wide as they need; the last column has what the look's width leaves
/// and is cut. Each row has a cell for each column.
std::vector<StyledLine> render_table(const std::vector<TableColumn>& columns,
                                     std::vector<std::vector<TableCell>> rows, const Look& look);

/// Any JSON value as one line; "-" if there is none.
std::string plain_cell(const json::Value* value);

}  // namespace client
