#include <doctest/doctest.h>

#include "render/status.hpp"

using namespace client;

namespace {

json::Value status_of(std::string_view text) {
  auto value = json::parse(text);
  REQUIRE(value);
  return std::move(*value);
}

constexpr std::string_view full = R"({"version":"1.2","pid":7,"instance":"i","uptimeMs":61000,
  "upstream":{"kind":"http","target":"http://h/mcp","state":"open","era":"legacy",
    "protocolVersion":"2025-11-25","serverInfo":{"name":"demo","version":"3"},
    "sessionAgeMs":5000,"reopened":1,"stream":"open"},
  "ring":{"entries":500,"untaken":3,"bytes":2048,"capacity":1000,"capacityBytes":16777216,
    "oldest":11,"newest":510,"dropped":2,"coalesced":0},
  "clients":[{"id":1,"kind":"unix","pid":42,"uid":1000,"command":"py\u001bthon","connectedMs":1500,
    "inFlight":2,"queuedBytes":10},{"id":2,"kind":"http"}],
  "requests":{"total":10,"errors":1,"inFlight":2,"queued":0,"parked":1},
  "latencyUs":{"p50":900,"p99":12000,"addedP50":80},
  "lastError":{"atMs":1000,"kind":"connect","message":"refused\nhere"}})";

}  // namespace

TEST_CASE("the status is shown for people") {
  CHECK(render_status(status_of(full), 4000) ==
        "daemon     mcp-bridged 1.2, pid 7, up 1 m 1 s\n"
        "upstream   http://h/mcp (http)\n"
        "session    open, for 5 s, reopened 1 time, server stream open\n"
        "server     demo 3, protocol 2025-11-25, legacy\n"
        "ring       [##########----------] 500/1000, 2048 B of 16 MiB, 3 untaken, 2 dropped, "
        "sequence 11 to 510\n"
        "requests   10 in all, 1 error, 2 in flight, 0 queued, 1 parked\n"
        "latency    p50 900 us, p99 12.0 ms, of the p50 added by the bridge 80 us\n"
        "last error connect: refused\\nhere, 3 s ago\n"
        "\n"
        "CLIENT  KIND  PID  UID   CONNECTED  IN FLIGHT  QUEUED  COMMAND\n"
        "1       unix  42   1000  1 s        2          10      py\\u001bthon\n"
        "2       http  -    -     0 ms       -          -       -\n");
}

TEST_CASE("a status with little in it is shown too") {
  CHECK(render_status(status_of(R"({"version":"1","pid":1,"uptimeMs":5,"clients":[],
                                    "lastError":null,"upstream":{"state":"idle"}})"),
                      0) ==
        "daemon     mcp-bridged 1, pid 1, up 5 ms\n"
        "upstream   \n"
        "session    idle\n"
        "\n"
        "no clients\n");
  CHECK_FALSE(render_status(status_of("{}"), 0).empty());
  CHECK_FALSE(render_status(status_of("[]"), 0).empty());
}

TEST_CASE("ready is what does not wait and was not refused") {
  const auto with_state = [](const std::string& state) {
    return status_of(R"({"upstream":{"state":")" + state + R"("},
                         "lastError":{"kind":"dns","message":"no such host"}})");
  };
  for (const char* state : {"idle", "opening", "open", "reopening"}) {
    CAPTURE(state);
    CHECK(is_ready(with_state(state)));
  }
  CHECK_FALSE(is_ready(with_state("waiting")));
  CHECK_FALSE(is_ready(with_state("refused")));
  CHECK_FALSE(is_ready(status_of("{}")));
  CHECK(render_ready(with_state("open")) == "ready: open");
  CHECK(render_ready(with_state("waiting")) ==
        "not ready: the upstream is waiting; dns: no such host");
}
