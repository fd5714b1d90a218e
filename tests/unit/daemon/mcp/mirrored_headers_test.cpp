// BEHAVIOUR, "Eras: a modern server".
#include "mcp/mirrored_headers.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "../json/frames.hpp"
#include "../lines.hpp"

using namespace bridge;

namespace {

HeadersOfTools known() {
  HeadersOfTools tools;
  tools["sql"] = {{{"region"}, "Region", ParameterType::string},
                  {{"o", "n"}, "N", ParameterType::integer},
                  {{"o", "b"}, "B", ParameterType::boolean}};
  return tools;
}

Frame request(std::string_view method, std::string_view params) {
  return frame_of(
      fmt::format(R"({{"jsonrpc":"2.0","id":1,"method":"{}","params":{}}})", method, params));
}

MirroredHeaders mirrored(std::string_view method, std::string_view params) {
  return mirrored_headers(request(method, params), known());
}

Lines lines(std::string_view method, std::string_view params) {
  const MirroredHeaders headers = mirrored(method, params);
  CHECK(headers.unsendable.empty());
  return headers.lines;
}

constexpr std::string_view meta =
    R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"})";

std::string refusal(const std::vector<HeaderField>& headers, std::string_view method,
                    std::string_view members) {
  const Frame frame =
      request(method, fmt::format("{{{}{}{}}}", meta, members.empty() ? "" : ",", members));
  return check_mirrored(headers, frame, known()).value_or("");
}

}  // namespace

TEST_CASE("values that a header cannot carry as they are stand in it as Base64") {
  struct Row {
    std::string text, value;
  };
  const Row rows[] = {
      {"us-west1", "us-west1"},
      {"a b,c;d\"", "a b,c;d\""},
      {"Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="},
      {" padded ", "=?base64?IHBhZGRlZCA=?="},
      {"line1\nline2", "=?base64?bGluZTEKbGluZTI=?="},
      {"=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="},
      {"=?BASE64?x?=", "=?BASE64?x?="},
      {"=?base64?", "=?base64?"},
      {"",
       "=?base64?"
       "?="},
      {"\t", "=?base64?CQ==?="},
      {std::string("a\0b", 3), "=?base64?YQBi?="},
      {"\x7f", "=?base64?fw==?="},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    CHECK(encode_header_value(row.text) == row.value);
    CHECK(decode_header_value(row.value) == row.text);
  }
}

TEST_CASE("a header that holds no value is refused") {
  for (const char* value : {"=?base64?a?=", "=?base64?ab?=", "=?base64?ab=c?=", "=?base64?a===?=",
                            "=?base64?YQ==YQ==?=", "=?base64?Y Q=?=", "=?base64?-_-_?=", "a\nb",
                            "a\rb", "\x7f", "caf\xc3\xa9"})
    CHECK_FALSE_MESSAGE(decode_header_value(value), value);
  CHECK(decode_header_value("a\tb") == "a\tb");
  CHECK(decode_header_value("=?base64?=") == "=?base64?=");
}

TEST_CASE("integers are one text however they are written") {
  for (const char* number : {"42", "42.0", "4.2e1", "420E-1"}) CHECK(integer_text(number) == "42");
  CHECK(integer_text("-7") == "-7");
  CHECK(integer_text("-0") == "0");
  CHECK(integer_text("9007199254740991") == "9007199254740991");
  CHECK(integer_text("-9007199254740991") == "-9007199254740991");
  for (const char* other : {"", "4.5", "9007199254740992", "1e400", "1e999999", "inf", "nan",
                            "0x2a", "42 ", " 42", "+42", "true", "-"})
    CHECK_FALSE_MESSAGE(integer_text(other), other);
}

TEST_CASE("a request's headers repeat its method and what it names") {
  CHECK(lines("tools/list", "{}") == Lines{"Mcp-Method: tools/list"});
  CHECK(lines("tools/call", R"({"name":"x","arguments":{}})") ==
        Lines{"Mcp-Method: tools/call", "Mcp-Name: x"});
  CHECK(lines("prompts/get", R"({"name":" p"})") ==
        Lines{"Mcp-Method: prompts/get", "Mcp-Name: =?base64?IHA=?="});
  CHECK(lines("resources/read", R"({"name":"n","uri":"file:\/\/\/a\u00e9b"})") ==
        Lines{"Mcp-Method: resources/read", "Mcp-Name: =?base64?ZmlsZTovLy9hw6li?="});
  for (const char* method : {"tasks/get", "tasks/update", "tasks/cancel"}) {
    CHECK(lines(method, R"({"taskId":"t-1"})").back() == "Mcp-Name: t-1");
  }
  for (const char* params :
       {"{}", "[]", "null", R"({"name":null})", R"({"name":{}})", R"({"name":7})"})
    CHECK_MESSAGE(lines("tools/call", params) == Lines{"Mcp-Method: tools/call"}, params);
}

