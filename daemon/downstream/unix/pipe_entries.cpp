#include "downstream/unix/pipe_entries.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "text/characters.hpp"

namespace bridge {
namespace {

bool is_name(std::string_view text) {
  return text.size() >= 16 && text.size() <= 64 &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return is_letter(c) || is_digit(c) || c == '-' || c == '_'; });
}

std::string_view fault_of_pipe(const struct stat& status) {
  if (!S_ISFIFO(status.st_mode)) return "is not a pipe";
  if (status.st_nlink != 1) return "has several links";
  return {};
}

}  // namespace

PipeEntry read_pipe_entry(std::string_view entry) {
  constexpr PipeEntry foreign{PipeEntryKind::foreign, {}};
  if (entry == ".lock") return {PipeEntryKind::lock, {}};
  const bool is_hidden = entry.starts_with('.');
  std::string_view name = entry.substr(is_hidden ? 1 : 0);
  const bool is_request = name.ends_with(".in");
  if (!is_request && !name.ends_with(".out")) return foreign;
  name.remove_suffix(is_request ? 3 : 4);
  if (!is_name(name)) return foreign;
  if (is_hidden) return {PipeEntryKind::unfinished, name};
  return {is_request ? PipeEntryKind::request : PipeEntryKind::response, name};
}

std::string fault_of_pipes(const struct stat& in, const struct stat& out) {
  if (const auto fault = fault_of_pipe(in); !fault.empty()) return fmt::format("'in' {}", fault);
  if (const auto fault = fault_of_pipe(out); !fault.empty()) return fmt::format("'out' {}", fault);
  if (in.st_uid != out.st_uid)
    return fmt::format("they belong to uid {} and uid {}", in.st_uid, out.st_uid);
  return {};
}

bool is_mode_of_pipes_folder(mode_t mode) {
  if (mode > 01777 || (mode & 0700) != 0700 || (mode & 0044) != 0) return false;
  return (mode & 0022) == 0 || (mode & S_ISVTX) != 0;
}

}  // namespace bridge
