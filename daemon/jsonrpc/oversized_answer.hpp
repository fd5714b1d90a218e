#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "jsonrpc/reply.hpp"

namespace bridge {

/// Which request a line answers of which only the first and the last bytes are known; nothing if
/// that is not certain. The line is taken for well-formed JSON: then a member before its last brace
/// is one of the message itself, whatever stands between. Pure.
std::optional<std::uint64_t> id_of_oversized_answer(std::string_view beginning,
                                                    std::string_view end);

/// What is told of it. `limit` in bytes.
Failure answer_too_large(std::size_t limit);

}  // namespace bridge