TEST_CASE("a call's headers repeat the parameters that its tool says") {
  CHECK(
      lines("tools/call",
            R"({"arguments":{"region":"us","o":{"n":4.2e1,"b":true},"query":"q"},"name":"sql"})") ==
      Lines{"Mcp-Method: tools/call", "Mcp-Name: sql", "Mcp-Param-Region: us", "Mcp-Param-N: 42",
            "Mcp-Param-B: true"});
  CHECK(lines("tools/call", R"({"name":"s\u0071l","arguments":{"r\u0065gion":"\r\nX: y"}})") ==
        Lines{"Mcp-Method: tools/call", "Mcp-Name: sql", "Mcp-Param-Region: =?base64?DQpYOiB5?="});
  CHECK(lines("tools/call", R"({"name":"sql","arguments":{"region":""}})").back() ==
        "Mcp-Param-Region: =?base64?"
        "?=");
  const Lines without_parameters = {"Mcp-Method: tools/call", "Mcp-Name: sql"};
  for (const char* arguments :
       {"{}", "[]", "null", "7", R"({"region":null,"o":null})", R"({"region":{},"o":[{"n":1}]})",
        R"({"o":{}})", R"({"n":1,"b":true})", R"({"o":{"o":{"n":1}}})"})
    CHECK_MESSAGE(lines("tools/call", fmt::format(R"({{"name":"sql","arguments":{}}})",
                                                  arguments)) == without_parameters,
                  arguments);
  CHECK(lines("tools/call", R"({"name":"sql"})").size() == 2);
  CHECK(lines("prompts/get", R"({"name":"sql","arguments":{"region":"us"}})").size() == 2);
}

TEST_CASE("what cannot be said in a header is not sent otherwise") {
  const auto unsendable = [](std::string_view method, std::string_view params) {
    return mirrored(method, params).unsendable;
  };
  const std::string fits(8u << 10, 'x');
  CHECK(unsendable("tools/call", R"({"name":")" + fits + "\"}").empty());
  CHECK(unsendable("tools/call", R"({"name":"x)" + fits + "\"}") == "Mcp-Name");
  CHECK(unsendable("tools/call", R"({"name":"sql","arguments":{"region":"x)" + fits + "\"}}") ==
        "Mcp-Param-Region");
  CHECK(unsendable(R"(\u00e9)", "{}") == "Mcp-Method");
  CHECK(unsendable("", "{}") == "Mcp-Method");
  CHECK(unsendable("tools/call", R"({"name":"sql","arguments":{"region":"a","region":"b"}})") ==
        "Mcp-Param");
  CHECK(unsendable("tools/call", R"({"name":"sql","arguments":{"o":{"n":1},"o":{}}})") ==
        "Mcp-Param");
  for (const char* arguments :
       {R"({"region":"a","Region":"b"})", R"({"REGION":"b"})", R"({"region\u0000":"b"})",
        R"({"o":{"n":1},"O":{}})", R"({"o":{"n":1,"N":2}})"})
    CHECK_MESSAGE(unsendable("tools/call", fmt::format(R"({{"name":"sql","arguments":{}}})",
                                                       arguments)) == "Mcp-Param",
                  arguments);
  for (const char* arguments : {R"({"Query":"a","regions":"b"})", R"({"Other":{"REGION":1}})",
                                R"({"o":{"n":1},"N":2,"x":{"B":1}})"})
    CHECK_MESSAGE(
        unsendable("tools/call", fmt::format(R"({{"name":"sql","arguments":{}}})", arguments))
            .empty(),
        arguments);
  HeadersOfTools many;
  std::string arguments;
  for (int i = 0; i < 9; ++i) {
    many["t"].push_back({{fmt::format("p{}", i)}, fmt::format("H{}", i), ParameterType::string});
    arguments += fmt::format(R"({}"p{}":"{}")", i > 0 ? "," : "", i, fits);
  }
  CHECK(mirrored_headers(request("tools/call", R"({"name":"t","arguments":{)" + arguments + "}}"),
                         many)
            .unsendable == "Mcp-Param-H7");
}

TEST_CASE("no line holds a control character, whatever a client says") {
  std::string all;
  for (int c = 0; c < 0x100; ++c) all += fmt::format("\\u{:04x}", c);
  for (const std::string& line :
       mirrored("tools/call", R"({"name":"sql","arguments":{"region":")" + all + "\"}}").lines) {
    CHECK(std::all_of(line.begin(), line.end(), [](char c) { return c >= 0x20 && c < 0x7f; }));
  }
}

