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

}  // namespace

bool is_named(const std::vector<std::string>& list, std::string_view one) {
  return std::find(list.begin(), list.end(), one) != list.end();
}

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
  const auto member = [&text](std::string_view name) {
    return find_string(text, name).value_or(std::string());
  };
  ServerMetadata server;
  server.issuer = member("issuer");
  server.token_endpoint = member("token_endpoint");
  server.token_endpoint_auth_methods = find_strings(text, "token_endpoint_auth_methods_supported");
  server.authorization_endpoint = member("authorization_endpoint");
  server.registration_endpoint = member("registration_endpoint");
  server.device_authorization_endpoint = member("device_authorization_endpoint");
  server.revocation_endpoint = member("revocation_endpoint");
  server.code_challenge_methods = find_strings(text, "code_challenge_methods_supported");
  server.scopes_supported = find_strings(text, "scopes_supported");
  server.answers_name_issuer =
      find_member(text, "authorization_response_iss_parameter_supported") == "true";
  server.takes_metadata_documents =
      find_member(text, "client_id_metadata_document_supported") == "true";
  return server;
}

ServerMetadata default_server_metadata(const std::string& origin) {
  ServerMetadata server;
  server.issuer = origin;
  server.authorization_endpoint = origin + "/authorize";
  server.token_endpoint = origin + "/token";
  server.registration_endpoint = origin + "/register";
  server.code_challenge_methods = {"S256"};
  return server;
}

bool wants_secret_in_body(const ServerMetadata& server) {
  return is_named(server.token_endpoint_auth_methods, "client_secret_post") &&
         !is_named(server.token_endpoint_auth_methods, "client_secret_basic");
}

}  // namespace bridge
