#include "auth/discovery.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "auth/recent_secrets.hpp"
#include "auth/token_endpoint.hpp"
#include "base/contains.hpp"
#include "base/log.hpp"
#include "http/client/web_url.hpp"
#include "json/json_text.hpp"
#include "text/characters.hpp"
#include "text/utf8.hpp"
#include "text/visible_text.hpp"

namespace bridge {

std::string joined_scopes(const std::string& first, const std::string& second) {
  std::vector<std::string> scopes;
  for (const std::string* part : {&first, &second}) {
    std::istringstream words(*part);
    for (std::string word; words >> word;) {
      if (!contains(scopes, word)) scopes.push_back(word);
    }
  }
  return scope_of(scopes);
}

std::string scope_of(const std::vector<std::string>& scopes) {
  std::string text;
  for (const std::string& scope : scopes) text += (text.empty() ? "" : " ") + scope;
  return text;
}

namespace {

constexpr std::string_view blank = " \t";

/// Reads the field. Whether a token starts a challenge or is a parameter's name depends on what
/// follows it.
class ChallengeReader {
 public:
  explicit ChallengeReader(std::string_view text) : text_(text) {}

  std::vector<Challenge> read() {
    while (at_ < text_.size()) {
      skip(" \t,");
      if (at_ == text_.size()) break;
      item();
    }
    return std::move(challenges_);
  }

 private:
  void skip(std::string_view characters) {
    at_ = std::min(text_.find_first_not_of(characters, at_), text_.size());
  }
  void skip_item() {
    // A comma in a quoted string is not a separator.
    for (bool quoted = false; at_ < text_.size() && (quoted || text_[at_] != ','); ++at_) {
      if (text_[at_] == '"') quoted = !quoted;
      if (quoted && text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
    }
  }
  std::string_view token() {
    const auto end = std::min(text_.find_first_not_of(token_characters, at_), text_.size());
    const std::string_view taken = text_.substr(at_, end - at_);
    at_ = end;
    return taken;
  }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  void item() {
    const std::string_view name = token();
    if (name.empty()) {
      skip_item();
      return;
    }
    const auto after_name = at_;
    skip(blank);
    if (peek() == '=' && !challenges_.empty()) {
      parameter(name);
      return;
    }
    if (peek() == '=') {
      skip_item();
      return;
    }
    challenges_.push_back(Challenge{ascii_lower(name), {}, {}});
    if (at_ == after_name || peek() == ',' || peek() == '\0') return;
    first_of_challenge();
  }

  // Reads what follows the scheme: a token68 or the first parameter.
  void first_of_challenge() {
    const auto begin = at_;
    const std::string_view name = token();
    skip(blank);
    if (peek() == '=') {
      const auto equals = at_;
      at_ += 1;
      skip(blank);
      const bool has_value =
          peek() == '"' || token_characters.find(peek()) != token_characters.npos;
      at_ = equals;
      if (has_value && peek() != '\0' && !name.empty() && text_.substr(at_, 2) != "==") {
        parameter(name);
        return;
      }
    }
    at_ = begin;
    const auto end = std::min(text_.find_first_of(" \t,", at_), text_.size());
    challenges_.back().token68 = text_.substr(at_, end - at_);
    at_ = end;
    skip_item();
  }

  // At the equals sign.
  void parameter(std::string_view name) {
    ++at_;
    skip(blank);
    std::string value;
    if (peek() != '"') {
      // Accepts more than a token: some servers send URLs unquoted.
      const auto end = std::min(text_.find_first_of(" \t,\"", at_), text_.size());
      value = text_.substr(at_, end - at_);
      at_ = end;
    } else if (!quoted(value)) {
      return;
    }
    challenges_.back().parameters.emplace_back(ascii_lower(name), std::move(value));
    skip(blank);
  }

  bool quoted(std::string& value) {
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] == '"') {
        ++at_;
        return true;
      }
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      value += text_[at_];
    }
    return false;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::vector<Challenge> challenges_;
};

}  // namespace

std::string_view Challenge::parameter(std::string_view name) const {
  for (const auto& [key, value] : parameters) {
    if (key == name) return value;
  }
  return {};
}

std::vector<Challenge> parse_challenges(std::string_view field) {
  return ChallengeReader(field).read();
}

std::string bearer_parameter(const std::vector<Challenge>& challenges, std::string_view name) {
  for (const Challenge& challenge : challenges) {
    if (challenge.scheme != "bearer") continue;
    const std::string_view value = challenge.parameter(name);
    if (!value.empty()) return std::string(value);
  }
  return {};
}

