#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace client {

/// Makes this process one of that user (a uid), with the groups that /etc/passwd and /etc/group
/// give it, so that a daemon takes it for one. For root only, and for good. Returns why it cannot
/// be; nothing: it is.
std::optional<std::string> act_as(std::string_view uid);

}  // namespace client
