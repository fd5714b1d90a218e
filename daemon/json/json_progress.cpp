#include "json/json_progress.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "text/utf8.hpp"

namespace bridge {
namespace {

/// Small enough to stay in the processor's cache for the next pass.
constexpr std::size_t step = 16u << 10;
static_assert(step % json_block == 0);

}  // namespace

const Slice* CheckedJson::value_at(std::size_t position) const {
  const auto found =
      std::lower_bound(values.begin(), values.end(), position,
                       [](Slice value, std::size_t begin) { return value.begin < begin; });
  return found != values.end() && found->begin == position ? &*found : nullptr;
}

void JsonProgress::read_on(std::string_view text) {
  while (!failed_ && text.size() - position_ >= json_block) {
    const std::size_t blocks = std::min(text.size() - position_, step) / json_block;
    const std::size_t end = position_ + blocks * json_block;
    const bool ends_with_character = utf8_ == position_;
    failed_ = !read_blocks(text, text.data() + position_, end - position_);
    if (failed_) return;
    if (ends_with_character && beyond_ascii_ == 0) {
      utf8_ = end;
    } else {
      failed_ = !check_utf8(text.substr(0, end), false);
    }
    beyond_ascii_ = 0;
  }
}

std::optional<CheckedJson> JsonProgress::finish(std::string_view text) {
  read_on(text);
  if (failed_) return std::nullopt;
  // Spaces may be read after the end of a complete text.
  std::array<char, json_block> rest;
  rest.fill(' ');
  text.copy(rest.data(), rest.size(), position_);
  if (!read_blocks(text, rest.data(), rest.size()) || !containers_.has_begun ||
      containers_.open.depth() > 0 || !check_utf8(text, true))
    return std::nullopt;
  std::sort(found_.values.begin(), found_.values.end(),
            [](Slice one, Slice other) { return one.begin < other.begin; });
  return std::move(found_);
}

/// An incomplete text may end in the middle of a character.
bool JsonProgress::check_utf8(std::string_view text, bool is_whole) {
  std::size_t end = text.size();
  for (std::size_t back = 1; !is_whole && back <= 3 && back <= text.size(); ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if (byte < 0x80) break;
    if (byte < 0xC0) continue;
    const std::size_t length = byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
    if (length > back) end -= back;
    break;
  }
  const std::size_t begin = std::min(utf8_, end);
  utf8_ = end;
  return is_utf8(text.substr(begin, end - begin));
}

}  // namespace bridge
