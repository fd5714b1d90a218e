// BEHAVIOUR, "Framing": what another parser could read differently.
#include "json/member_names.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <string_view>

#include "frames.hpp"
#include "mcp/methods.hpp"

using namespace bridge;
using namespace std::string_view_literals;

namespace {

struct Row {
  std::string_view raw;  ///< between its quotes
  std::string_view name;
};

/// What some parser takes for another name.
constexpr Row similar[] = {
    // Case, as Go's encoding/json, and libraries that are told to ignore it.
    {"ID", "id"},
    {"iD", "id"},
    {"METHOD", "method"},
    {"Params", "params"},
    {"progresstoken", "progressToken"},
    {"_Meta", "_meta"},
    {"IO.modelcontextprotocol/protocolversion", "io.modelcontextprotocol/protocolVersion"},
    // The characters beyond ASCII that fold to a letter, or are its upper or lower case.
    {"param\xC5\xBF", "params"},  // U+017F
    {"PARAM\xC5\xBF", "params"},
    {"progre\xC5\xBF\xC5\xBFToken", "progressToken"},
    {"progressTo\xE2\x84\xAA"
     "en",
     "progressToken"},  // U+212A
    {"ta\xC5\xBF\xE2\x84\xAA"
     "Id",
     "taskId"},
    {"\xC4\xB0"
     "d",
     "id"},  // U+0130
    {"\xC4\xB1"
     "d",
     "id"},  // U+0131
    // The same by escapes.
    {R"(param\u017f)", "params"},
    {R"(param\u017F)", "params"},
    {R"(\u0049d)", "id"},
    {R"(\u212a)", "k"},
    {R"(\u004D\u0045THOD)", "method"},
    // NUL: dropped, or the end of a text in C.
    {R"(name\u0000)", "name"},
    {R"(\u0000name)", "name"},
    {R"(na\u0000me)", "name"},
    {R"(name\u0000name)", "name"},
    {R"(name\u0000\ud800)", "name"},
    {R"(Name\u0000x)", "name"},
    {R"(params\u0000\u0000)", "params"},
    // Other control characters, invisible ones, lone surrogates.
    {R"(name\u0001)", "name"},
    {R"(name\u001f)", "name"},
    {R"(name\u007f)", "name"},
    {"name\x7F", "name"},
    {"name\xC2\x80", "name"},
    {R"(name\n)", "name"},
    {R"(\tname)", "name"},
    {R"(na\bme)", "name"},
    {R"(name\ud800)", "name"},
    {R"(na\udfffme)", "name"},
    {R"(\ud83dname)", "name"},
    {"\xEF\xBB\xBF"
     "id",
     "id"},
    {R"(\ufeffid)", "id"},
    {"i\xE2\x80\x8B"
     "d",
     "id"},  // U+200B
    {R"(i\u200dd)", "id"},
    {"i\xC2\xAD"
     "d",
     "id"},  // U+00AD
    {R"(uri\u202e)", "uri"},
    {R"(\u0055RI\u0000)", "uri"},
};

/// What every parser takes for another name, or for the same.
constexpr Row different[] = {
    {"id", "id"},
    {R"(\u0069d)", "id"},
    {"", "id"},
    {"i", "id"},
    {"ids", "id"},
    {"id ", "id"},
    {" id", "id"},
    {"i d", "id"},
    {"i-d", "id"},
    {"_id", "id"},
    {R"(\\u0069d)", "id"},
    {R"(id\\)", "id"},
    {R"(id\u0020)", "id"},
    {"\xC3\xAD"
     "d",
     "id"},  // U+00ED
    {"\xD1\x96"
     "d",
     "id"},  // U+0456, which only looks like i
    {"\xEF\xBD\x89"
     "d",
     "id"},  // U+FF49
    {"meta", "_meta"},
    {"traceparent", "progressToken"},
    {R"(\u0000)", "id"},
    {R"(x\u0000id)", "id"},
    {"param\xC3\x9F", "params"},  // U+00DF
    {"progress_token", "progressToken"},
};

}  // namespace

