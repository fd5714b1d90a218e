#include "audit/audit_record.hpp"

#include <doctest/doctest.h>

#include "json/json_text.hpp"

using namespace bridge;
using namespace std::chrono_literals;

namespace {

AuditRecord record() {
  AuditRecord record;
  record.time = 1'767'225'600'123'000'000;  // ticks are nanoseconds
  record.client.uid = 1000;
  record.client.pid = 7;
  record.client.command = "python3";
  record.method = "tools/call";
  record.tool = "add";
  record.bytes_in = 80;
  return record;
}

std::string ended_line(const AuditRecord& record, const AuditEnd& end,
                       std::chrono::microseconds took) {
  std::string line;
  WrittenSecond second;
  append_ended_line(line, record, described(record.client), end, took, second);
  return line;
}

/// Whether or not the id that it begins with is known.
AuditOutcome outcome_of(std::string_view response, bool is_call = true) {
  const AuditOutcome outcome = end_of_response(response, is_call).outcome;
  CHECK(end_of_response(response, is_call, "1").outcome == outcome);
  return outcome;
}

}  // namespace

TEST_CASE("a line has what is known, and one line end") {
  CHECK(
      ended_line(record(), {AuditOutcome::ok, {}, {}, 40}, 1234us) ==
      R"({"time":"2026-01-01T00:00:00.123Z","client":{"uid":1000,"pid":7,"command":"python3"},)"
      R"("method":"tools/call","tool":"add","bytesIn":80,"outcome":"ok","ms":1.234,"bytesOut":40})"
      "\n");
}

TEST_CASE("a caller of the HTTP frontend has an address and no uid") {
  AuditRecord call = record();
  call.client = {};
  call.client.http = true;
  call.client.remote = "192.0.2.1";
  CHECK(ended_line(call, {}, 0us).find(R"("client":{"http":true,"remote":"192.0.2.1"})") !=
        std::string::npos);
}

TEST_CASE("the line before a request is sent has its id and no outcome") {
  AuditRecord call = record();
  call.id = "a-1";
  const std::string line = beginning_line(call);
  CHECK(line.find(R"("id":"a-1")") != std::string::npos);
  CHECK(line.find("outcome") == std::string::npos);
  CHECK(unknown_line(line.substr(0, line.size() - 1)) ==
        line.substr(0, line.size() - 2) + ",\"outcome\":\"unknown\"}\n");
}

TEST_CASE("how a response says that its request has ended") {
  CHECK(outcome_of(R"({"jsonrpc":"2.0","id":1,"result":{"content":[]}})") == AuditOutcome::ok);
  for (const char* response : {R"({"result":{"isError":true},"id":1})",
                               R"({"jsonrpc":"2.0","id":1,"result":{"isError":true}})",
                               R"({"id":1,"jsonrpc":"2.0","result":{"isError":true}})"})
    CHECK(outcome_of(response) == AuditOutcome::tool_error);
  CHECK(outcome_of(R"({"jsonrpc":"2.0","id":1,"result":{"content":[{"isError":true}]}})") ==
        AuditOutcome::ok);
  CHECK(outcome_of(R"({"jsonrpc":"2.0","id":1,"error":{"code":1}})") == AuditOutcome::error);
  CHECK(outcome_of(R"({"result":{"isError":false},"id":1})") == AuditOutcome::ok);
  CHECK(outcome_of(R"({"result":{"a":{"isError":true}},"id":1})") == AuditOutcome::ok);
  CHECK(outcome_of(R"({"result":{"isError":true},"id":1})", false) == AuditOutcome::ok);
  CHECK(outcome_of(R"({"error":{"code":-32602,"message":"m"},"id":1})") == AuditOutcome::error);
  const auto of_bridge = [](std::string_view kind, std::string_view delivered) {
    return outcome_of(std::string(R"({"error":{"code":-32000,"data":{"source":"bridge","kind":")") +
                      std::string(kind) + R"(","delivered":")" + std::string(delivered) +
                      R"("}},"id":1})");
  };
  CHECK(of_bridge("denied", "no") == AuditOutcome::denied);
  CHECK(of_bridge("rate_limited", "no") == AuditOutcome::rate_limited);
  CHECK(of_bridge("timeout", "unknown") == AuditOutcome::unknown);
  CHECK(of_bridge("overloaded", "no") == AuditOutcome::error);
  CHECK(end_of_response(R"({"error":{"code":-32602},"id":1})", true).code == -32602);
  CHECK_FALSE(end_of_response(R"({"error":{"code":"x"},"id":1})", true).code);
}

