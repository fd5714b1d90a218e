#pragma once

#include <string>
#include <string_view>

#include "base/failure.hpp"

namespace bridge {

/// `{"jsonrpc":"2.0","id":…,"error":…}` of the bridge's own, without a newline.
/// `raw_id` is JSON: the bytes of the client's id, or `null`.
std::string error_reply(std::string_view raw_id, int code, std::string_view message);
std::string error_reply(std::string_view raw_id, const Failure& failure);

std::string result_reply(std::string_view raw_id, std::string_view raw_result);

}  // namespace bridge
