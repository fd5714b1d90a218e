#include "auth/metadata.hpp"

#include <algorithm>

#include "text/json_scanner.hpp"
#include "text/json_text.hpp"
#include "text/utf8.hpp"

namespace bridge {
namespace {

constexpr std::size_t max_strings = 64;

std::vector<std::string> find_strings(std::string_view object, std::string_view name) {
  const auto raw = find_member(object, name);
  if (!raw || raw->empty() || raw->front() != '[') return {};
  std::vector<std::string> strings;
  JsonScanner scanner(*raw);
  scanner.array([&] {
    Slice element;
    if (!scanner.value(element)) return false;
    const std::string_view text = element.of(*raw);
    if (is_string(text)) strings.push_back(unescape(text.substr(1, text.size() - 2)));
    return strings.size() < max_strings;
  });
  return strings;
}

bool contains(const std::vector<std::string>& list, const std::string& one) {
  return std::find(list.begin(), list.end(), one) != list.end();
}

}  // namespace

bool is_json_object(const std::string& text) {
  JsonScanner scanner(text);
  Slice value;
  scanner.skip_space();
  if (scanner.peek() != '{' || !scanner.value(value)) return false;
  scanner.skip_space();
  return scanner.at_end() && is_utf8(text);
}

std::optional<ResourceMetadata> read_resource_metadata(const std::string& text) {
  if (!is_json_object(text)) return std::nullopt;
  return ResourceMetadata{find_string(text, "resource").value_or(std::string()),
                          find_strings(text, "authorization_servers"),
                          find_strings(text, "scopes_supported")};
}

std::optional<ServerMetadata> read_server_metadata(const std::string& text) {
  if (!is_json_object(text)) return std::nullopt;
  return ServerMetadata{find_string(text, "issuer").value_or(std::string()),
                        find_string(text, "token_endpoint").value_or(std::string()),
                        find_strings(text, "token_endpoint_auth_methods_supported")};
}

bool wants_secret_in_body(const ServerMetadata& server) {
  return contains(server.token_endpoint_auth_methods, "client_secret_post") &&
         !contains(server.token_endpoint_auth_methods, "client_secret_basic");
}

}  // namespace bridge
