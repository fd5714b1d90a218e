#include "login/device_answer.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "auth/metadata.hpp"
#include "http/client/web_url.hpp"
#include "text/header_text.hpp"
#include "text/json_text.hpp"

namespace bridge {
namespace {

constexpr std::size_t longest_user_code = 64;

std::chrono::seconds seconds_of(const std::string& body, std::string_view name, unsigned otherwise,
                                unsigned least, unsigned most) {
  const auto raw = find_member(body, name);
  const auto said = raw ? to_unsigned(*raw) : std::nullopt;
  return std::chrono::seconds(std::clamp<std::uint64_t>(said.value_or(otherwise), least, most));
}

}  // namespace

std::variant<DeviceCode, std::string> read_device_code(int status, const std::string& body) {
  const bool is_object = is_json_object(body);
  if (status != 200 || !is_object) {
    const std::string error =
        is_object ? find_string(body, "error").value_or(std::string()) : std::string();
    return fmt::format("HTTP {}{}{}", status, error.empty() ? "" : ": ", error);
  }
  DeviceCode device;
  device.code = find_string(body, "device_code").value_or(std::string());
  device.user_code = find_string(body, "user_code").value_or(std::string());
  device.verification_uri = find_string(body, "verification_uri").value_or(std::string());
  const auto url = fits_header(device.verification_uri, header_limit::url)
                       ? parse_web_url(device.verification_uri)
                       : std::nullopt;
  if (device.code.empty() || !fits_header(device.user_code, longest_user_code, Blanks::inside) ||
      !url || url->has_user || !is_trustworthy(*url))
    return std::string(
        "there is no device_code, user_code or https verification_uri in the answer");
  device.expires_in = seconds_of(body, "expires_in", 600, 1, 1800);
  device.interval = seconds_of(body, "interval", 5, 1, 60);
  return device;
}

DevicePoll judge_poll(int status, const std::string& error) {
  if (error == "authorization_pending") return DevicePoll::pending;
  if (error == "slow_down") return DevicePoll::slow_down;
  if (error == "access_denied") return DevicePoll::denied;
  if (error == "expired_token") return DevicePoll::expired;
  // RFC 8628, section 3.5: a server that cannot be reached is asked less often.
  if (status >= 500 || status == 429 || status == 0) return DevicePoll::slow_down;
  return DevicePoll::refused;
}

}  // namespace bridge
