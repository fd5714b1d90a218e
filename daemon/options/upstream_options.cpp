#include <cstdlib>

#include "auth/make_token_source.hpp"
#include "base/log.hpp"
#include "base/secret_file.hpp"
#include "base/start_error.hpp"
#include "http/client/http_options.hpp"
#include "options/option_groups.hpp"
#include "options/option_table.hpp"
#include "options/options.hpp"
#include "upstream/stdio/child_command.hpp"

namespace bridge {
namespace {

/// `Name: value` or `Name: @FILE`.
std::string header_of(const std::string& given) {
  const auto colon = given.find(':');
  if (colon == given.npos)
    throw StartError(exit_code::usage, "--header: expected 'Name: value' or 'Name: @FILE'");
  const std::string name = given.substr(0, colon);
  const auto begin = given.find_first_not_of(" \t", colon + 1);
  std::string value = begin == given.npos ? std::string() : given.substr(begin);
  if (value.starts_with("@")) value = read_small_file(value.substr(1), "--header " + name);
  return header_line(name, value, "--header", exit_code::usage);
}

std::unique_ptr<HeldFile> hold_file(const std::string& option, const std::string& path) {
  return path.empty() ? nullptr : std::make_unique<HeldFile>(read_small_file(path, option) + "\n");
}

std::shared_ptr<const TrustFiles> trust_files(const HttpOptions& http) {
  if (http.ca_file.empty() && http.client_certificate.empty() && http.client_key.empty())
    return nullptr;
  return std::make_shared<const TrustFiles>(TrustFiles{
      hold_file("--ca-file", http.ca_file), hold_file("--client-cert", http.client_certificate),
      hold_file("--client-key", http.client_key)});
}

/// Warns of --config beside another way to name the server; it is easily overlooked that one of
/// them is ignored.
std::string unused_upstream(const RawOptions& raw, bool url_counts) {
  if (raw.config.empty()) return {};
  if (!raw.command.empty()) return "--config is not used: the server is the command behind --";
  if (raw.url.empty()) return {};
  return url_counts ? "--config is not used: the server is named by --url (MCP_SERVER_URL)"
                    : "--url (MCP_SERVER_URL) is not used: the server is named by --config";
}

/// The source that --url came from.
std::string source_of_url(const RawOptions& raw) {
  if (raw.url_on_command_line) return "--url";
  const char* const variable = std::getenv("MCP_SERVER_URL");
  if (variable != nullptr && raw.url == variable) return "MCP_SERVER_URL";
  return "--options-file " + printable(raw.options_file);
}

OAuthGrant grant_of(const std::string& given) {
  if (given == "authorization_code") return OAuthGrant::authorization_code;
  if (given == "device") return OAuthGrant::device;
  if (given == "client_credentials") return OAuthGrant::client_credentials;
  if (given == "jwt-bearer") return OAuthGrant::jwt_bearer;
  wrong_value("--oauth-grant", given,
              "authorization_code, device, client_credentials or jwt-bearer");
}

}  // namespace

void add_upstream_options(OptionTable& table, Options& options, RawOptions& raw) {
  HttpOptions& http = options.upstream.http;
  table.group("Upstream");
  table.text("--url", raw.url, "URL",
             "The MCP server: http://, https:// or http+unix://%2Fpath%2Fto.sock/mcp",
             "MCP_SERVER_URL");
  table.list("--header", "'NAME: VALUE'",
             "A header for every request; 'Name: @FILE' reads the value from a file",
             [&http](const std::string& given) { http.headers.push_back(header_of(given)); });
  table.duration("--connect-timeout", http.connect_timeout,
                 "How long connecting to the upstream may take");
  table.duration("--request-timeout", http.request_timeout,
                 "How long a request waits for the next byte of its answer; 0: no limit");
  table.duration("--request-max", http.request_max,
                 "How long a request may take in all; 0: no limit");
  table.flag("server-stream", http.server_stream,
             "Keep the GET stream open for the server's notifications");
  table.count("--stream-retries", http.stream_retries,
              "Consecutive tries to open that stream; 0: none", 0, "unlimited");
  table.size("--max-frame", options.clients.max_frame, "The longest message, in either direction");
}

void add_trust_options(OptionTable& table, Options& options) {
  HttpOptions& http = options.upstream.http;
  AuthOptions& auth = options.upstream.auth;
  table.group("Authorization and TLS");
  table.text("--token-command", auth.token_command, "CMD",
             "A shell command that prints the bearer token");
  table.duration("--token-ttl", "until refused", "How long its token is used",
                 [&auth](std::chrono::milliseconds given) { auth.token_ttl = given; });
  table.text("--token-file", auth.token_file, "FILE",
             "A file with the bearer token; read again when it changes");
  table.text("--oauth-client-id", auth.oauth.client_id, "ID",
             "OAuth 2.1: the client id; without it a login registers a client");
  table.text("--oauth-client-secret-file", auth.oauth.client_secret_file, "FILE", "Its secret");
  table.text("--oauth-private-key", auth.oauth.private_key_file, "FILE",
             "Or its private key (PEM, P-256 or RSA), for private_key_jwt");
  table.text("--oauth-token-url", auth.oauth.token_url, "URL",
             "The token endpoint; else it is discovered");
  table.text("--oauth-scope", auth.oauth.scope, "SCOPE",
             "The scope asked for; else what the server names");
  table.parsed(
      "--oauth-grant", "GRANT", "",
      "authorization_code, device, client_credentials or jwt-bearer; default: client_credentials "
      "with a secret or key, else a login",
      [&auth](const std::string& given) { auth.oauth.grant = grant_of(given); });
  table.text("--oauth-assertion-file", auth.oauth.assertion_file, "FILE",
             "For jwt-bearer (RFC 7523): a JWT, read again for each token");
  table.text("--oauth-client-metadata-url", auth.oauth.client_metadata_url, "URL",
             "The client's metadata document, where the server takes one as client id");
  table.text("--oauth-redirect", auth.oauth.redirect, "HOST:PORT",
             "Where the browser returns at the end of a login");
  table.flag("oauth-assume-pkce", auth.oauth.assume_pkce,
             "Log in at a server that does not say whether it supports PKCE");
  table.flag("oauth-allow-private", auth.oauth.allow_private,
             "Let a public server name authorization servers at private addresses");
  table.text("--token-store", auth.oauth.token_store, "FILE",
             "Where logins are saved; else tokens.json in --state-dir, else memory");
  table.duration("--oauth-idle-refresh", auth.oauth.idle_refresh,
                 "How often an unused login is refreshed; 0: never");
  table.duration("--login-wait", options.session.login_wait,
                 "How long requests wait for a person who has to log in");
  table.text("--ca-file", http.ca_file, "FILE",
             "Trust these certificate authorities (PEM) instead of the system's");
  table.text("--client-cert", http.client_certificate, "FILE", "A client certificate (PEM)");
  table.text("--client-key", http.client_key, "FILE", "Its private key (PEM)");
  table.flag(
      "insecure", http.insecure,
      "Do not verify the upstream's certificate: anyone on the network path can read and change "
      "everything");
  table.flag("http2", http.http2, "Use HTTP/2 if a TLS upstream offers it");
}

void read_certificates(HttpOptions& http) {
  http.trust = trust_files(http);
  check_certificates(http);
}

/// Chooses the upstream: from the command line, then the environment, then a file.
void resolve_upstream_options(Options& options, RawOptions& raw,
                              std::map<std::string, std::string>& given) {
  HttpOptions& http = options.upstream.http;
  AuthOptions& auth = options.upstream.auth;
  if (const char* token = std::getenv("MCP_SERVER_TOKEN")) auth.static_token = token;
  if (!auth.static_token.empty() && !is_token(auth.static_token))
    throw StartError(exit_code::configuration,
                     "MCP_SERVER_TOKEN has a character that is not valid in a token (a space or a "
                     "line end?)");
  if (!raw.command.empty() && raw.url_on_command_line) {
    throw StartError(exit_code::usage, "two upstreams: --url and a command after --");
  }
  const bool url_counts = raw.url_on_command_line || !raw.config_on_command_line;
  options.unused_upstream = unused_upstream(raw, url_counts);
  if (!raw.command.empty()) {
    options.upstream.kind = UpstreamKind::child;
    options.upstream.child.command = raw.command;
  } else if (!raw.url.empty() && url_counts) {
    http.url_source = source_of_url(raw);
    const std::string fault = set_url(http, raw.url);
    if (!fault.empty()) throw StartError(exit_code::usage, "--url (MCP_SERVER_URL): " + fault);
  } else if (!raw.config.empty()) {
    resolve_config(options, raw, given);
  } else {
    throw StartError(
        exit_code::usage,
        "no upstream: set MCP_SERVER_URL or --url to the MCP server's address, or name a command "
        "after --");
  }
  if (auth.origin() == TokenOrigin::login && !auth.asks_for_login())
    auth.token_file = credential_file("token");
  const std::string auth_fault = fault_of(auth);
  if (!auth_fault.empty()) throw StartError(exit_code::configuration, auth_fault);
  if (auth.oauth.token_store.empty() && !options.state.folder.empty())
    auth.oauth.token_store = options.state.folder + "/tokens.json";
  http.system_ca_file = find_ca_file();
  http.max_frame = options.clients.max_frame;
  http.pause_timeout = options.clients.stall;
  if (options.upstream.kind == UpstreamKind::child) resolve_child_options(options);
}

void add_child_options(OptionTable& table, Options& options) {
  table.group("Local server");
  table.command("-- COMMAND [ARGUMENT...]", "The server is run by the daemon");
  table.choice("--spawn", options.upstream.child.lazy, {{"start", false}, {"lazy", true}},
               "When a local server is started: with the daemon, or by the first request");
}

void resolve_child_options(Options& options) {
  ChildOptions& child = options.upstream.child;
  child.max_frame = options.clients.max_frame;
  child.request_timeout = options.upstream.http.request_timeout;
  child.request_max = options.upstream.http.request_max;
  if (child.command.front().empty())
    throw StartError(exit_code::usage, "the command after -- is empty");
  if (!options.check) return;
  const std::string fault = ChildCommand(child, environ).fault();
  if (!fault.empty()) throw StartError(exit_code::cannot_run, fault);
}

}  // namespace bridge
