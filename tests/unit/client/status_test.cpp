#include <doctest/doctest.h>
#include <fmt/format.h>

#include "render/status.hpp"
#include "text/columns.hpp"

using namespace client;

namespace {

json::Value status_of(std::string_view text) {
  auto value = json::parse(text);
  REQUIRE(value);
  return std::move(*value);
}

/// The output into a pipe.
std::string shown(std::string_view status, std::int64_t now_ms = 0) {
  return draw_lines(render_status(status_of(status), now_ms, Look{}), Look{});
}

constexpr std::string_view full = R"({"version":"1.2","pid":7,"instance":"i","uptimeMs":61000,
  "upstream":{"kind":"http","target":"http://h/mcp","state":"open","era":"legacy",
    "protocolVersion":"2025-11-25","serverInfo":{"name":"demo","version":"3"},
    "sessionAgeMs":5000,"reopened":1,"reconnects":2,"stream":"open"},
  "ring":{"entries":500,"untaken":3,"bytes":2048,"capacity":1000,"capacityBytes":16777216,
    "oldest":11,"newest":510,"dropped":2,"coalesced":0},
  "clients":[{"id":1,"kind":"unix","pid":42,"uid":1000,"command":"py\u001bthon","connectedMs":1500,
    "inFlight":2,"queuedBytes":10},{"id":2,"kind":"http"}],
  "requests":{"total":10,"errors":1,"inFlight":2,"queued":0,"parked":1},
  "latencyUs":{"p50":900,"p99":12000,"addedP50":80},
  "lastError":{"atMs":1000,"kind":"connect","message":"refused\nhere"}})";

}  // namespace

TEST_CASE("the status is shown for people") {
  CHECK(shown(full, 4000) ==
        "daemon      mcp-bridged 1.2, pid 7, up 1 min 1 s\n"
        "upstream    open for 5 s  http://h/mcp (http)\n"
        "server      demo 3, legacy, protocol 2025-11-25\n"
        "session     lost and reopened 1 time, away and back 2 times, server stream open\n"
        "last error  3 s ago, connect: refused\\nhere\n"
        "\n"
        "ring        [############------------]  500 of 1000, sequence 11 to 510\n"
        "  untaken   [#-----------------------]  3 wait for a client\n"
        "  bytes     [#-----------------------]  2 KiB of 16 MiB\n"
        "  dropped   [#-----------------------]  2 of 510, 0.4 %\n"
        "requests    10 in all, 1 error (10 %), 2 in flight, 0 queued, 1 parked\n"
        "latency     p50 900 us, p99 12.0 ms, added by the bridge (p50) 80 us\n"
        "\n"
        "CLIENT  KIND  PID   UID  CONNECTED  IN FLIGHT  QUEUED  COMMAND\n"
        "     1  unix   42  1000      1.5 s          2    10 B  py\\u001bthon\n"
        "     2  http    -     -       0 ms          -       -  -\n");
}

TEST_CASE("errors of requests that an earlier process counted have no share") {
  const auto requests = [](const std::string& counts) {
    const std::string all =
        shown(R"({"version":"1","pid":1,"uptimeMs":5,"clients":[],"upstream":{"state":"idle"},)"
              R"("requests":{)" +
              counts + R"(,"inFlight":0,"queued":0,"parked":0}})");
    return all.substr(all.find("requests "));
  };
  CHECK(requests(R"("total":0,"errors":3)").starts_with("requests    0 in all, 3 errors, 0 in "));
  CHECK(requests(R"("total":1,"errors":2)").starts_with("requests    1 in all, 2 errors, 0 in "));
  CHECK(requests(R"("total":2,"errors":2)").find("2 errors (100 %)") != std::string::npos);
}

TEST_CASE("a status with little in it is shown too") {
  CHECK(shown(R"({"version":"1","pid":1,"uptimeMs":5,"clients":[],
                  "lastError":null,"upstream":{"state":"idle"}})") ==
        "daemon      mcp-bridged 1, pid 1, up 5 ms\n"
        "upstream    idle, not needed yet\n"
        "\n"
        "no clients\n");
  CHECK_FALSE(shown("{}").empty());
  CHECK_FALSE(shown("[]").empty());
}

TEST_CASE("a state says what is wrong with it, also while it is being tried again") {
  const auto line = [](const std::string& upstream) {
    const std::string text = shown("{\"upstream\":{" + upstream + "}}");
    const std::size_t begin = text.find("upstream") + 12;
    return text.substr(begin, text.find('\n', begin) - begin);
  };
  CHECK(line(R"("state":"waiting","ready":false)") == "waiting, the last try failed");
  CHECK(line(R"("state":"opening","ready":false)") == "opening, the last try failed");
  CHECK(line(R"("state":"opening","ready":true)") == "opening");
  CHECK(line(R"("state":"refused","ready":false)") == "refused, the server refuses a session");
}

