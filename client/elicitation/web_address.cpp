#include "elicitation/web_address.hpp"
#include "text/characters.hpp"
#include "text/visible_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace client {
namespace {

constexpr std::size_t longest_host = 1024;

using Label = std::vector<std::uint32_t>;

constexpr bool is_dot(std::uint32_t c) {
  return c == '.' || c == 0x3002 || c == 0xFF0E || c == 0xFF61;
}

constexpr std::uint32_t in_small(std::uint32_t c) {
  const bool has_small_behind = (c >= 'A' && c <= 'Z') || (c >= 0xC0 && c <= 0xDE && c != 0xD7) ||
                                (c >= 0x391 && c <= 0x3A9) || (c >= 0x410 && c <= 0x42F);
  if (has_small_behind) return c + 0x20;
  return c >= 0x400 && c <= 0x40F ? c + 0x50 : c;
}

/// RFC 3492, 6.1.
std::uint32_t adapt(std::uint32_t delta, std::uint32_t points, bool is_first) {
  delta = is_first ? delta / 700 : delta / 2;
  delta += delta / points;
  std::uint32_t k = 0;
  for (; delta > 455; k += 36) delta /= 35;
  return k + 36 * delta / (delta + 38);
}

char digit(std::uint32_t value) {
  return static_cast<char>(value < 26 ? 'a' + value : '0' + (value - 26));
}

/// Appends one delta (RFC 3492, 6.3).
void append_delta(std::string& text, std::uint32_t delta, std::uint32_t bias) {
  std::uint32_t rest = delta;
  for (std::uint32_t k = 36;; k += 36) {
    const std::uint32_t limit = k <= bias ? 1 : std::min<std::uint32_t>(k - bias, 26);
    if (rest < limit) break;
    text.push_back(digit(limit + (rest - limit) % (36 - limit)));
    rest = (rest - limit) / (36 - limit);
  }
  text.push_back(digit(rest));
}

std::string encode(const Label& label) {
  std::string text;
  for (const std::uint32_t c : label) {
    if (c < 0x80) text.push_back(static_cast<char>(c));
  }
  const std::size_t basic = text.size();
  if (basic == label.size()) return text;
  if (basic > 0) text.push_back('-');
  std::uint32_t next = 0x80;
  std::uint32_t delta = 0;
  std::uint32_t bias = 72;
  for (auto handled = static_cast<std::uint32_t>(basic); handled < label.size();) {
    std::uint32_t least = 0x110000;
    for (const std::uint32_t c : label) {
      if (c >= next) least = std::min(least, c);
    }
    delta += (least - next) * (handled + 1);
    next = least;
    for (const std::uint32_t c : label) {
      if (c < next) ++delta;
      if (c != next) continue;
      append_delta(text, delta, bias);
      bias = adapt(delta, handled + 1, handled == basic);
      delta = 0;
      ++handled;
    }
    ++delta;
    ++next;
  }
  return "xn--" + text;
}

/// Escapes all bytes but visible ASCII, so that letters that look alike can be told apart.
std::string in_ascii(std::string_view host) {
  std::string shown;
  for (const char c : host) {
    const auto byte = static_cast<unsigned char>(c);
    shown += byte > 0x20 && byte < 0x7f ? std::string(1, c) : fmt::format("\\x{:02x}", byte);
  }
  return shown;
}

/// The part after the scheme of a web address; "" for any other address.
std::string_view rest_of(std::string_view address) {
  const auto scheme_end = address.find("://");
  if (scheme_end == address.npos) return {};
  const std::string scheme = bridge::ascii_lower(address.substr(0, scheme_end));
  if (scheme != "http" && scheme != "https") return {};
  return address.substr(scheme_end + 3);
}

/// A browser treats a backslash as a slash.
std::string_view authority_of(std::string_view address) {
  const std::string_view rest = rest_of(address);
  return rest.substr(0, rest.find_first_of("/\\?#"));
}

}  // namespace

std::optional<std::string> punycode_host(std::string_view host) {
  if (host.size() > longest_host) return std::nullopt;
  std::string text;
  Label label;
  while (!host.empty()) {
    const bridge::CodePoint point = bridge::first_code_point(host);
    if (point.state != bridge::CodePoint::State::valid) return std::nullopt;
    host.remove_prefix(point.length);
    const bool ends_label = is_dot(point.value) || point.value == ':';
    if (!ends_label) {
      label.push_back(in_small(point.value));
      continue;
    }
    text += encode(label);
    text.push_back(point.value == ':' ? ':' : '.');
    label.clear();
  }
  return text + encode(label);
}

std::string host_of(std::string_view address) {
  std::string_view authority = authority_of(address);
  if (const auto at = authority.rfind('@'); at != authority.npos) authority.remove_prefix(at + 1);
  return std::string(authority);
}

std::string describe_address(std::string_view address) {
  const std::string host = host_of(address);
  std::string text = fmt::format("  address: {}\n", bridge::make_visible_line(address));
  if (host.empty()) return text + "  host:    none: not a web address\n";
  text += "  host:    " + in_ascii(host);
  const bool is_ascii = std::all_of(host.begin(), host.end(),
                                    [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  if (const auto encoded = punycode_host(host); encoded && !is_ascii)
    text += fmt::format(" ({})", *encoded);
  text += "\n";
  const std::string_view authority = authority_of(address);
  if (const auto at = authority.rfind('@'); at != authority.npos) {
    text += fmt::format("  beware:  {} before the @ is a user's name, and not where it leads\n",
                        in_ascii(authority.substr(0, at)));
  }
  if (rest_of(address).substr(0, rest_of(address).find_first_of("/?#")).find('\\') !=
      std::string_view::npos) {
    text += "  beware:  there is a backslash in it, which a browser takes for a slash\n";
  }
  if (host.find('%') != host.npos)
    text += "  beware:  the host has percent signs in it, which a browser decodes\n";
  return text;
}

}  // namespace client
