#include "options/options.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <sstream>

#include "../words.hpp"
#include "lines.hpp"
#include "options_helpers.hpp"

using namespace bridge;
using namespace std::chrono_literals;

TEST_CASE("--http takes an address and a path, each once") {
  const FrontendOptions both =
      options_of({"--http", "/run/h.sock", "--http", ":8080", "--socket-mode", "0660"}).frontend;
  CHECK(both.address == ListenAddress{"127.0.0.1", 8080});
  CHECK(both.socket->path == "/run/h.sock");
  CHECK(both.socket->mode == 0660);
  CHECK(options_of({"--http", "@name"}).frontend.socket->path == "@name");
  CHECK_FALSE(options_of({}).frontend.is_on());
  for (const Arguments& wrong : {Arguments{"--http", ":1", "--http", ":2"},
                                 {"--http", "/a", "--http", "/b"},
                                 {"--http", "@"},
                                 {"--http", "/" + std::string(107, 'x')},
                                 {"--http", "h.sock"},
                                 {"--http", "/tmp/mcp.sock"}}) {
    CAPTURE(wrong.back());
    CHECK(refused(wrong).code == 64);
  }
}

TEST_CASE("--pipes may stand without a folder") {
  CHECK_FALSE(options_of({}).pipes.wanted);
  for (const Arguments& given : {Arguments{"--pipes"}, {"--pipes", "--socket", "/s"}}) {
    CHECK(options_of(given).pipes.wanted);
    CHECK(options_of(given).pipes.path.empty());
  }
  CHECK(options_of({"--pipes", "/run/p", "--pipes-mode", "1733"}).pipes.path == "/run/p");
  CHECK(options_of({"--pipes-mode", "1733"}).pipes.mode == 01733);
  CHECK(refused({"--pipes-mode", "0777"}).code == 64);
}

TEST_CASE("with an upstream and nothing else the defaults of the contract hold") {
  // Of durations and sizes the help shows the value itself, and test_documents compares it.
  const Options options = options_of({});
  CHECK(options.upstream.http.url == "http://127.0.0.1:1/mcp");
  CHECK(options.upstream.http.server_stream);
  CHECK(options.upstream.http.max_frame == 8u << 20);
  CHECK(options.router.max_frame == 8u << 20);
  CHECK(options.max_clients == 256);
  CHECK(options.router.client_inflight == 64);
  CHECK(options.router.max_inflight == 256);
  CHECK(options.router.handshake == Handshake::lazy);
  CHECK(options.router.orphans == Orphans::finish);
  CHECK(options.router.control);
  CHECK_FALSE(options.router.sequential);
  CHECK_FALSE(options.router.own_initialize);
  CHECK(options.ring.entries == 1000);
  CHECK_FALSE(options.ring.ttl);
  CHECK_FALSE(options.ring.coalesce);
  CHECK(options.ring.excluded_methods.empty());
  CHECK(options.socket.path == "/tmp/mcp.sock");
  CHECK(options.socket.mode == 0600);
}

TEST_CASE("without an upstream the start fails and names the variable") {
  const Refused refusal = refused({}, {}, false);
  CHECK(refusal.code == 64);
  CHECK(mentions(refusal, "MCP_SERVER_URL"));
  CHECK(refused({}, {{"MCP_SERVER_URL", ""}}, false).code == 64);
}

