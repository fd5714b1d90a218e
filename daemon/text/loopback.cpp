#include "text/loopback.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <string>

#include "text/characters.hpp"

namespace bridge {

bool is_loopback_host(std::string_view host) {
  if (equal_ignoring_case(host, "localhost")) return true;
  const bool is_bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (is_bracketed) host = host.substr(1, host.size() - 2);
  const std::string text(host);
  if (text.find('\0') != text.npos) return false;
  in6_addr v6{};
  if (inet_pton(AF_INET6, text.c_str(), &v6) == 1)
    return IN6_IS_ADDR_LOOPBACK(&v6) || (IN6_IS_ADDR_V4MAPPED(&v6) && v6.s6_addr[12] == 127);
  in_addr v4{};
  return !is_bracketed && inet_pton(AF_INET, text.c_str(), &v4) == 1 &&
         ntohl(v4.s_addr) >> 24 == 127;
}

}  // namespace bridge
