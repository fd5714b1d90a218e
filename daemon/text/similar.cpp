#include "text/similar.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace bridge {
namespace {

/// Only this much of longer names is compared, to bound the work.
constexpr std::size_t longest = 64;

char folded_letter(char c) {
  if (c >= 'A' && c <= 'Z') return static_cast<char>(c - 'A' + 'a');
  return c == '_' ? '-' : c;
}

std::string folded(std::string_view name) {
  std::string text(name.substr(0, longest));
  for (char& c : text) c = folded_letter(c);
  return text;
}

/// Letters to change, add, remove or swap with their neighbour (optimal string alignment).
std::size_t distance(std::string_view left, std::string_view right) {
  std::vector<std::size_t> before_last;
  std::vector<std::size_t> last(right.size() + 1);
  for (std::size_t at = 0; at <= right.size(); ++at) last[at] = at;
  for (std::size_t row = 1; row <= left.size(); ++row) {
    std::vector<std::size_t> next(right.size() + 1);
    next[0] = row;
    for (std::size_t at = 1; at <= right.size(); ++at) {
      const bool same = left[row - 1] == right[at - 1];
      next[at] = std::min({last[at] + 1, next[at - 1] + 1, last[at - 1] + (same ? 0 : 1)});
      const bool swapped =
          row > 1 && at > 1 && left[row - 1] == right[at - 2] && left[row - 2] == right[at - 1];
      if (swapped) next[at] = std::min(next[at], before_last[at - 2] + 1);
    }
    before_last = std::move(last);
    last = std::move(next);
  }
  return last.back();
}

}  // namespace

bool is_nearly_same(std::string_view left, std::string_view right) {
  return std::equal(left.begin(), left.end(), right.begin(), right.end(), [](char one, char other) {
    return folded_letter(one) == folded_letter(other);
  });
}

std::string most_similar(std::string_view wanted, const std::vector<std::string_view>& names) {
  for (const std::string_view name : names) {
    if (is_nearly_same(wanted, name)) return std::string(name);
  }
  const std::string looked_for = folded(wanted);
  if (looked_for.size() < 2) return {};
  std::string_view best;
  std::size_t best_distance = std::max<std::size_t>(1, looked_for.size() / 3) + 1;
  for (const std::string_view name : names) {
    const std::string candidate = folded(name);
    std::size_t apart = distance(looked_for, candidate);
    if (candidate.starts_with(looked_for)) apart = std::min<std::size_t>(apart, 1);
    if (apart < best_distance) {
      best_distance = apart;
      best = name;
    }
  }
  return std::string(best);
}

std::string did_you_mean(std::string_view wanted, const std::vector<std::string_view>& names) {
  const std::string meant = most_similar(wanted, names);
  return meant.empty() ? meant : "; did you mean '" + meant + "'?";
}

}  // namespace bridge
