#include <doctest/doctest.h>

#include <filesystem>

#include "../../temporary_folder.hpp"
#include "../options_helpers.hpp"
#include "servers/server_config.hpp"

using namespace bridge;

namespace {

/// What a child or a server gets, as text: the words of a command, `NAME=value` of its environment,
/// a URL, headers.
std::string got(const Options& options) {
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : " ") + part; };
  if (options.upstream.kind == UpstreamKind::child) {
    for (const std::string& word : options.upstream.child.command) add(word);
    for (const auto& [name, value] : options.upstream.child.environment) add(name + "=" + value);
    return text;
  }
  add((options.upstream.kind == UpstreamKind::sse ? "sse:" : "") + options.upstream.http.url);
  for (const std::string& line : options.upstream.http.headers) add("[" + line + "]");
  return text;
}

struct Form {
  const char* what;
  const char* file;
  Environment environment;
  const char* got;           // of the program, or of the server
  const char* refused = "";  // else why it is not started
  const char* warning = "";  // what is said about it all the same
  const char* name = "mcp.json";
  const char* env_file = "";  // .env beside it
};

const Form forms[] = {
    {"mcp-remote's header from the entry's own environment",
     R"({"mcpServers":{"a":{"command":"npx","args":["mcp-remote","https://h/mcp","--header","Authorization:${AUTH_HEADER}"],
         "env":{"AUTH_HEADER":"Bearer k"}}}})",
     {},
     "npx mcp-remote https://h/mcp --header Authorization:Bearer k AUTH_HEADER=Bearer k"},
    {"the same variable of the caller does not win",
     R"({"mcpServers":{"a":{"command":"x","args":["${T}"],"env":{"T":"own"}}}})",
     {{"T", "caller's"}},
     "x own T=own"},
    {"${env:NAME} is the caller's",
     R"({"mcpServers":{"a":{"command":"x","args":["${env:T}"],"env":{"T":"own"}}}})",
     {{"T", "other"}},
     "x other T=own"},
    {"one that goes on from the caller's",
     R"({"mcpServers":{"a":{"command":"x","args":["${P}"],"env":{"P":"/x:${P}"}}}})",
     {{"P", "/bin"}},
     "x /x:/bin P=/x:/bin"},
    {"one from another one, in any order",
     R"({"mcpServers":{"a":{"command":"x","env":{"A":"<${B}>","B":"${C:-c}"}}}})",
     {},
     "x A=<c> B=c"},
    {"in a circle",
     R"({"mcpServers":{"a":{"command":"x","env":{"A":"${B}","B":"${A}"}}}})",
     {},
     "",
     "environment variable A"},
    {"empty in the entry: the default",
     R"({"mcpServers":{"a":{"command":"x","args":["${T:-d}","${T}"],"env":{"T":""}}}})",
     {},
     "x d  T="},
    {"an editor's names",
     R"({"servers":{"a":{"command":"${userHome}/x","args":["${workspaceFolder}${/}y","${workspaceFolderBasename}","${cwd}${pathSeparator}"]}}})",
     {{"HOME", "/h"}},
     "/h/x CWD/y BASE CWD/"},
    {"an editor's name that the entry defines",
     R"({"servers":{"a":{"command":"x","args":["${workspaceFolder}"],"env":{"workspaceFolder":"/w"}}}})",
     {},
     "x /w workspaceFolder=/w"},
    {"an editor's name without a value",
     R"({"servers":{"a":{"command":"${userHome}/x"}}})",
     {},
     "",
     "${userHome} (HOME is not set)"},
    {"Windsurf: serverUrl",
     R"({"mcpServers":{"a":{"serverUrl":"https://h/mcp","headers":{"K":"${T}"}}}})",
     {{"T", "1"}},
     "https://h/mcp [K: 1]"},
    {"Gemini: httpUrl is used rather than url",
     R"({"mcpServers":{"a":{"url":"https://h/sse","httpUrl":"https://h/mcp","timeout":5000,"trust":false}}})",
     {},
     "https://h/mcp"},
    {"Gemini: the same in the other order, beside its own settings",
     R"({"mcp":{"allowed":["a"]},"mcpServers":{"a":{"httpUrl":"https://h/mcp","url":"https://h/sse"}}})",
     {},
     "https://h/mcp"},
    {"Gemini: not among those that are allowed",
     R"({"mcp":{"allowed":["b"]},"mcpServers":{"a":{"command":"x"}}})",
     {},
     "x",
     "",
     "server 'a' is disabled there, and used here"},
    {"Gemini: excluded",
     R"({"mcp":{"excluded":["\u0061"]},"mcpServers":{"a":{"command":"x"}}})",
     {},
     "x",
     "",
     "server 'a' is disabled there, and used here"},
    {"Gemini: another is excluded",
     R"({"mcp":{"excluded":["b"]},"mcpServers":{"a":{"command":"x"}}})",
     {},
     "x"},
    {"VS Code: in its settings",
     R"({"mcp":{"inputs":[],"servers":{"a":{"type":"http","url":"https://h/mcp"}}}})",
     {},
     "https://h/mcp"},
    {"opencode: local",
     R"({"$schema":"s","mcp":{"a":{"type":"local","command":["npx","-y","p","{env:T}"],"environment":{"K":"v","T":"{env:T}"},"enabled":true}}})",
     {{"T", "1"}},
     "npx -y p 1 K=v T=1"},
    {"opencode: remote",
     R"({"mcp":{"a":{"type":"remote","url":"https://h/mcp","headers":{"Authorization":"Bearer {env:T}"}}}})",
     {{"T", "k"}},
     "https://h/mcp [Authorization: Bearer k]"},
    {"opencode: a file's content",
     R"({"mcp":{"a":{"type":"remote","url":"https://h/mcp","headers":{"A":"{file:~/.key}"}}}})",
     {},
     "",
     "${file:~/.key}, which is not known here"},
    {"Codex: a program",
     R"(model = "x"
[mcp_servers.a]  # as its manual shows it
command = "npx"
args = ["-y", "p"]
env_vars = ["T", "NOT_SET", {name = "U", source = "local"}]
startup_timeout_sec = 20
enabled = true
[mcp_servers.a.env]
K = "v"
[mcp_servers.a.tools.t]
approval_mode = "prompt"
)",
     {{"T", "1"}, {"U", "2"}},
     "npx -y p K=v T=1 U=2",
     "",
     "server 'a': 'tools' limits the server in other programs, and is not obeyed here",
     "config.toml"},
    {"Codex: an address",
     R"([mcp_servers."a"]
url = "https://h/mcp"
bearer_token_env_var = "T"
http_headers = { "X-Region" = "us" }
env_http_headers = { "X-Key" = "U" }
scopes = ["read"])",
     {{"T", "1"}, {"U", "2"}},
     "https://h/mcp [Authorization: Bearer 1] [X-Key: 2] [X-Region: us]",
     "",
     "",
     "config.toml"},
    {"Codex: a token that is not there",
     R"(mcp_servers.a = {url = "https://h/mcp", bearer_token_env_var = "T"})",
     {},
     "",
     "environment variable T",
     "",
     "config.toml"},
    {"Codex: a token in the place of a variable's name",
     R"(mcp_servers.a = {url = "https://h/mcp", bearer_token_env_var = "s3cret-x"})",
     {},
     "",
     "bearer_token_env_var is not the name of a variable",
     "",
     "config.toml"},
    {"Codex: elsewhere",
     R"(mcp_servers.a = {command = "x", experimental_environment = "remote"})",
     {},
     "x",
     "",
     "'experimental_environment' is not understood and not used",
     "config.toml"},
    {"not TOML",
     "[mcp_servers.a]\ncommand = s3cret\n",
     {},
     "",
     "not TOML: line 2, column 1",
     "",
     "config.toml"},
    {"Gemini: variables with a bare $",
     R"({"mcpServers":{"a":{"command":"x","args":["$N$T","$1"],"env":{"K":"$T"}}}})",
     {{"T", "1"}},
     "x $N1 $1 K=1",
     "",
     "",
     ".gemini/settings.json"},
    {"a bare $ is text elsewhere",
     R"({"mcpServers":{"a":{"command":"x","args":["$T"]}}})",
     {{"T", "1"}},
     "x $T"},
    {"an environment file, whose values are text",
     R"({"servers":{"a":{"command":"x","args":["${A}"],"env":{"B":"own"},"envFile":".env"}}})",
     {{"A", "caller's"}},
     "x a #1 A=a #1 B=own C=${A} D=two\nlines",
     "",
     "",
     "mcp.json",
     "# kept here\nexport A='a #1' # why\nB=file\n\nC=${A}\r\nD=\"two\\nlines\"\n"},
    {"an environment file in the folder of a variable",
     R"({"servers":{"a":{"command":"x","envFile":"${F}/.env"}}})",
     {{"F", "."}},
     "x A=1",
     "",
     "",
     "mcp.json",
     "A=1"},
    {"an environment file that is not there",
     R"({"servers":{"a":{"command":"x","envFile":"no.env"}}})",
     {},
     "",
     "server 'a': envFile: cannot read"},
    {"an environment file that is none",
     R"({"servers":{"a":{"command":"x","envFile":".env"}}})",
     {},
     "",
     "no NAME=value at line 2, column 7",
     "",
     "mcp.json",
     "A=1\ns3cret\n"},
    {"braces are text elsewhere",
     R"({"mcpServers":{"a":{"command":"x","args":["{env:T}"]}}})",
     {},
     "x {env:T}"},
    {"disabled",
     R"({"mcpServers":{"a":{"command":"x","disabled":true}}})",
     {},
     "x",
     "",
     "server 'a' is disabled there, and used here"},
    {"not enabled",
     R"({"mcp":{"a":{"type":"local","command":["x"],"enabled":false}}})",
     {},
     "x",
     "",
     "server 'a' is disabled there, and used here"},
    {"a member that may change what runs",
     R"({"mcpServers":{"a":{"url":"https://h/","headersHelper":"/s3cret","alwaysAllow":["t"],"oauth":{}}}})",
     {},
     "https://h/",
     "",
     "server 'a': 'headersHelper' is not understood and not used"},
    {"a limit: includeTools",
     R"({"mcpServers":{"a":{"command":"x","includeTools":["a"]}}})",
     {},
     "x",
     "",
     "server 'a': 'includeTools' limits the server in other programs, and is not obeyed here"},
    {"a limit: excludeTools",
     R"({"mcpServers":{"a":{"command":"x","excludeTools":["a"]}}})",
     {},
     "x",
     "",
     "server 'a': 'excludeTools' limits the server in other programs, and is not obeyed here"},
    {"none: excludeTools",
     R"({"mcpServers":{"a":{"command":"x","excludeTools":[ ]}}})",
     {},
     "x",
     "",
     ""},
    {"a limit: disabledTools",
     R"({"mcpServers":{"a":{"command":"x","disabledTools":["s3cret"]}}})",
     {},
     "x",
     "",
     "server 'a': 'disabledTools' limits the server in other programs, and is not obeyed here"},
    {"none: disabledTools",
     R"({"mcpServers":{"a":{"command":"x","disabledTools":[]}}})",
     {},
     "x",
     "",
     ""},
    {"a limit: enabled_tools",
     R"({"mcpServers":{"a":{"command":"x","enabled_tools":["a"]}}})",
     {},
     "x",
     "",
     "server 'a': 'enabled_tools' limits the server in other programs, and is not obeyed here"},
    {"a limit: disabled_tools",
     R"({"mcpServers":{"a":{"command":"x","disabled_tools":["a"]}}})",
     {},
     "x",
     "",
     "server 'a': 'disabled_tools' limits the server in other programs, and is not obeyed here"},
    {"a limit: default_tools_approval_mode",
     R"({"mcpServers":{"a":{"command":"x","default_tools_approval_mode":"prompt"}}})",
     {},
     "x",
     "",
     "server 'a': 'default_tools_approval_mode' limits the server in other programs, and is not obeyed here"},
    {"none: default_tools_approval_mode",
     R"({"mcpServers":{"a":{"command":"x","default_tools_approval_mode":"approve"}}})",
     {},
     "x",
     "",
     ""},
    {"none: the default of default_tools_approval_mode",
     R"({"mcpServers":{"a":{"command":"x","default_tools_approval_mode":"auto"}}})",
     {},
     "x",
     "",
     ""},
    {"a limit: tools",
     R"({"mcpServers":{"a":{"command":"x","tools":["a"]}}})",
     {},
     "x",
     "",
     "server 'a': 'tools' limits the server in other programs, and is not obeyed here"},
    {"none: tools", R"({"mcpServers":{"a":{"command":"x","tools":["*"]}}})", {}, "x", "", ""},
    {"a limit: allowedTools",
     R"({"mcpServers":{"a":{"command":"x","allowedTools":["a"]}}})",
     {},
     "x",
     "",
     "server 'a': 'allowedTools' limits the server in other programs, and is not obeyed here"},
    {"none: allowedTools",
     R"({"mcpServers":{"a":{"command":"x","allowedTools":["*"]}}})",
     {},
     "x",
     "",
     ""},
    {"no login, of opencode",
     R"({"mcpServers":{"a":{"url":"https://h/","oauth":false}}})",
     {},
     "https://h/",
     "",
     "server 'a': 'oauth' limits the server in other programs, and is not obeyed here"},
    {"no login, of Gemini",
     R"({"mcpServers":{"a":{"url":"https://h/","oauth":{"enabled":false}}}})",
     {},
     "https://h/",
     "",
     "server 'a': 'oauth.enabled' limits the server in other programs, and is not obeyed here"},
    {"a login, of Gemini",
     R"({"mcpServers":{"a":{"url":"https://h/","oauth":{"enabled":true,"scopes":["a"]}}}})",
     {},
     "https://h/",
     "",
     ""},
    {"a login at another place",
     R"({"mcpServers":{"a":{"url":"https://h/","oauth":{"clientId":"c","authorizationUrl":"https://s3cret/"}}}})",
     {},
     "https://h/",
     "",
     "server 'a': 'oauth.authorizationUrl' is not understood and not used"},
    {"Cursor's login with more",
     R"({"mcpServers":{"a":{"url":"https://h/","auth":{"CLIENT_ID":"c","audience":"s3cret"}}}})",
     {},
     "https://h/",
     "",
     "server 'a': 'auth.audience' is not understood and not used"},
};

