#include "options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

#include "options_file.hpp"
#include "protocol/json_scanner.hpp"
#include "service/start_error.hpp"
#include "service/units.hpp"

namespace bridge {
namespace {

using Strings = std::vector<std::string>;

[[noreturn]] void wrong(const std::string& option, const std::string& value, const std::string& expected) {
  throw StartError(exit_code::usage, fmt::format("{}: '{}' is not {}", option, printable(value), expected));
}

/// Names options, their environment, and where their values go.
class Builder {
 public:
  explicit Builder(CLI::App& app) : app_(app) {}

  void group(const std::string& name) { group_ = name; }

  CLI::Option* text(const std::string& name, std::string& value, const std::string& type,
                    const std::string& help, const char* variable = nullptr) {
    return finish(name, app_.add_option_function<std::string>(
                            name, [&value](const std::string& given) { value = given; }, help),
                  type, value, variable);
  }

  void list(const std::string& name, const std::string& type, const std::string& help,
            std::function<void(const std::string&)> take) {
    finish(name,
           app_.add_option_function<Strings>(
               name,
               [take = std::move(take)](const Strings& given) {
                 for (const std::string& one : given) take(one);
               },
               help + " (may be repeated)"),
           type, {}, nullptr)
        ->take_all()
        ->allow_extra_args(false);
  }

  void duration(const std::string& name, std::chrono::milliseconds& value, const std::string& help) {
    const std::string shown = fmt::format("{}", value.count() % 1000 == 0 ? fmt::format("{}s", value.count() / 1000)
                                                                         : fmt::format("{}ms", value.count()));
    parsed(name, "DURATION", shown, help, [name, &value](const std::string& given) {
      const auto duration = parse_duration(given);
      if (!duration) wrong(name, given, "a duration (a number with ms, s, m or h)");
      value = *duration;
    });
  }

  void size(const std::string& name, std::size_t& value, const std::string& help) {
    const std::string shown = value % (1u << 20) == 0 ? fmt::format("{}M", value >> 20) : fmt::format("{}", value);
    parsed(name, "SIZE", shown, help, [name, &value](const std::string& given) {
      const auto size = parse_size(given);
      if (!size || *size == 0) wrong(name, given, "a size (a whole number above 0, with K, M or G)");
      value = *size;
    });
  }

  template <class Number>
  void count(const std::string& name, Number& value, const std::string& help, Number least, const std::string& shown) {
    parsed(name, "N", shown, help, [name, &value, least](const std::string& given) {
      Number number = 0;
      const auto [end, error] = std::from_chars(given.data(), given.data() + given.size(), number);
      if (error != std::errc() || end != given.data() + given.size() || number < least || number > 1'000'000'000) {
        wrong(name, given, fmt::format("a whole number of at least {}", least));
      }
      value = number;
    });
  }

  template <class Value>
  void choice(const std::string& name, Value& value, std::vector<std::pair<std::string, Value>> choices,
              const std::string& help) {
    std::string shown, names;
    for (const auto& [text, one] : choices) {
      if (one == value) shown = text;
      names += (names.empty() ? "" : "|") + text;
    }
    parsed(name, names, shown, help, [name, &value, choices, names](const std::string& given) {
      const auto found = std::find_if(choices.begin(), choices.end(), [&](const auto& one) { return one.first == given; });
      if (found == choices.end()) wrong(name, given, "one of " + names);
      value = found->second;
    });
  }

  void parsed(const std::string& name, const std::string& type, const std::string& shown, const std::string& help,
              std::function<void(const std::string&)> take) {
    finish(name, app_.add_option_function<std::string>(name, std::move(take), help), type, shown, nullptr);
  }

  /// `--name` and `--no-name`.
  void flag(const std::string& name, bool& value, const std::string& help) {
    const std::string shown = value ? " (on; --no-" + name + " turns it off)" : "";
    const std::string names = value ? fmt::format("--{0},!--no-{0}", name) : "--" + name;
    CLI::Option* option = app_.add_flag(names, value, help + shown);
    option->group(group_)->envname(variable_of("--" + name));
  }

 private:
  static std::string variable_of(const std::string& name) {
    std::string variable = "MCP_BRIDGE_" + name.substr(2);
    for (char& c : variable) c = c == '-' ? '_' : static_cast<char>(std::toupper(c));
    return variable;
  }

  CLI::Option* finish(const std::string& name, CLI::Option* option, const std::string& type,
                      const std::string& shown, const char* variable) {
    option->type_name(type)->group(group_)->envname(variable != nullptr ? variable : variable_of(name));
    if (!shown.empty()) option->default_str(shown);
    return option;
  }