TEST_CASE("on a terminal it keeps to the width and the height, and nobody can colour it but we") {
  const Look look{true, true, 60, 15};
  const auto lines = render_status(status_of(full), 4000, look);
  CHECK(lines.size() <= 15);
  for (const StyledLine& line : lines) {
    const std::string plain = line.draw(Look{false, true, 60, 0});
    CHECK(bridge::display_width(plain) <= 60);
    CHECK(plain.find('\x1b') == std::string::npos);
  }
  const std::string drawn = draw_lines(lines, look);
  CHECK(drawn.find("\x1b[32m") != std::string::npos);
  CHECK(drawn.find("py\x1b") == std::string::npos);
  CHECK(drawn.find("\xE2\x96\x88") != std::string::npos);
}

TEST_CASE("clients that do not fit are counted") {
  std::vector<json::Value> clients(10,
                                   status_of(R"({"id":1,"command":"a command of some length"})"));
  CHECK(render_clients(clients, Look{}, 0).size() == 11);
  CHECK(render_clients(clients, Look{}, 11).size() == 11);
  const auto lines = render_clients(clients, Look{false, false, 72, 0}, 5);
  REQUIRE(lines.size() == 5);
  CHECK(lines.back().draw({}) == "and 7 more");
  for (const StyledLine& line : lines) CHECK(line.width() <= 72);
  CHECK(lines[1].draw({}).ends_with("..."));
}

TEST_CASE("clients that are idle are one line, however many") {
  const json::Value busy = status_of(R"({"id":1,"kind":"http","idle":false})");
  const json::Value idle = status_of(R"({"id":2,"kind":"http","idle":true})");
  const auto last = [](const std::vector<json::Value>& clients, std::size_t rows) {
    const auto lines = render_clients(clients, Look{}, rows);
    CHECK((rows == 0 || lines.size() <= rows));
    return lines.back().draw({});
  };
  std::vector<json::Value> clients(1000, idle);
  CHECK(render_clients(clients, Look{}, 0).size() == 1);
  CHECK(last(clients, 0) == "1000 idle HTTP sessions, with no connection");
  CHECK(last({idle}, 0) == "1 idle HTTP session, with no connection");
  clients.push_back(busy);
  CHECK(render_clients(clients, Look{}, 0).size() == 3);
  CHECK(last(clients, 5) == "and 1000 idle HTTP sessions, with no connection");
  std::vector<json::Value> many(10, busy);
  many.push_back(idle);
  CHECK(last(many, 5) == "and 1 idle HTTP session, with no connection");
}

TEST_CASE("ready is what does not wait and was not refused") {
  const auto with_state = [](const std::string& state) {
    return status_of(R"({"upstream":{"state":")" + state + R"("},
                         "lastError":{"kind":"dns","message":"no such host"}})");
  };
  for (const char* state : {"idle", "opening", "open", "reopening"})
    CHECK_MESSAGE(is_ready(with_state(state)), state);
  CHECK_FALSE(is_ready(with_state("waiting")));
  CHECK_FALSE(is_ready(with_state("refused")));
  CHECK_FALSE(is_ready(status_of("{}")));
  // A daemon that reports it is believed: a failed attempt is being repeated.
  CHECK_FALSE(is_ready(status_of(R"({"upstream":{"state":"opening","ready":false}})")));
  CHECK(is_ready(status_of(R"({"upstream":{"state":"waiting","ready":true}})")));
  CHECK(render_ready(with_state("open")) == "ready: open");
  CHECK(render_ready(with_state("waiting")) ==
        "not ready: the upstream is waiting; dns: no such host");
  CHECK(render_ready(status_of(R"({"upstream":{"state":"refused","login":{"state":"needed"}}})"),
                     "mcp-nc -s /s") ==
        "not ready: the upstream is refused; log in with: mcp-nc -s /s login");
}

TEST_CASE("a login that is needed is shown as a command to copy") {
  for (const auto& [login, line] :
       {std::pair(R"({"state":"needed"})", "needed: mcp-nc -s /s login"),
        std::pair(R"({"state":"ok","wanted":"w"})",
                  "ok, w is wanted as well: mcp-nc -s /s login")}) {
    const std::string status = fmt::format(R"({{"upstream":{{"login":{}}}}})", login);
    const auto lines = render_status(status_of(status), 0, Look{}, "mcp-nc -s /s");
    CHECK(draw_lines(lines, Look{}).find(line) != std::string::npos);
  }
}