std::string bearer_hint(const std::vector<Challenge>& challenges, std::string_view name) {
  std::string value = bearer_parameter(challenges, name);
  const bool fits = fits_header(value, header_limit::scope, Blanks::inside);
  return fits ? value : std::string();
}

namespace {

constexpr std::size_t max_strings = 64;

std::vector<std::string> find_strings(std::string_view object, std::string_view name) {
  const auto raw = find_member(object, name);
  std::vector<std::string> strings;
  each_element(raw.value_or(""), [&](std::string_view element) {
    if (auto text = to_text(element)) strings.push_back(std::move(*text));
    return strings.size() < max_strings;
  });
  return strings;
}

}  // namespace

bool is_json_object(const std::string& text) {
  return each_member(text, [](auto...) { return true; }) && is_utf8(text);
}

std::optional<ResourceMetadata> read_resource_metadata(const std::string& text) {
  if (!is_json_object(text)) return std::nullopt;
  return ResourceMetadata{string_member(text, "resource"),
                          find_strings(text, "authorization_servers"),
                          find_strings(text, "scopes_supported")};
}

std::optional<ServerMetadata> read_server_metadata(const std::string& text) {
  if (!is_json_object(text)) return std::nullopt;
  const auto member = [&text](std::string_view name) { return string_member(text, name); };
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
  server.grant_types = find_strings(text, "grant_types_supported");
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
  return contains(server.token_endpoint_auth_methods, "client_secret_post") &&
         !contains(server.token_endpoint_auth_methods, "client_secret_basic");
}

std::vector<std::string> resource_metadata_urls(const std::string& resource) {
  const auto url = parse_web_url(resource);
  if (!url) return {};
  const std::string root = url->origin() + "/.well-known/oauth-protected-resource";
  std::vector<std::string> urls;
  if (url->path != "/") {
    urls.push_back(root + url->path);
    // Servers differ about a trailing slash.
    if (url->path.back() == '/') urls.push_back(root + url->path.substr(0, url->path.size() - 1));
  }
  urls.push_back(root);
  return urls;
}

std::vector<std::string> server_metadata_urls(const std::string& issuer) {
  const auto url = parse_web_url(issuer);
  if (!url || !url->query.empty() || url->has_fragment || url->has_user) return {};
  std::string path = url->path;
  if (path.back() == '/') path.pop_back();
  const std::string oauth = "/.well-known/oauth-authorization-server";
  const std::string openid = "/.well-known/openid-configuration";
  std::vector<std::string> urls{url->origin() + oauth + path, url->origin() + openid + path};
  if (!path.empty()) urls.push_back(url->origin() + path + openid);
  return urls;
}

std::string_view compared_issuer(std::string_view issuer) {
  const std::size_t scheme = issuer.find("://");
  const std::size_t slash = scheme == issuer.npos ? scheme : issuer.find('/', scheme + 3);
  return slash == issuer.npos || slash + 1 != issuer.size() ? issuer : issuer.substr(0, slash);
}

namespace {

constexpr std::size_t max_authorization_servers = 3;

}  // namespace

bool ServerMetadata::has_browser_login() const {
  return grant_types.empty() || contains(grant_types, "authorization_code");
}

bool AuthorizationServer::is_for_persons() const {
  return !is_default && (metadata.has_browser_login() ||
                         endpoint_url(metadata.device_authorization_endpoint).has_value());
}

std::string AuthorizationServer::remark() const {
  if (!is_default) return {};
  return fmt::format(
      "; {} has no metadata, so that the default endpoints of revision 2025-03-26 were tried",
      shown_url(issuer));
}

Discovery::Discovery(CurlLoop& curl, const HttpOptions& upstream, std::string resource,
                     const Refusal& refusal, Done done)
    : curl_(curl),
      upstream_(upstream),
      done_(std::move(done)),
      has_no_metadata_(refusal.was_seen && refusal.announced.empty()) {
  if (!refusal.announced.empty()) places_.push_back({refusal.announced, {}});
  for (std::string& url : resource_metadata_urls(resource)) {
    if (url != refusal.announced) places_.push_back({std::move(url), {}});
  }
  const auto url = parse_web_url(resource);
  if (url) origin_ = url->origin();
  found_.resource = std::move(resource);
}