TEST_CASE("every option reaches its place") {
  const Options options = options_of(words(R"(
    --url http://b/ --header X-A:1 --connect-timeout 1 --request-timeout 2s --request-max 3m
    --no-server-stream --stream-retries 4 --max-frame 5K --handshake eager
    --client-capabilities {"roots":{}} --connect-wait 6ms --keepalive 0 --grace 7s
    --socket @name --socket-mode 660 --socket-owner root --socket-group 7 --allow-uid 8
    --allow-gid 9 --max-clients 1 --client-buffer 10M --client-stall 11s
    --client-inflight 12 --max-inflight 13 --max-buffered 14G --orphans cancel
    --park-requests 15s --input-wait 16s --no-control --jobs 19 --jobs-bytes 20K
    --job-ttl 21h --jobs-shared --ring 16 --ring-bytes 17K --ring-ttl 18h --ring-exclude m
    --ring-coalesce --log-level debug)"));
  CHECK(options.upstream.http.url == "http://b/");
  CHECK(options.upstream.http.headers == Lines{"X-A: 1"});
  CHECK(options.upstream.http.connect_timeout == 1s);
  CHECK(options.upstream.http.request_timeout == 2s);
  CHECK(options.upstream.http.request_max == 3min);
  CHECK_FALSE(options.upstream.http.server_stream);
  CHECK(options.upstream.http.stream_retries == 4);
  CHECK(options.upstream.http.max_frame == 5120);
  CHECK(options.clients.max_frame == 5120);
  CHECK(options.router.max_frame == 5120);
  CHECK(options.router.handshake == Handshake::eager);
  CHECK(options.session.client_capabilities == R"({"roots":{}})");
  CHECK(options.router.own_initialize);
  CHECK(options.session.connect_wait == 6ms);
  CHECK(options.router.connect_wait == 6ms);
  CHECK(options.session.keepalive == 0s);
  CHECK(options.grace == 7s);
  CHECK(options.socket.path == "@name");
  CHECK(options.socket.mode == 0660);
  CHECK(options.socket.owner == 0);
  CHECK(options.socket.group == 7);
  CHECK(options.peers.uids == std::vector<uid_t>{8});
  CHECK(options.peers.gids == std::vector<gid_t>{9});
  CHECK(options.max_clients == 1);
  CHECK(options.router.sequential);
  CHECK(options.clients.buffer == 10u << 20);
  CHECK(options.router.client_buffer == 10u << 20);
  CHECK(options.clients.stall == 11s);
  CHECK(options.router.client_inflight == 12);
  CHECK(options.router.max_inflight == 13);
  CHECK(options.max_buffered == std::size_t{14} << 30);
  CHECK(options.router.orphans == Orphans::cancel);
  CHECK(options.router.park_requests == 15s);
  CHECK(options.router.input_wait == 16s);
  CHECK_FALSE(options.router.control);
  CHECK(options.jobs.limits.jobs == 19);
  CHECK(options.jobs.limits.bytes == 20u << 10);
  CHECK(options.jobs.limits.ttl == 21h);
  CHECK(options.jobs.shared);
  CHECK(options.jobs.request_max == 3min);
  CHECK(options.jobs.longest_http_wait == 55s);
  CHECK(options.ring.entries == 16);
  CHECK(options.ring.bytes == 17u << 10);
  CHECK(options.ring.ttl == 18h);
  CHECK(options.ring.excluded_methods == Lines{"m"});
  CHECK(options.ring.coalesce);
  CHECK(options.log.level == LogLevel::debug);
}

TEST_CASE("the names of the ecosystem are understood") {
  const Options options =
      parsed({}, {{"MCP_SERVER_URL", "http://a/x"}, {"MCP_SOCKET_PATH", "/run/x"}}).options;
  CHECK(options.upstream.http.url == "http://a/x");
  CHECK(options.socket.path == "/run/x");
}

TEST_CASE("orphans are kept only where they can be collected") {
  CHECK(options_of({"--orphans", "keep"}).router.orphans == Orphans::keep);
  CHECK_THROWS_AS(options_of({"--orphans", "keep", "--no-control"}), StartError);
}

TEST_CASE("lists gather every mention, in order") {
  const Options options = options_of({"--ring-exclude", "a", "--header", "B: 2", "--ring-exclude=b",
                                      "--header=A:1", "--allow-uid", "0", "--allow-uid", "7"});
  CHECK(options.ring.excluded_methods == Lines{"a", "b"});
  CHECK(options.upstream.http.headers == Lines{"B: 2", "A: 1"});
  CHECK(options.peers.uids == std::vector<uid_t>{0, 7});
}

TEST_CASE("a wrong value is refused with one line that names option and value") {
  const std::pair<const char*, std::vector<const char*>> table[] = {
      {"--connect-timeout", {"x", "-1", "1d", "", "1 s"}},
      {"--ring-ttl", {"x", "-1"}},
      {"--ring", {"0", "-1", "x", "1.5", "1K", "99999999999999999999", "2000000000"}},
      {"--max-clients", {"0", "many"}},
      {"--client-inflight", {"0"}},
      {"--max-inflight", {"0"}},
      {"--stream-retries", {"-1", "x"}},
      {"--ring-bytes", {"0", "x", "-1", "1.5M", "99999999999999999999G"}},
      {"--max-frame", {"0", "8MB"}},
      {"--handshake", {"later", "LAZY"}},
      {"--orphans", {"kept", "KEEP"}},
      {"--jobs", {"0", "-1", "x"}},
      {"--jobs-bytes", {"0", "x"}},
      {"--job-ttl", {"x", "-1"}},
      {"--log-level", {"loud"}},
      {"--socket", {"", "@"}},
      {"--socket-mode", {"999", "x", "1777", "-1"}},
      {"--socket-owner", {"no-such-user", "-1", "4294967295", "99999999999"}},
      {"--socket-group", {"no-such-group", "-1", "4294967295", "99999999999"}},
      {"--allow-uid", {"root", "-1", "1x", "99999999999"}},
      {"--allow-gid", {"users"}},
      {"--client-capabilities", {"[]", "{", "{} x", "1", "{\"a\":01}"}},
      {"--url", {"ftp://x", "http://"}},
      {"--header", {"no colon", ": no name", "bad name: x", "A: b\nC: d"}},
  };
  for (const auto& [option, values] : table) {
    for (const char* value : values) {
      const auto& tried = option;  // clang 14 captures no structured binding
      CAPTURE(tried);
      CAPTURE(value);
      const Refused refusal = refused({std::string(option) + "=" + value});
      CHECK(refusal.code == 64);
      CHECK(mentions(refusal, option));
    }
  }
}

TEST_CASE("a socket's path is as long as a Unix socket's can be, and no longer") {
  for (const char* first : {"/", "@"}) {
    CAPTURE(first);
    CHECK(refused({"--socket", first + std::string(106, 'x')}).code == 0);
    const Refused refusal = refused({"--socket", first + std::string(107, 'x')});
    CHECK(refusal.code == 64);
    CHECK(mentions(refusal, "108 bytes"));
    CHECK(mentions(refusal, "107"));
  }
}

TEST_CASE("a check says of a value what the start says") {
  const Arguments table[] = {{"--socket", ""},
                             {"--socket", std::string(108, 'x')},
                             {"--socket-owner", "no-such-user"},
                             {"--socket-group", "4294967295"},
                             {"--url", "http+unix://%2F" + std::string(107, 'x') + "/mcp"}};
  for (const Arguments& wrong : table) {
    CAPTURE(wrong.back());
    Arguments checked = wrong;
    checked.push_back("--check");
    const Refused start = refused(wrong);
    const Refused check = refused(checked);
    CHECK(start.code == 64);
    CHECK(check.code == 78);
    CHECK(check.line == start.line);
  }
}

TEST_CASE("an unknown option, a stray word and a missing value are refused") {
  CHECK(refused({"--no-such-thing"}).code == 64);
  CHECK(mentions(refused({"--no-such-thing"}), "--no-such-thing"));
  CHECK(mentions(refused({"--rings", "1"}), "did you mean '--ring'?"));
  CHECK(refused({"stray"}).code == 64);
  CHECK(refused({"--ring"}).code == 64);
  CHECK(mentions(refused({"--ring"}), "--ring"));
  CHECK(refused({"--ring", "1", "--ring", "2"}).code == 64);
  CHECK(refused({"--url", "http://a/", "--url", "http://b/"}).code == 64);
  CHECK(refused({"--server-stream=maybe"}).code == 64);
  CHECK_FALSE(options_of({"--server-stream=no"}).upstream.http.server_stream);
  CHECK(options_of({"--no-server-stream", "--server-stream"}).upstream.http.server_stream);
}

TEST_CASE("a header's value may come from a file, and one without a value is sent empty") {
  const TemporaryFile file("from a file\r\n");
  CHECK(options_of({"--header", "X-A: @" + file.path()}).upstream.http.headers ==
        Lines{"X-A: from a file"});
  CHECK(options_of({"--header", "X-A:"}).upstream.http.headers == Lines{"X-A;"});
  CHECK(
      options_of({"--header", "X-A:  b c "}).upstream.http.headers.front().starts_with("X-A: b c"));
  const Refused refusal = refused({"--header", "X-A: @/nonexistent/file"});
  CHECK(refusal.code == 78);
  CHECK(mentions(refusal, "X-A"));
  CHECK(mentions(refusal, "/nonexistent/file"));
}

TEST_CASE("a secret in a wrong header is not repeated in the message") {
  CHECK_FALSE(mentions(refused({"--header", "X-Key: sec\x01ret"}), "ret"));
  CHECK_FALSE(mentions(refused({"--header", "X Key: hidden"}), "hidden"));
}

TEST_CASE("a token that no header can carry is a fault of the configuration") {
  for (const char* token : {"a b", "a\n", "a\r\nX: y", "\xC3\xA9"}) {
    const Refused refusal = refused({}, {{"MCP_SERVER_TOKEN", token}});
    CHECK(refusal.code == 78);
    CHECK(mentions(refusal, "MCP_SERVER_TOKEN"));
    CHECK_FALSE(mentions(refusal, token));
  }
  CHECK(refused({}, {{"MCP_SERVER_TOKEN", "t0ken~+/="}}).code == 0);
  CHECK(refused({}, {{"MCP_SERVER_TOKEN", ""}}).code == 0);
}

TEST_CASE("help and version need no upstream") {
  for (const char* flag : {"--help", "-h"}) {
    const ParsedOptions result = parsed({flag});
    REQUIRE(result.informed);
    CHECK(result.informed->text.find("--url") != std::string::npos);
  }
  const ParsedOptions version = parsed({"--version"});
  REQUIRE(version.informed);
  CHECK(version.informed->text == "mcp-bridged " MCP_BRIDGE_VERSION "\n");
  CHECK_FALSE(parsed({"--url", "http://a/"}).informed);
}

TEST_CASE("a check of the options fails as configuration") {
  CHECK(options_of({"--check"}).check);
  CHECK(refused({"--check"}, {}, false).code == 78);
  CHECK(refused({"--check", "--socket-mode", "x"}).code == 78);
  CHECK(refused({"--check", "--ring", "x"}).code == 78);
}

TEST_CASE("a check looks at the files that the start opens, and changes nothing") {
  const TemporaryFile garbage("-----BEGIN CERTIFICATE-----\ns3cret\n");
  const std::string& file = garbage.path();
  const std::pair<Arguments, const char*> wrong[] = {
      {{"--ca-file", file}, "--ca-file: "},
      {{"--client-cert", file}, "--client-cert: "},
      {{"--client-cert", file, "--client-key", file}, "--client-cert: "},
      {{"--state-dir", file}, "is not a folder"},
      {{"--state-dir", "/no/such/folder"}, "cannot write in /no/such"},
      {{"--audit", "/no/such/audit"}, "cannot write in /no"},
      {{"--audit", "/tmp"}, "is a folder"},
      {{"--audit", "/tmp/audit"}, "other users can write to its folder"},
      {{"--audit", "/dev/null"}, "not a regular file"},
      {{"--audit", file + "/audit"}, "is not a folder (symbolic"},
  };
  for (auto [arguments, said] : wrong) {
    CAPTURE(said);
    arguments.push_back("--check");
    const Refused refusal = refused(arguments);
    CHECK(refusal.code == 78);
    CHECK(mentions(refusal, said));
    CHECK_FALSE(mentions(refusal, "s3cret"));
  }
  const std::string folder = file + ".d";
  CHECK(refused({"--check", "--state-dir", folder, "--audit", file + ".a/audit"}).code == 0);
  for (const char* const stream : {"stdout", "stderr", "journal"})
    CHECK(refused({"--check", "--audit", stream}).code == 0);
  CHECK(access(folder.c_str(), F_OK) != 0);
  CHECK(access((file + ".a").c_str(), F_OK) != 0);
}

TEST_CASE(
    "a check says of a socket or a folder for pipes what the start would, and takes nothing") {
  const TemporaryFile plain("");
  const std::string& file = plain.path();
  const std::string folder = file + ".d";
  REQUIRE(mkdir(folder.c_str(), 0700) == 0);
  const std::pair<Arguments, const char*> wrong[] = {
      {{"--socket", file}, "exists and is not a socket; remove it, or name another with --socket"},
      {{"--socket", "/nonexistent/s"},
       "cannot open /nonexistent/s.lock: No such file or directory; name another socket than "
       "/nonexistent/s with --socket"},
      {{"--http", file}, "exists and is not a socket; remove it, or name another with --http"},
      {{"--http", "/nonexistent/h"}, "cannot open /nonexistent/h.lock: "},
      {{"--pipes", "/nonexistent/x"},
       "pipes folder /nonexistent/x cannot be made: No such file or directory"},
      {{"--pipes", folder}, "exists and was not made by a daemon"},
      {{"--pipes", file}, "cannot be opened: Not a directory"},
      {{"--pipes", "--socket", "@abstract"}, "the socket is abstract"},
  };
  for (auto [arguments, said] : wrong) {
    CAPTURE(said);
    arguments.push_back("--check");
    const Refused refusal = refused(arguments);
    CHECK(refusal.code == 78);
    CHECK_MESSAGE(mentions(refusal, said), refusal.line);
  }
  const std::string fresh = file + ".s";
  CHECK(refused({"--check", "--socket", fresh, "--http", fresh + "h", "--pipes"}).code == 0);
  CHECK(refused({"--check", "--socket", "@abstract"}).code == 0);
  for (const char* const made : {"", ".lock", ".pipes", "h", "h.lock"})
    CHECK_MESSAGE(access((fresh + made).c_str(), F_OK) != 0, made);
  rmdir(folder.c_str());
}

TEST_CASE("a check reports every file, folder and socket that cannot be used, a line each") {
  const Arguments arguments = {"--check",         "--policy",  "/nonexistent/p", "--token-file",
                               "/nonexistent/t",  "--ca-file", "/nonexistent/c", "--state-dir",
                               "/no/such/folder", "--socket",  "/nonexistent/s"};
  try {
    parsed(arguments, {{"MCP_SERVER_URL", "http://a/"}, {"MCP_BRIDGE_AUDIT", "/no/such/audit"}});
    FAIL("nothing was refused");
  } catch (const StartError& error) {
    CHECK(error.code() == 78);
    std::istringstream lines(error.what());
    for (const char* const said :
         {"/nonexistent/p", "--token-file: ", "--ca-file: ", "--state-dir: ",
          "MCP_BRIDGE_AUDIT: --audit: ", "/nonexistent/s.lock"}) {
      std::string line;
      std::getline(lines, line);
      CHECK_MESSAGE(line.find(said) != std::string::npos, line);
    }
    std::string more;
    CHECK_FALSE_MESSAGE(std::getline(lines, more), more);
  }
}

TEST_CASE("a start refuses certificates that cannot be used, as a check does") {
  const TemporaryFile garbage("-----BEGIN CERTIFICATE-----\ns3cret\n");
  for (const char* const option : {"--ca-file", "--client-cert"}) {
    const Refused refusal = refused({option, garbage.path()});
    CHECK(refusal.code == 78);
    CHECK(mentions(refusal, option));
    CHECK_FALSE(mentions(refusal, "s3cret"));
  }
}

TEST_CASE("a check names what other users may read or write") {
  const TemporaryFile file("token");
  struct Row {
    Arguments arguments;
    mode_t mode;
    const char* said;  // null: nothing
  };
  const Row rows[] = {
      {{"--token-file", file.path()}, 0666, "can write to it (mode 0666); chmod 0600"},
      {{"--token-file", file.path()}, 0644, "can read it (mode 0644)"},
      {{"--token-file", file.path()}, 0600, nullptr},
      {{"--socket-mode", "0666"}, 0600, "--socket-mode 0666: every user"},
      {{"--socket-mode", "0666", "--allow-uid", "0"}, 0600, nullptr},
      {{"--socket-mode", "0660"}, 0600, nullptr},
  };
  for (const Row& row : rows) {
    REQUIRE(chmod(file.path().c_str(), row.mode) == 0);
    Arguments arguments = row.arguments;
    CHECK(options_of(arguments).warnings.empty());
    arguments.push_back("--check");
    const auto warnings = options_of(arguments).warnings;
    REQUIRE(warnings.size() == (row.said == nullptr ? 0 : 1));
    if (row.said != nullptr) CHECK(warnings[0].find(row.said) != std::string::npos);
  }
}