TEST_CASE("a name that another parser takes for one of ours is similar, and no other one is") {
  for (const Row& row : similar) {
    INFO(row.raw);
    CHECK(is_similar_name(row.raw, row.name));
  }
  for (const Row& row : different) {
    INFO(row.raw);
    CHECK_FALSE(is_similar_name(row.raw, row.name));
  }
  // A tool's parameter may have any name.
  CHECK(is_similar_name("GR\xC3\x96SSE", "gr\xC3\x96sse"));
  CHECK(is_similar_name(R"(gr\u00d6sse\u0000)", "Gr\xC3\x96sse"));
  CHECK_FALSE(is_similar_name("region", "gr\xC3\x96sse"));
}

TEST_CASE("every code point but those that fold is its own") {
  std::string found;
  for (std::uint32_t code = 0x80; code < 0x10000; ++code) {
    if (code >= 0xD800 && code <= 0xDFFF) continue;
    const std::string raw = fmt::format("\\u{:04x}", code);
    const std::string form = lax_form(raw);
    if (form.size() == 1) found += fmt::format("{:04X}={} ", code, form);
  }
  CHECK(found == "0130=i 0131=i 017F=s 212A=k ");
}

TEST_CASE("a text is clear if it has no control character and no lone surrogate") {
  for (const std::string_view raw :
       {"search"sv, ""sv, "a b"sv, R"(a\"b\\c\/d)"sv, R"(\u00e9\ud83d\ude00)"sv,
        "\xC3\xA9\xF0\x9F\x98\x80"sv, R"(\ufffd)"sv, "\xEF\xBF\xBD"sv, R"(\\u0000)"sv,
        R"(\u202e)"sv})
    CHECK_MESSAGE(is_clear_text(raw), raw);
  for (const std::string_view raw :
       {R"(search\u0000)"sv, R"(\u0000)"sv, R"(a\u001fb)"sv, R"(a\u007f)"sv, "a\x7F"sv,
        R"(a\u0085)"sv, "a\xC2\x85"sv, R"(\n)"sv, R"(\t)"sv, R"(\r)"sv, R"(\b)"sv, R"(\f)"sv,
        R"(\ud800)"sv, R"(\udc00)"sv, R"(\ud800\u0041)"sv, R"(\ud800\ud800\udc00)"sv,
        R"(\\\u0000)"sv})
    CHECK_FALSE_MESSAGE(is_clear_text(raw), raw);
}

TEST_CASE("a text is clear or not wherever in it the character is") {
  for (std::size_t length = 1; length < 20; ++length) {
    for (std::size_t at = 0; at < length; ++at) {
      for (int byte = 0x20; byte < 0x80; ++byte) {
        std::string text(length, 'a');
        text[at] = static_cast<char>(byte);
        if (byte == '\\' || byte == '"') continue;
        CHECK(is_clear_text(text) == (byte != 0x7F));
        text[at] = 'a';
        CHECK(is_similar_name(text.replace(at, 1, "A"), std::string(length, 'a')));
        CHECK_FALSE(is_similar_name(text.replace(at, 1, "b"), std::string(length, 'a')));
      }
    }
  }
}

TEST_CASE("a method is judged as the one that it equals but for case") {
  constexpr Row rows[] = {
      {"tools/call", "tools/call"},
      {"Tools/Call", "tools/call"},
      {"TOOLS/CALL", "tools/call"},
      {"tool\xC5\xBF/call", "tools/call"},
      {"tools/call\xE2\x80\x8B", "tools/call"},
      {"logging/setLevel", "logging/setLevel"},
      {"logging/setlevel", "logging/setLevel"},
      {"INITIALIZE", "initialize"},
      {"Notifications/Progress", "notifications/progress"},
      {"ta\xC5\xBF\xE2\x84\xAAs/get", "tasks/get"},
      {"Bridge/Status", "bridge/status"},
      {"BRIDGE/whatever", "bridge/whatever"},
      {"tools/calls", "tools/calls"},
      {"Tools/Other", "Tools/Other"},
      {"foo/List", "foo/List"},
      {"vendor/\xC3\x96", "vendor/\xC3\x96"},
      {"", ""},
  };
  for (const Row& row : rows) {
    INFO(row.raw);
    CHECK(judged_method(std::string(row.raw)) == row.name);
  }
}