TEST_CASE("the kind of an error of the bridge is in the line") {
  const AuditEnd end = end_of_response(
      R"({"id":1,"error":{"code":-32000,"message":"m","data":{"source":"bridge","kind":"timeout","delivered":"unknown"}}})",
      true);
  CHECK(ended_line(record(), end, 0us)
            .find(R"("outcome":"unknown","code":-32000,"kind":"timeout",)") != std::string::npos);
  const AuditEnd others =
      end_of_response(R"({"id":1,"error":{"code":-32000,"data":{"kind":"timeout"}}})", true);
  CHECK(ended_line(record(), others, 0us).find("kind") == std::string::npos);
}

TEST_CASE("no character of a peer's that a terminal acts on is in a line, and the line is JSON") {
  struct Row {
    const char* text;
    const char* escaped;
  };
  for (const Row& row :
       {Row{"\x1b[2J", "\\u001b"}, Row{"\x7f", "\\u007f"}, Row{"\u0085", "\\u0085"},
        Row{"\u009b", "\\u009b"}, Row{"\u202e", "\\u202e"}, Row{"\u2066", "\\u2066"},
        Row{"\u2028", "\\u2028"}, Row{"\u2029", "\\u2029"}, Row{"\u200b", "\\u200b"},
        Row{"\U000e0041", "\\udb40\\udc41"}}) {
    INFO(row.escaped);
    for (std::string AuditRecord::*const place :
         {&AuditRecord::method, &AuditRecord::tool, &AuditRecord::prompt, &AuditRecord::uri,
          &AuditRecord::job, &AuditRecord::traceparent, &AuditRecord::arguments}) {
      AuditRecord call = record();
      call.*place = place == &AuditRecord::arguments ? quote(row.text) : row.text;
      const std::string line = ended_line(call, {}, 0us);
      CHECK(line.find(row.escaped) != std::string::npos);
      CHECK(is_json(line, 4));
      if (row.text[0] != '\x1b') CHECK(line.find(row.text) == std::string::npos);
    }
    AuditRecord call = record();
    call.client.command = row.text;
    CHECK(ended_line(call, {}, 0us).find(row.escaped) != std::string::npos);
  }
}

TEST_CASE("the time of each line is its own, whichever was written before") {
  WrittenSecond second;
  const auto time_of = [&second](std::uint64_t ticks) {
    AuditRecord call = record();
    call.time = ticks;
    std::string line;
    append_ended_line(line, call, "{}", {}, 0us, second);
    return line.substr(0, line.find(",\"client\""));
  };
  constexpr std::uint64_t second_of_ticks = 1'000'000'000;
  CHECK(time_of(1'767'225'600 * second_of_ticks) == R"({"time":"2026-01-01T00:00:00.000Z")");
  CHECK(time_of(1'767'225'600 * second_of_ticks + 999'999'999) ==
        R"({"time":"2026-01-01T00:00:00.999Z")");
  CHECK(time_of(1'767'225'601 * second_of_ticks) == R"({"time":"2026-01-01T00:00:01.000Z")");
  CHECK(time_of(1'767'225'600 * second_of_ticks + 5'000'000) ==
        R"({"time":"2026-01-01T00:00:00.005Z")");
  CHECK(time_of(0) == R"({"time":"1970-01-01T00:00:00.000Z")");
}

TEST_CASE("the digest is SHA-256 of the value") {
  // printf '{"a":1}' | sha256sum
  ArgumentsDigest digest;
  for (int again = 0; again < 2; ++again) {
    CHECK(digest.of(R"({ "a" : 1 })") ==
          "015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862");
    CHECK(digest.of("{}") == "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a");
  }
}