TEST_CASE("what the bridge would send, it accepts") {
  for (const char* params :
       {R"("name":"sql","arguments":{"region":" r ","o":{"n":42,"b":false}})",
        R"("name":"sql","arguments":{"region":null})", R"("name":"other","arguments":{})"}) {
    const Frame frame = request("tools/call", fmt::format("{{{},{}}}", meta, params));
    const MirroredHeaders made = mirrored_headers(frame, known());
    std::vector<HeaderField> headers = {{"MCP-Protocol-Version", "2026-07-28"}};
    for (const std::string_view line : made.lines) {
      const auto colon = line.find(": ");
      headers.push_back({line.substr(0, colon), line.substr(colon + 2)});
    }
    CHECK_FALSE(check_mirrored(headers, frame, known()));
  }
}

TEST_CASE("headers that say something else than the body are refused") {
  const HeaderField version{"mcp-protocol-version", "2026-07-28"};
  const HeaderField method{"MCP-METHOD", "tools/call"};
  const HeaderField name{"mcp-name", "sql"};
  const std::string_view call = R"("name":"sql","arguments":{"o":{"n":42}})";
  const HeaderField number{"mcp-param-n", "42"};
  CHECK(refusal({version, method, name, number}, "tools/call", call).empty());
  CHECK(refusal({version, method, name, {"Mcp-Param-N", "42.0"}}, "tools/call", call).empty());
  CHECK(refusal({version, method, {"Mcp-Name", "=?base64?c3Fs?="}, number}, "tools/call", call)
            .empty());
  CHECK(refusal({version, method, name, number, {"Mcp-Param-Other", "\x01"}}, "tools/call", call)
            .empty());
  struct Row {
    std::vector<HeaderField> headers;
    const char* part;
  };
  const Row rows[] = {
      {{method, name, number}, "MCP-Protocol-Version is missing"},
      {{{"MCP-Protocol-Version", "2025-11-25"}, method, name, number}, "MCP-Protocol-Version does"},
      {{version, name, number}, "Mcp-Method is missing"},
      {{version, {"Mcp-Method", "Tools/call"}, name, number}, "Mcp-Method does"},
      {{version, method, method, name, number}, "Mcp-Method is given twice"},
      {{version, method, number}, "Mcp-Name is missing"},
      {{version, method, {"Mcp-Name", "SQL"}, number}, "Mcp-Name does"},
      {{version, method, {"Mcp-Name", "=?base64?!?="}, number}, "Mcp-Name has invalid"},
      {{version, method, {"Mcp-Name", "s\x01"}, number}, "Mcp-Name has invalid"},
      {{version, method, name}, "Mcp-Param-N is missing"},
      {{version, method, name, {"Mcp-Param-N", "43"}}, "Mcp-Param-N does"},
      {{version, method, name, {"Mcp-Param-N", "forty-two"}}, "Mcp-Param-N does"},
      {{version, method, name, number, number}, "Mcp-Param-N is given twice"},
      {{version, method, name, number, {"Mcp-Param-Region", "us"}},
       "Mcp-Param-Region is given, but"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.part);
    const std::string said = refusal(row.headers, "tools/call", call);
    CHECK(said.starts_with("Header mismatch: "));
    CHECK(said.find(row.part) != std::string::npos);
  }
  CHECK(refusal({version, method, name}, "tools/call", R"("name":"a","name":"sql")")
            .find("duplicate") != std::string::npos);
  CHECK(refusal({version, method, name, number}, "tools/call",
                R"("name":"sql","arguments":{"o":{"n":42}},"arguments":{})")
            .find("duplicate") != std::string::npos);
  CHECK(refusal({version, {"Mcp-Method", "tasks/get"}}, "tasks/get", R"("taskId":"t")").empty());
  CHECK_FALSE(refusal({version, {"Mcp-Method", "tasks/get"}, name}, "tasks/get", R"("taskId":"t")")
                  .empty());
}

TEST_CASE("what is named twice cannot be mirrored") {
  for (const char* params : {R"({"name":"a","name":"b"})", R"({"name":"a","n\u0061me":"a"})",
                             R"({"name":"sql","arguments":{},"arguments":{"region":"x"}})"})
    CHECK_FALSE_MESSAGE(mirrored("tools/call", params).unsendable.empty(), params);
  CHECK_FALSE(mirrored("resources/read", R"({"uri":"a","uri":"b"})").unsendable.empty());
  CHECK(mirrored("completion/complete", R"({"name":"a","name":"b"})").unsendable.empty());
}
