#include "http/site_check.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>

namespace bridge {
namespace {

std::string lower_case(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

bool is_address(const std::string& name) {
  std::array<unsigned char, 16> bytes{};
  return inet_pton(AF_INET, name.c_str(), bytes.data()) == 1 ||
         inet_pton(AF_INET6, name.c_str(), bytes.data()) == 1;
}

}  // namespace

std::string host_name(std::string_view host) {
  const bool is_bracketed = host.starts_with("[");
  const auto end = host.find(is_bracketed ? ']' : ':');
  if (is_bracketed && end == host.npos) return {};
  const std::string_view name = is_bracketed ? host.substr(1, end - 1) : host.substr(0, end);
  const std::string_view port = host.substr(std::min(host.size(), end + (is_bracketed ? 1 : 0)));
  const bool is_port =
      port.starts_with(":") && port.find_first_not_of("0123456789", 1) == port.npos;
  return port.empty() || is_port ? lower_case(name) : std::string();
}

bool is_loopback_name(std::string_view name) {
  std::array<unsigned char, 4> bytes{};
  if (inet_pton(AF_INET, std::string(name).c_str(), bytes.data()) == 1) return bytes[0] == 127;
  return name == "localhost" || name == "::1";
}

bool SiteCheck::admits_host(std::string_view host) const {
  const std::string name = host_name(host);
  const bool listed = std::any_of(hosts.begin(), hosts.end(), [&](const std::string& one) {
    return one == "*" || lower_case(one) == name;
  });
  return listed || is_loopback_name(name) || (!is_loopback && is_address(name));
}

bool SiteCheck::is_listed(std::string_view origin) const {
  return std::any_of(origins.begin(), origins.end(), [&](const std::string& one) {
    return one == "*" || lower_case(one) == lower_case(origin);
  });
}

bool SiteCheck::admits_origin(std::string_view origin, std::string_view host) const {
  if (origin.empty() || is_listed(origin)) return true;
  const auto scheme = origin.find("://");
  return scheme != origin.npos && lower_case(origin.substr(scheme + 3)) == lower_case(host);
}

}  // namespace bridge
