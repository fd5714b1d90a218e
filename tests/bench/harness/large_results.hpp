#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace bench {

/// The result of a call of one of the tools with large results, of about `size` bytes:
///   base64   a picture: one string without an escape
///   escapes  a text with a line break, a quote or a character of two bytes in every few words
///   values   small arrays and objects of numbers, words and literals, as structured content
/// followed by a brace, which ends the response. Empty if `tool` is none of them. Made once and
/// kept, like data that a real server has read before.
std::string_view large_result(std::string_view tool, std::size_t size);

/// The large result for this message, if it is such a call.
std::string_view large_result_for(std::string_view message);

/// A call with arguments of that size and kind; its result is small.
std::string large_call(std::string_view kind, std::size_t size);

/// The text after `before`, up to one of the characters of `ends`; empty if `before` does not
/// occur.
std::string_view text_after(std::string_view message, std::string_view before,
                            std::string_view ends);

}  // namespace bench