  CLI::App& app_;
  std::string group_;
};

template <class Id>
void take_ids(Builder& build, const std::string& name, const std::string& help, std::vector<Id>& ids) {
  build.list(name, "ID", help, [name, &ids](const std::string& given) {
    Id id = 0;
    const auto [end, error] = std::from_chars(given.data(), given.data() + given.size(), id);
    if (error != std::errc() || end != given.data() + given.size()) wrong(name, given, "a numeric id");
    ids.push_back(id);
  });
}

/// `Name: value` or `Name: @FILE`.
std::string header_of(const std::string& given) {
  const auto colon = given.find(':');
  const std::string name = given.substr(0, colon);
  constexpr std::string_view token_characters =
      "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  if (colon == given.npos || name.empty() || name.find_first_not_of(token_characters) != name.npos) {
    throw StartError(exit_code::usage, "--header: expected 'Name: value' or 'Name: @FILE'");
  }
  const auto begin = given.find_first_not_of(" \t", colon + 1);
  std::string value = begin == given.npos ? std::string() : given.substr(begin);
  if (value.starts_with("@")) value = read_small_file(value.substr(1), "--header " + name);
  const bool printable_only = std::none_of(value.begin(), value.end(), [](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7F;
  });
  if (!printable_only) throw StartError(exit_code::usage, fmt::format("--header {}: the value has a control character in it", name));
  // curl sends a header without a value only if it ends with a semicolon.
  return value.empty() ? name + ";" : name + ": " + value;
}

void check_capabilities(const std::string& json) {
  JsonScanner scanner(json);
  Slice value;
  scanner.skip_space();
  const bool is_object_text = scanner.peek() == '{' && scanner.value(value);
  scanner.skip_space();
  if (!is_object_text || !scanner.at_end()) wrong("--client-capabilities", json, "a JSON object");
}

struct Raw {
  std::string url, mode = "0600", options_file, client_capabilities;
};

void add_upstream(Builder& build, Options& options, Raw& raw) {
  HttpOptions& http = options.http;
  build.group("Upstream");
  build.text("--url", raw.url, "URL", "The MCP server: http://, https:// or http+unix://%2Fpath%2Fto.sock/mcp", "MCP_SERVER_URL");
  build.list("--header", "'NAME: VALUE'", "A header for every request; 'Name: @FILE' reads the value from a file",
             [&http](const std::string& given) { http.headers.push_back(header_of(given)); });
  build.duration("--connect-timeout", http.connect_timeout, "For one connection to the upstream");
  build.duration("--request-timeout", http.request_timeout, "Without a byte of a request's answer; 0: none");
  build.duration("--request-max", http.request_max, "For a request's whole answer; 0: none");
  build.flag("server-stream", http.server_stream, "Keep the GET stream open for the server's notifications");
  build.count("--stream-retries", http.stream_retries, "Tries in a row to open that stream", 0, "unlimited");
  build.size("--max-frame", options.clients.max_frame, "The longest message, in either direction");
}

void add_trust(Builder& build, Options& options) {
  HttpOptions& http = options.http;
  AuthOptions& auth = options.auth;
  build.group("Authorization and TLS");
  build.text("--token-command", auth.token_command, "CMD", "A shell command that prints the bearer token");
  build.parsed("--token-ttl", "DURATION", "until refused", "How long its token is used", [&auth](const std::string& given) {
    auth.token_ttl = parse_duration(given);
    if (!auth.token_ttl) wrong("--token-ttl", given, "a duration (a number with ms, s, m or h)");
  });
  build.text("--token-file", auth.token_file, "FILE", "A file with the bearer token; read again when it changes");
  build.text("--oauth-client-id", auth.oauth.client_id, "ID", "OAuth 2.1 client credentials: the client");
  build.text("--oauth-client-secret-file", auth.oauth.client_secret_file, "FILE", "Its secret");
  build.text("--oauth-private-key", auth.oauth.private_key_file, "FILE", "Or its private key (PEM, P-256 or RSA), for private_key_jwt");
  build.text("--oauth-token-url", auth.oauth.token_url, "URL", "The token endpoint; else it is discovered");
  build.text("--oauth-scope", auth.oauth.scope, "SCOPE", "The scope asked for; else what the server names");
  build.text("--ca-file", http.ca_file, "FILE", "Trust these certificate authorities (PEM) instead of the system's");
  build.text("--client-cert", http.client_certificate, "FILE", "A client certificate (PEM)");
  build.text("--client-key", http.client_key, "FILE", "Its private key (PEM)");
  build.flag("insecure", http.insecure, "Do not verify the upstream's certificate; anybody can then read and change everything");
  build.flag("http2", http.http2, "Use HTTP/2 if a TLS upstream offers it");
}

void add_session(Builder& build, Options& options, Raw& raw) {
  build.group("Session");
  build.choice("--handshake", options.router.handshake,
               {{"lazy", Handshake::lazy}, {"client", Handshake::client}, {"eager", Handshake::eager}},
               "Who initializes: the first client or else the bridge; only a client; the bridge, at start");
  build.text("--client-capabilities", raw.client_capabilities, "JSON", "Capabilities the bridge opens the session with; then it always opens it itself");
  build.duration("--connect-wait", options.session.connect_wait, "How long a frame waits for the session");
  build.duration("--keepalive", options.session.keepalive, "Ping the upstream after so long without a message; 0: never");
  build.duration("--grace", options.grace, "For requests in flight when the daemon is told to end");
}

void add_clients(Builder& build, Options& options, Raw& raw) {
  build.group("Clients");
  build.text("--socket", options.socket.path, "PATH", "The Unix socket; @NAME for an abstract one", "MCP_SOCKET_PATH");
  build.text("--socket-mode", raw.mode, "MODE", "Its permissions, octal");
  build.text("--socket-owner", options.socket.owner, "USER", "Its owner");
  build.text("--socket-group", options.socket.group, "GROUP", "Its group");
  take_ids(build, "--allow-uid", "Only these users may connect", options.peers.uids);
  take_ids(build, "--allow-gid", "Only these groups may connect", options.peers.gids);
  build.count<std::size_t>("--max-clients", options.max_clients, "Clients at a time; 1: one after the other", 1, "256");
  build.size("--client-buffer", options.clients.buffer, "Bytes queued for or by one client");
  build.duration("--client-stall", options.clients.stall, "How long a client over that may read nothing");
  build.count<std::size_t>("--client-inflight", options.router.client_inflight, "Requests of one client at a time", 1, "64");
  build.count<std::size_t>("--max-inflight", options.router.max_inflight, "Requests of all clients at a time", 1, "256");
  build.size("--max-buffered", options.max_buffered, "Bytes in all queues together");
  build.choice("--orphans", options.router.orphans, {{"cancel", Orphans::cancel}, {"finish", Orphans::finish}},
               "What becomes of the requests of a client that has left");
  build.duration("--park-requests", options.router.park_requests, "How long a request of the server waits for a client");
  build.flag("control", options.router.control, "Answer bridge/* requests instead of forwarding them");
}

void add_ring(Builder& build, Options& options) {
  build.group("Notifications");
  build.count<std::size_t>("--ring", options.ring.entries, "Notifications kept", 1, "1000");
  build.size("--ring-bytes", options.ring.bytes, "Bytes of notifications kept");
  build.parsed("--ring-ttl", "DURATION", "none", "How long one is kept", [&options](const std::string& given) {
    const auto duration = parse_duration(given);
    if (!duration) wrong("--ring-ttl", given, "a duration (a number with ms, s, m or h)");
    options.ring.ttl = duration->count() == 0 ? std::nullopt : duration;
  });
  build.list("--ring-exclude", "METHOD", "Keep notifications of this method out of the ring",
             [&options](const std::string& given) { options.ring.excluded_methods.push_back(given); });
  build.flag("ring-coalesce", options.ring.coalesce, "A newer list_changed or resources/updated replaces an untaken older one");
}

void add_running(Builder& build, Options& options, Raw& raw) {
  build.group("Running");
  build.text("--options-file", raw.options_file, "FILE", "More options, one 'name = value' a line");
  build.choice("--log-level", options.log_level,
               {{"debug", LogLevel::debug}, {"info", LogLevel::info}, {"warning", LogLevel::warning},
                {"error", LogLevel::error}, {"off", LogLevel::off}},
               "What is logged on stderr");
}

/// What a line about a flag says: `control = no` and `no-control` are the same.
std::string flag_value(const std::string& name, const std::string& value) {
  const auto is_one_of = [&value](std::initializer_list<std::string_view> words) {
    return std::find(words.begin(), words.end(), value) != words.end();
  };
  const bool yes = is_one_of({"", "true", "yes", "on", "1"});
  if (!yes && !is_one_of({"false", "no", "off", "0"})) wrong(name, value, "true or false");
  return yes != name.starts_with("no-") ? "true" : "false";
}

/// Fills what neither a flag nor the environment has set.
void apply_file(CLI::App& app, const std::string& path) {
  for (const auto& [name, values] : read_options_file(path)) {
    CLI::Option* option = name == "options-file" ? nullptr : app.get_option_no_throw("--" + name);
    if (option == nullptr) {
      throw StartError(exit_code::configuration, fmt::format("{}: there is no option '{}'", path, printable(name)));
    }
    if (option->count() > 0) continue;
    const bool is_flag = option->get_expected_max() == 0;
    try {
      for (const std::string& value : values) option->add_result(is_flag ? flag_value(name, value) : value);
      option->run_callback();
    } catch (const StartError& error) {
      throw StartError(exit_code::configuration, fmt::format("{}: {}", path, error.what()));
    } catch (const CLI::Error& error) {
      throw StartError(exit_code::configuration, fmt::format("{}: {}: {}", path, name, error.what()));
    }
  }
}

void check_readable(const std::string& option, const std::string& path) {
  if (!path.empty()) read_small_file(path, option);
}

void settle(Options& options, const Raw& raw) {
  const char* token = std::getenv("MCP_SERVER_TOKEN");
  if (token != nullptr) options.auth.static_token = token;
  const bool clean = std::all_of(options.auth.static_token.begin(), options.auth.static_token.end(),
                                 [](char c) { return c > 0x20 && c < 0x7F; });
  if (!clean) throw StartError(exit_code::configuration, "MCP_SERVER_TOKEN has a character in it that no token has (a space or a line end?)");
  unsigned mode = 0;
  const auto [end, error] = std::from_chars(raw.mode.data(), raw.mode.data() + raw.mode.size(), mode, 8);
  if (error != std::errc() || end != raw.mode.data() + raw.mode.size() || mode > 0777) {
    wrong("--socket-mode", raw.mode, "an octal mode of at most 0777");
  }
  options.socket.mode = static_cast<mode_t>(mode);
  if (!raw.client_capabilities.empty()) {
    check_capabilities(raw.client_capabilities);
    options.session.client_capabilities = raw.client_capabilities;
    options.router.own_initialize = true;
  }
  if (raw.url.empty()) {
    throw StartError(exit_code::usage, "no upstream: set MCP_SERVER_URL or --url to the MCP server's address");
  }
  const std::string fault = set_url(options.http, raw.url);
  if (!fault.empty()) throw StartError(exit_code::usage, "--url (MCP_SERVER_URL): " + fault);
  const std::string auth_fault = fault_of(options.auth);
  if (!auth_fault.empty()) throw StartError(exit_code::configuration, auth_fault);
  check_readable("--ca-file", options.http.ca_file);
  check_readable("--client-cert", options.http.client_certificate);
  check_readable("--client-key", options.http.client_key);
  options.http.max_frame = options.router.max_frame = options.clients.max_frame;
  options.router.client_buffer = options.clients.buffer;
  options.router.connect_wait = options.session.connect_wait;
  options.router.sequential = options.max_clients == 1;
}

/// CLI11 writes the value of a negated flag behind its name, which only confuses.
std::string help_of(const CLI::App& app) {
  static constexpr std::string_view negation = "{false}";
  std::string text = app.help();
  for (std::size_t at = text.find(negation); at != text.npos; at = text.find(negation, at)) {
    text.erase(at, negation.size());
  }
  return text;
}

/// One line of what CLI11 has to say.
std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace

ParsedOptions parse_options(int argc, char** argv) {
  ParsedOptions result;
  Options& options = result.options;
  Raw raw;
  bool version = false;
  CLI::App app(
      "Holds one MCP session to one upstream server and lets many short-lived local processes use it\n"
      "through a Unix socket, one JSON-RPC message a line.",
      "mcp-bridged");
  app.get_formatter()->column_width(40);
  app.set_help_flag("-h,--help", "This text");
  app.add_flag("--version", version, "The version");
  app.add_flag("--check", options.check, "Only say whether all options are well: exit 0 or 78");
  Builder build(app);
  add_upstream(build, options, raw);
  add_trust(build, options);
  add_session(build, options, raw);
  add_clients(build, options, raw);
  add_ring(build, options);
  add_running(build, options, raw);
  app.footer(
      "MCP_SERVER_TOKEN is sent as the bearer token. Durations: a number with ms, s, m or h; sizes: a\n"
      "number with K, M or G. Flags win over the environment over --options-file over the default.");
  const bool only_checks = std::any_of(argv + 1, argv + argc, [](const char* one) { return one == std::string_view("--check"); });
  const auto code = [only_checks](int usual) { return only_checks ? exit_code::configuration : usual; };
  try {
    app.parse(argc, argv);
    if (!raw.options_file.empty()) apply_file(app, raw.options_file);
    if (!version) settle(options, raw);
    for (const CLI::Option* option : app.get_options()) {
      if (option->count() > 0) result.given[option->get_name()] = CLI::detail::join(option->results(), "\n");
    }
  } catch (const CLI::CallForHelp&) {
    result.informed = Informed{help_of(app)};
  } catch (const CLI::ParseError& error) {
    throw StartError(code(exit_code::usage), first_line(error.what()) + " (see --help)");
  } catch (const StartError& error) {
    throw StartError(code(error.code()), error.what());
  }
  if (version) result.informed = Informed{"mcp-bridged " MCP_BRIDGE_VERSION "\n"};
  return result;
}

}  // namespace bridge