void Discovery::next() {
  while (!places_.empty() || continue_at_origin()) {
    const Place place = std::move(places_.front());
    places_.pop_front();
    if (!endpoint_url(place.url)) {
      note(place.url, "not an https URL", true);
      continue;
    }
    request_ = std::make_unique<SmallRequest>(
        curl_, upstream_, place.url, nullptr, std::string(),
        [this, place](const SmallAnswer& answer) { answered(place, answer); });
    return;
  }
  finish();
}

// Returns whether there are places left to try.
bool Discovery::continue_at_origin() {
  if (!has_no_metadata_ || !endpoint_url(origin_)) return false;
  if (!is_at_origin_) {
    is_at_origin_ = true;
    for (std::string& url : server_metadata_urls(origin_))
      places_.push_back({std::move(url), origin_});
    return true;
  }
  found_.metadata = default_server_metadata(origin_);
  found_.issuer = found_.metadata.issuer;
  found_.token_endpoint = found_.metadata.token_endpoint;
  found_.is_default = true;
  is_found_ = true;
  return false;
}

void Discovery::answered(const Place& place, const SmallAnswer& answer) {
  const std::unique_ptr<SmallRequest> over = std::move(request_);
  if (answer.is_public && !upstream_.may_be_private && endpoint_url(place.url)->origin() == origin_)
    upstream_.public_only = true;
  if (!answer.fault.empty()) {
    note(place.url, answer.fault, true);
  } else if (answer.status != 200) {
    has_no_metadata_ = has_no_metadata_ && refuses_for_good(answer.status);
    note(place.url, fmt::format("HTTP {}", answer.status), false);
  } else if (place.issuer.empty() ? take_resource(place, answer.body)
                                  : take_server(place, answer.body)) {
    finish();
    return;
  }
  next();
}

// Returns whether the search is over: a document that names another resource ends it, without
// further requests.
bool Discovery::take_resource(const Place& place, const std::string& body) {
  const auto metadata = read_resource_metadata(body);
  if (!metadata) {
    note(place.url, "not a JSON object", true);
    return false;
  }
  if (!covers_resource(metadata->resource, found_.resource)) {
    note(place.url, fmt::format("it is about another resource, '{}'", metadata->resource), true);
    return true;
  }
  if (metadata->authorization_servers.empty()) {
    note(place.url, "it names no authorization server", true);
    return false;
  }
  // From here on only servers are looked for. The resource's own name for itself is the one that
  // the server knows.
  places_.clear();
  has_no_metadata_ = false;
  found_.resource = metadata->resource;
  found_.scope = scope_of(metadata->scopes_supported);
  if (!fits_header(found_.scope, header_limit::scope, Blanks::inside)) found_.scope.clear();
  for (const std::string& issuer : metadata->authorization_servers) {
    for (std::string& url : server_metadata_urls(issuer))
      places_.push_back({std::move(url), issuer});
    if (places_.size() >= 3 * max_authorization_servers) break;
  }
  if (places_.empty()) note(place.url, "its authorization server is not a valid issuer", true);
  return false;
}

bool Discovery::take_server(const Place& place, const std::string& body) {
  const auto metadata = read_server_metadata(body);
  if (!metadata) {
    note(place.url, "not a JSON object", true);
    return false;
  }
  if (!is_same_issuer(metadata->issuer, place.issuer)) {
    note(place.url,
         fmt::format("the issuer is '{}' instead of '{}'", metadata->issuer, place.issuer), true);
    return false;
  }
  if (!endpoint_url(metadata->token_endpoint)) {
    note(place.url, "its token_endpoint is not an https URL", true);
    return false;
  }
  found_.issuer = metadata->issuer;
  found_.token_endpoint = metadata->token_endpoint;
  found_.metadata = *metadata;
  is_found_ = true;
  return true;
}

// Keeps the first fault that says more than that there is no document.
void Discovery::note(const std::string& url, const std::string& fault, bool telling) {
  has_no_metadata_ = has_no_metadata_ && !telling;
  if (fault_is_telling_ || (!telling && !fault_.empty())) return;
  const auto parsed = parse_web_url(url);
  fault_ = fmt::format("{}: {}", printable(parsed ? parsed->shown() : url), printable(fault, 400));
  fault_is_telling_ = telling;
}

void Discovery::finish() {
  Result result;
  result.is_public = upstream_.public_only;
  if (is_found_)
    result.server = std::move(found_);
  else
    result.fault = std::move(fault_);
  const Done report = std::move(done_);
  report(result);
}

}  // namespace bridge