TEST_CASE("the members that name what a request is about are judged in each method that has one") {
  for (const std::string_view method : {"tools/call"sv, "prompts/get"sv, "resources/read"sv,
                                        "tasks/get"sv, "tasks/update"sv, "tasks/cancel"sv}) {
    CAPTURE(method);
    const std::string_view member = facts_of_method(method).name_member;
    CHECK((param::acted_on(method) & param::similar(std::string(member) + R"(\u0000)")) != 0);
  }
  CHECK((param::acted_on("vendor/method") & param::name) == 0);
  CHECK((param::acted_on("vendor/method") & param::meta) != 0);
}

namespace {

constexpr std::string_view requests_at_top[] = {
    R"({{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"a"}},"{}":2}})",
    R"({{"{}":2,"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"a"}}}})",
    R"({{"jsonrpc":"2.0","id":1,"result":{{}},"{}":{{}}}})",
    R"({{"jsonrpc":"2.0","id":1,"error":{{"code":1,"message":"m"}},"{}":null}})",
    R"({{"jsonrpc":"2.0","method":"notifications/initialized","{}":[]}})",
    R"([{{"jsonrpc":"2.0","id":1,"method":"ping","{}":2}}])",
};

int fault_with(std::string_view form, std::string_view raw) {
  const std::string text = fmt::format(fmt::runtime(form), raw);
  if (text.front() != '[') return fault_of(text);
  const auto batch = parse_batch(text);
  const auto* const fault = std::get_if<FrameFault>(&std::get<0>(batch).at(0));
  return fault == nullptr ? 0 : fault->code;
}

}  // namespace

TEST_CASE("a member that another parser takes for one of the message makes it invalid") {
  for (const std::string_view raw :
       {"ID"sv, "iD"sv, R"(id\u0000)"sv, R"(i\u0064\u0000)"sv,
        "\xC4\xB1"
        "d"sv,
        "Method"sv, R"(method\u0000)"sv, "PARAMS"sv, "param\xC5\xBF"sv, R"(param\u017f)"sv,
        R"(params\u0000x)"sv, "Result"sv, "re\xC5\xBFult"sv, R"(result\u0000)"sv, "Error"sv,
        R"(er\u0000ror)"sv}) {
    for (const std::string_view form : requests_at_top) {
      INFO(form << " with " << raw);
      CHECK(fault_with(form, raw) == -32600);
    }
  }
  for (const std::string_view raw : {"x"sv, "ids"sv, "Meta"sv, "_meta"sv, "name"sv, "Name"sv,
                                     "JSONRPC"sv, "methods"sv, " id"sv}) {
    for (const std::string_view form : requests_at_top) {
      INFO(form << " with " << raw);
      CHECK(fault_with(form, raw) == 0);
    }
  }
}