std::string with_folder(std::string text) {
  const std::string folder = std::filesystem::current_path().string();
  const std::pair<const char*, std::string> names[] = {
      {"CWD", folder}, {"BASE", folder.substr(folder.rfind('/') + 1)}};
  for (const auto& [name, value] : names) {
    for (std::size_t at = 0; (at = text.find(name, at)) != text.npos; at += value.size())
      text.replace(at, std::string_view(name).size(), value);
  }
  return text;
}

}  // namespace

TEST_CASE("of each form of the ecosystem's files the program or the server gets what was meant") {
  for (const Form& form : forms) {
    CAPTURE(form.what);
    const TemporaryFolder folder;
    std::filesystem::create_directory(folder.path(".gemini"));
    if (*form.env_file != '\0') folder.write(".env", form.env_file);
    const Arguments arguments = {"--config", folder.write(form.name, form.file)};
    const Refused refusal = refused(arguments, form.environment, false);
    CHECK(refusal.line.find("s3cret") == std::string::npos);
    if (*form.refused != '\0') {
      CHECK(refusal.code == 78);
      CHECK(mentions(refusal, form.refused));
      continue;
    }
    CHECK(refusal.line == "");
    if (refusal.code != 0) continue;
    const Options options = parsed(arguments, form.environment).options;
    CHECK(got(options) == with_folder(form.got));
    const std::string warned = options.warnings.empty() ? "" : options.warnings.front();
    CAPTURE(warned);
    CHECK(options.warnings.size() == (*form.warning == '\0' ? 0 : 1));
    CHECK(warned.find(form.warning) != std::string::npos);
  }
}

TEST_CASE("own variables that name one another are bounded in depth and size") {
  const auto refusal_of = [](std::size_t count, const std::string& value) {
    std::string env;
    for (std::size_t i = 0; i < count; ++i) {
      std::string text = value;
      for (std::size_t at = 0; (at = text.find('N', at)) != text.npos;)
        text.replace(at, 1, "${A" + std::to_string(i + 1) + "}");
      env += (env.empty() ? "" : ",") + ("\"A" + std::to_string(i) + "\":\"" + text + "\"");
    }
    const TemporaryFile file(R"({"mcpServers":{"a":{"command":"x","env":{)" + env + "}}}}");
    return refused({"--config", file.path()}, {{"A" + std::to_string(count), "end"}}, false).line;
  };
  CHECK(refusal_of(30, "N") == "");
  CHECK(refusal_of(10'000, "N").find("nested more than 32 deep") != std::string::npos);
  CHECK(refusal_of(30, "NN").find("is over 2 MiB") != std::string::npos);
}
