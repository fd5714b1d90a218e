#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace bench {

/// The messages that are measured. `id` is the client's.
std::string initialize_message();
std::string initialized_message();
std::string echo_message(std::string_view text, int id = 1);
/// A call of one of bench-upstream's tools with large results.
std::string large_result_message(std::string_view tool, std::size_t size);

/// One POST as a daemon would send it, ready for a single write.
std::string http_post(std::string_view body, std::string_view session,
                      std::string_view path = "/mcp");
/// The end of a session.
std::string http_delete(std::string_view session, std::string_view path);

}  // namespace bench
