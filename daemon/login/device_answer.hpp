#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <variant>

namespace bridge {

/// What the server gives for a device (RFC 8628, section 3.2). `code` is secret.
struct DeviceCode {
  std::string code;
  std::string user_code;
  std::string verification_uri;
  std::chrono::seconds expires_in{600};  ///< at most 30 minutes
  std::chrono::seconds interval{5};      ///< at least 1 s, at most 60 s
};

/// Or why there is none, in the server's words: neither bounded nor printable yet. Pure.
std::variant<DeviceCode, std::string> read_device_code(int status, const std::string& body);

/// What the token endpoint says to one that asks again and again (RFC 8628, section 3.5).
enum class DevicePoll : std::uint8_t { pending, slow_down, denied, expired, refused };

/// `error`: the OAuth error; `status`: of HTTP. Pure.
DevicePoll judge_poll(int status, const std::string& error);

}  // namespace bridge
