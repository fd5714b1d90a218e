#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace bench {

/// The result of a call of one of the tools whose results are large, of about `size` bytes:
///   base64   a picture: one string without an escape
///   escapes  a text with a line break, a quote or a character of two bytes in every few words
///   values   small arrays and objects of numbers, words and literals, as structured content
///   arrays   arrays in one another, 40 deep
/// and a brace behind it, which ends the answer. Empty if `tool` is none of them. Made once and
/// kept; as a real server would have read it before.
std::string_view large_result(std::string_view tool, std::size_t size);

/// That of the call that this message is, if it is one of these.
std::string_view large_result_for(std::string_view message);

/// A call whose arguments are as large, and of the same kinds; its result is small.
std::string large_call(std::string_view kind, std::size_t size);

/// What stands behind `before`, up to one of the characters of `ends`; empty: it does not stand
/// there.
std::string_view text_after(std::string_view message, std::string_view before,
                            std::string_view ends);

}  // namespace bench
