#pragma once

#include <string>
#include <string_view>

namespace bridge {

struct Frame;

/// Whether a request only reads, so that sending it twice does no harm (product section 7).
bool only_reads(std::string_view method);

/// Whether a notification belongs to the session wherever it comes from (product section 5).
bool is_session_notification(std::string_view method);

/// The client capability that a request from upstream needs: the name before the first slash.
std::string_view needed_capability(std::string_view method);

/// What a newer notification of the same key makes superfluous; empty: nothing.
std::string coalesce_key(const Frame& notification);

}  // namespace bridge