TEST_CASE("a member of the params or _meta is judged where the bridge acts on it") {
  struct {
    std::string_view method;
    std::string_view params;
    bool is_invalid;
  } const rows[] = {
      {"tools/call", R"({"name":"a","Name":"b"})", true},
      {"tools/call", R"({"Name":"b"})", true},
      {"tools/call", R"({"name":"a","name\u0000":"b"})", true},
      {"tools/call", R"({"name":"a","ARGUMENTS":{}})", true},
      {"tools/call", "{\"name\":\"a\",\"argument\xC5\xBF\":{}}", true},
      {"tools/call", R"({"name":"a","Task":{}})", true},
      {"Tools/Call", R"({"name":"a","Name":"b"})", true},
      {"prompts/get", R"({"name":"a","NAME":"b"})", true},
      {"resources/read", R"({"uri":"a","URI":"b"})", true},
      {"resources/subscribe", R"({"uri":"a","Uri":"b"})", true},
      {"tasks/cancel", R"({"taskId":"a","taskID":"b"})", true},
      {"tasks/get", "{\"taskId\":\"a\",\"ta\xC5\xBFkId\":\"b\"}", true},
      {"completion/complete", R"({"ref":{},"Ref":{}})", true},
      {"logging/setLevel", R"({"level":"info","Level":"debug"})", true},
      {"tools/list", R"({"Cursor":"b"})", true},
      {"subscriptions/listen", R"({"notifications":{},"Notifications":{}})", true},
      {"vendor/method", R"({"_META":{}})", true},
      {"vendor/method", R"({"_meta\u0000":{}})", true},
      {"vendor/method", R"({"RequestState":"x"})", true},
      {"vendor/method", R"({"_meta":{"ProgressToken":1}})", true},
      {"vendor/method", R"({"_meta":{"progressToken":1,"progressToken\u0000":2}})", true},
      {"vendor/method", R"({"_meta":{"progre\u017fsToken":2}})", true},
      {"vendor/method", R"({"_meta":{"io.modelcontextprotocol/ClientInfo":{}}})", true},
      {"notifications/progress", R"({"progressToken":1,"ProgressToken":2})", true},
      {"notifications/cancelled", R"({"requestId":1,"RequestID":2})", true},
      {"notifications/cancelled", R"({"requestId":1,"requestId\u0000":2})", true},
      {"notifications/resources/updated", R"({"uri":"a","Uri":"b"})", true},
      // Texts that decide.
      {"tools/call", R"({"name":"secret\u0000"})", true},
      {"tools/call", R"({"name":"secret\ud800"})", true},
      {"prompts/get", R"({"name":"a\n"})", true},
      {"resources/read", R"({"uri":"a\u0000b"})", true},
      {"tasks/get", R"({"taskId":"a\u0000"})", true},
      {R"(tools/call\u0000)", R"({"name":"a"})", true},
      {R"(\u0000tools/call)", R"({"name":"a"})", true},
      {R"(vendor/\u0001)", R"({})", true},
      {R"(ping\n)", R"({})", true},
      // What a tool or an extension may have.
      {"tools/call", R"({"name":"a","arguments":{"Name":1,"ID":2,"id":3,"URI":4,"_Meta":{}}})",
       false},
      {"tools/call", R"({"name":"a","arguments":{"name\u0000":1,"a":"\u0000"}})", false},
      {"tools/call", R"({"name":"a","URI":"b","Level":1,"Cursor":2,"x":3})", false},
      {"tools/call", R"({"name":"a","_meta":{"com.example/Name":1,"traceparent":"x","Id":2}})",
       false},
      {"tools/call", "{\"name\":\"\xC3\xA9\xE4\xB8\xAD \\ud83d\\ude00\"}", false},
      {"resources/read", R"({"uri":"file:///a%00b","Name":"x"})", false},
      {"vendor/method", R"({"Name":"a","name":"b\u0000","ID":1,"requestID":2,"ProgressToken":3})",
       false},
      {"initialize", R"({"ProtocolVersion":"x","clientinfo":{}})", false},
      {"notifications/message", R"({"level":"info","data":{"Level":"x","ID":1}})", false},
      {"notifications/progress", R"({"progressToken":1,"RequestId":2,"Name":3})", false},
      {"elicitation/create", R"({"message":"m","requestedSchema":{"properties":{"Name":{}}}})",
       false},
  };
  for (const auto& row : rows) {
    const bool is_notification = row.method.starts_with("notifications/");
    const std::string text =
        fmt::format(R"({{"jsonrpc":"2.0",{}"method":"{}","params":{}}})",
                    is_notification ? "" : "\"id\":1,", row.method, row.params);
    INFO(text);
    CHECK(fault_of(text) == (row.is_invalid ? -32600 : 0));
  }
}

TEST_CASE("what a result has besides is its receiver's") {
  for (const std::string_view result :
       {R"({"Name":1,"ID":2,"_Meta":{},"content":[{"Type":"text"}]})"sv,
        R"({"tools":[{"name":"a","Name":"b"}]})"sv, R"({"x\u0000":1,"resulttypes":2})"sv, "[1]"sv})
    CHECK_MESSAGE(fault_of(fmt::format(R"({{"id":1,"result":{}}})", result)) == 0, result);
  for (const std::string_view result :
       {R"({"resultType":"complete","ResultType":"task"})"sv, R"({"resulttype":"task"})"sv,
        R"({"resultType\u0000":"task"})"sv})
    CHECK_MESSAGE(fault_of(fmt::format(R"({{"id":1,"result":{}}})", result)) == -32600, result);
}
