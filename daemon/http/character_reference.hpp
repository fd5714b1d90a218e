#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace bridge {

/// A character that a web page names instead of writing it.
struct CharacterReference {
  std::uint32_t code_point;  ///< a Unicode scalar value, which may be a control character
  std::size_t length;        ///< bytes of the reference in the page
};

/// The reference at the front of `text`, as a browser reads it (HTML Living Standard, section
/// 13.2.5.72 and following): decimal (&#39;), hexadecimal (&#x27;), their semicolon may be missing;
/// of the named ones those that pages of errors use: Latin 1, punctuation and some signs, with
/// their semicolon. Numbers that are no character are U+FFFD, those of C1 are read as Windows-1252.
/// Nothing if there is none. Pure.
std::optional<CharacterReference> read_character_reference(std::string_view text);

}  // namespace bridge
