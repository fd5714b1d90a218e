#pragma once

#include <string>
#include <string_view>

namespace client::json {

/// One JSON-RPC message, taken apart. Views point into the line that was given and are empty for
/// what is not there; they keep the bytes of the line.
struct Message {
  enum class Kind { request, notification, response, invalid };

  Kind kind = Kind::invalid;
  std::string method;
  std::string_view id;
  std::string_view params;
  std::string_view result;
  std::string_view error;
};

Message parse_message(std::string_view line);

/// Frames without the line break at their end. `params` is JSON or empty, `id` is JSON.
std::string make_request(std::string_view id, std::string_view method, std::string_view params);
std::string make_notification(std::string_view method, std::string_view params);
std::string make_result(std::string_view id, std::string_view result);
std::string make_error(std::string_view id, int code, std::string_view message);

}  // namespace client::json
