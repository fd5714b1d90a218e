#pragma once

#include <string>
#include <string_view>

namespace bridge {

/// The `params._meta.traceparent` of a request, if it is one (W3C Trace Context, section 3.2): else
/// nothing, so that a log line cannot be made to carry something else. Reads the params' members
/// again; for the log at debug level only. `params` is JSON or empty.
std::string traceparent_of(std::string_view params);

}  // namespace bridge
