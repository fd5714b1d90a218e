#pragma once

#include "json/document.hpp"
#include "terminal/styled.hpp"

namespace client {

/// A cell, safe for a terminal (plain_cell()).
struct TableCell {
  std::string text;
  Tone tone = Tone::plain;
};

/// A heading and the rows, as wide as needed; the last column gets the remaining width of the look
/// and is cut, after those that may shrink. `columns`: their headings, as `NAME|>SIZE|<KEY`; a `>`
/// aligns figures to the right, a `<` lets a column be cut, down to some columns, if the table
/// would be too wide. Each row has a cell for each column.
std::vector<StyledLine> render_table(std::string_view columns,
                                     std::vector<std::vector<TableCell>> rows, const Look& look);

/// Any JSON value as one line; "-" if absent.
std::string plain_cell(const json::Value* value);

/// Cuts a text to so many columns, with a mark. REQUIRES: safe for a terminal.
std::string in_columns(std::string text, std::size_t room);

// Figures for people.

/// "512 B", "12 KiB", "1.5 MiB".
std::string size_text(std::uint64_t bytes);
/// A member with milliseconds: "850 ms", "12 s", "2 h 5 m".
std::string duration_text(const json::Value& object, std::string_view name);
/// "900 us", "12.0 ms", "1.50 s".
std::string time_text(std::uint64_t microseconds);
/// "1 error", "2 errors".
std::string counted(std::uint64_t number, std::string_view thing);
/// "0.4 %", "41 %"; empty if `whole` is 0.
std::string percent_text(std::uint64_t part, std::uint64_t whole);

/// The tone for a job's or a task's state, by its name.
Tone tone_of_state(std::string_view state);

/// The tasks of the server (MCP 2025-11-25, "Tasks") as a table with a heading. Their ids are never
/// cut.
std::vector<StyledLine> render_tasks(const std::vector<json::Value>& tasks, const Look& look);

/// One task: its state, followed by the server's message about it.
std::string render_task(const json::Value& task);

}  // namespace client
