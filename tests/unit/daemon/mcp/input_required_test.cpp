#include "mcp/input_required.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include "../json/frames.hpp"
#include "json/json_text.hpp"
#include "mcp/methods.hpp"
#include "mcp/request_meta.hpp"

using namespace bridge;

namespace {

InputRequired required_by(std::string_view result) {
  return std::get<InputRequired>(read_input_required(result));
}

bool is_refused(std::string_view result) {
  return std::holds_alternative<std::string_view>(read_input_required(result));
}

InputAnswers answers_in(std::string_view params) {
  return std::get<InputAnswers>(read_input_answers(
      frame_of(R"({"id":1,"method":"tools/call","params":)" + std::string(params) + "}")));
}

bool answers_refused(std::string_view params) {
  return std::holds_alternative<std::string_view>(read_input_answers(
      frame_of(R"({"id":1,"method":"tools/call","params":)" + std::string(params) + "}")));
}

std::string many(int count, std::string_view value) {
  std::string map = "{";
  for (int i = 0; i < count; ++i) {
    map += (i > 0 ? ",\"k" : "\"k") + std::to_string(i) + "\":" + std::string(value);
  }
  return map + "}";
}

std::uint64_t digest(std::string_view method, std::string_view params) {
  return request_digest(frame_of(R"({"id":1,"method":")" + std::string(method) + R"(","params":)" +
                                 std::string(params) + "}"));
}

std::string modern(std::string_view text, std::string_view method, bool answers_urls = true) {
  const std::string made =
      for_modern_client(frame_of(std::string(text)), method, answers_urls).bytes;
  frame_of(made);
  return made;
}

}  // namespace

TEST_CASE("a server's questions are read, and each becomes a request to the client") {
  const InputRequired required = required_by(
      R"({"resultType":"input_required","inputRequests":{"a\"b":{"method":"elicitation/create","params":{"message": "m"}},"r":{"method":"roots/list"}},"requestState":"\u0041\/=="})");
  CHECK(required.request_state == R"("\u0041\/==")");
  REQUIRE(required.requests.size() == 2);
  CHECK(required.requests[0].key == R"("a\"b")");
  CHECK(input_request_line(required.requests[0], "7") ==
        R"({"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":{"message": "m"}})");
  CHECK(input_request_line(required.requests[1], "\"x\"") ==
        R"({"jsonrpc":"2.0","id":"x","method":"roots/list"})");
  CHECK(required_by(R"({"requestState":"s"})").requests.empty());
  CHECK(required_by(R"({"inputRequests":{}})").request_state.empty());
}

TEST_CASE("what is no result of that kind is refused, and bounded") {
  for (const char* result :
       {"", "null", "[]", "{}", R"({"requestState":1})",
        R"({"requestState":null,"inputRequests":{}})", R"({"inputRequests":[]})",
        R"({"inputRequests":{"a":1}})", R"({"inputRequests":{"a":{}}})",
        R"({"inputRequests":{"a":{"method":"tools/call"}}})",
        R"({"inputRequests":{"a":{"method":"roots/list","params":[]}}})",
        R"({"inputRequests":{"a":{"method":"roots/list"},"\u0061":{"method":"roots/list"}}})",
        R"({"inputRequests":{},"inputRequests":{}})",
        R"({"requestState":"a","request\u0053tate":"b"})"})
    CHECK_MESSAGE(is_refused(result), result);
  CHECK_FALSE(is_refused(R"({"inputRequests":)" + many(64, R"({"method":"roots/list"})") + "}"));
  CHECK(is_refused(R"({"inputRequests":)" + many(65, R"({"method":"roots/list"})") + "}"));
}

TEST_CASE("a retry is the request once more, with what was answered and the state byte for byte") {
  const Frame original = frame_of(
      R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"n", "arguments":{"x":1e400}} })");
  CHECK(
      retry_request(original, "9", {{R"("a\"b")", R"({"action":"accept"})"}, {"\"r\"", "{}"}},
                    R"("\u0041\/==")") ==
      R"({"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"n", "arguments":{"x":1e400},"inputResponses":{"a\"b":{"action":"accept"},"r":{}},"requestState":"\u0041\/=="} })");
  CHECK(
      retry_request(original, "9", {}, "\"s\"") ==
      R"({"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"n", "arguments":{"x":1e400},"requestState":"s"} })");
  const Frame second = frame_of(retry_request(original, "9", {{"\"a\"", "{}"}}, "\"s\""));
  CHECK(
      retry_request(second, "10", {{"\"b\"", "{}"}}, "") ==
      R"({"jsonrpc":"2.0","id":10,"method":"tools/call","params":{"name":"n", "arguments":{"x":1e400},"inputResponses":{"b":{}}} })");
  CHECK(retry_request(frame_of(R"({"id":1,"method":"a"})"), "2", {}, "\"s\"") ==
        R"({"id":2,"method":"a","params":{"requestState":"s"}})");
  CHECK(retry_request(frame_of(R"({"params":{},"method":"a","id":"x"})"), "2", {}, "\"s\"") ==
        R"({"params":{"requestState":"s"},"method":"a","id":2})");
  CHECK(retry_request(frame_of(R"({"id":1,"method":"a","params":{}})"), "2", {}, "") ==
        R"({"id":2,"method":"a","params":{}})");
  CHECK(
      without_input_answers(second) ==
      R"({"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"n", "arguments":{"x":1e400}} })");
}

TEST_CASE("a legacy server's question becomes a result that can be read again") {
  const std::string result = input_required_result(
      {{"\"q1\"", "elicitation/create", R"({"message":"m"})"}, {"\"q2\"", "roots/list", ""}},
      "s\"1");
  CHECK(
      result ==
      R"({"resultType":"input_required","inputRequests":{"q1":{"method":"elicitation/create","params":{"message":"m"}},"q2":{"method":"roots/list"}},"requestState":"s\"1"})");
  CHECK(required_by(result).requests.size() == 2);
  CHECK(required_by(result).request_state == R"("s\"1")");
}

TEST_CASE("what a retry brings is read, whatever a client sends") {
  const InputAnswers answers = answers_in(
      R"({"name":"n","inputResponses":{"q\u0031":{"action":"accept"}},"requestState":"s\n"})");
  CHECK(answers.has_state);
  CHECK(answers.request_state == "s\n");
  REQUIRE(answers.responses.size() == 1);
  CHECK(same_id(answers.responses[0].key, "\"q1\""));
  CHECK(answers.responses[0].result == R"({"action":"accept"})");
  CHECK_FALSE(answers_in("{}").has_state);
  CHECK_FALSE(answers_in("[]").has_state);
  CHECK(answers_in(R"({"requestState":""})").has_state);
  CHECK(answers_in(R"({"inputResponses":)" + many(64, "{}") + "}").responses.size() == 64);
  for (const std::string& params :
       {std::string(R"({"requestState":1})"), std::string(R"({"inputResponses":[]})"),
        std::string(R"({"inputResponses":{"a":1}})"),
        std::string(R"({"inputResponses":{"a":{},"\u0061":{}}})"),
        std::string(R"({"requestState":"a","requestState":"b"})"),
        R"({"inputResponses":)" + many(65, "{}") + "}"})
    CHECK_MESSAGE(answers_refused(params), params);
}

TEST_CASE("a request's digest is that of its values") {
  const std::uint64_t one = digest("tools/call", R"({"name":"n","arguments":{"a":[1,2],"b":"x"}})");
  for (
      const char* same :
      {R"({ "arguments" : {"b":"\u0078","a":[1.0,2e0]},"name":"n" })",
       R"({"name":"n","_meta":{"progressToken":5},"arguments":{"a":[1,2],"b":"x"}})",
       R"({"name":"n","inputResponses":{"a":{}},"arguments":{"a":[1,2],"b":"x"},"requestState":"s"})"})
    CHECK_MESSAGE(digest("tools/call", same) == one, same);
  for (const char* other : {R"({"name":"m","arguments":{"a":[1,2],"b":"x"}})",
                            R"({"name":"n","arguments":{"a":[2,1],"b":"x"}})",
                            R"({"name":"n","arguments":{"a":[1,2],"b":"y"}})",
                            R"({"name":"n","arguments":{"b":[1,2],"a":"x"}})",
                            R"({"name":"n","arguments":{"a":[1,2]}})", R"({"name":"n"})", "{}",
                            "[]", R"({"name":"n","arguments":{"a":["1",2],"b":"x"}})",
                            R"({"name":"n","arguments":{"a":[1,[2]],"b":"x"}})",
                            R"({"name":"n","arguments":{"a":[1,2],"b":"x","c":null}})"})
    CHECK_MESSAGE(digest("tools/call", other) != one, other);
  CHECK(digest("prompts/get", R"({"name":"n","arguments":{"a":[1,2],"b":"x"}})") != one);
  CHECK(digest("a", R"({"x":{}})") != digest("a", R"({"x":[]})"));
  CHECK(digest("a", R"({"x":-0})") == digest("a", R"({"x":0})"));
  CHECK(digest("a", R"({"x":1e400})") != digest("a", R"({"x":1e401})"));
  // The same in every process: another one may be given the state.
  CHECK(digest("a", "{}") == digest("a", "{ }"));
}

TEST_CASE("a request nested as deep as a frame may be has a digest") {
  std::string deep(1020, '[');
  deep += std::string(1020, ']');
  CHECK(digest("a", R"({"x":)" + deep + "}") != digest("a", R"({"x":[]})"));
}

TEST_CASE("a result says that it is complete, and a list that it is not to be kept") {
  struct Row {
    const char *method, *before, *after;
  };
  const Row rows[] = {
      {"tools/call", R"({"id":1,"result":{"content":[]}})",
       R"({"id":1,"result":{"content":[],"resultType":"complete"}})"},
      {"ping", R"({"result":{ },"id":1})", R"({"result":{ "resultType":"complete"},"id":1})"},
      {"tools/call", R"({"id":1,"result":{"resultType":"task"}})",
       R"({"id":1,"result":{"resultType":"task"}})"},
      {"tools/list", R"({"id":1,"result":{"tools":[]}})",
       R"({"id":1,"result":{"tools":[],"resultType":"complete","ttlMs":0,"cacheScope":"private"}})"},
      {"resources/read", R"({"id":1,"result":{"contents":[],"ttl\u004ds":5}})",
       R"({"id":1,"result":{"contents":[],"ttl\u004ds":5,"resultType":"complete","cacheScope":"private"}})"},
      {"server/discover", R"({"id":1,"result":{"resultType":"complete","cacheScope":"public"}})",
       R"({"id":1,"result":{"resultType":"complete","cacheScope":"public","ttlMs":0}})"},
      {"tools/list",
       R"({"id":1,"result":{"resultType":"complete","ttlMs":1,"cacheScope":"public"}})",
       R"({"id":1,"result":{"resultType":"complete","ttlMs":1,"cacheScope":"public"}})"},
      {"tools/call", R"({"id":1,"result":{"resultType":null,"a":1}})",
       R"({"id":1,"result":{"resultType":"complete","a":1}})"},
      {"tools/call", R"({"id":1,"result":null})", R"({"id":1,"result":null})"},
      {"tools/call", R"({"id":1,"result":[{}]})", R"({"id":1,"result":[{}]})"},
  };
  for (const Row& row : rows) CHECK(modern(row.before, row.method) == row.after);
  for (const char* method : {"tools/list", "prompts/list", "resources/list",
                             "resources/templates/list", "resources/read", "server/discover"}) {
    CHECK(is_cacheable(method));
  }
  for (const char* method :
       {"tools/call", "prompts/get", "completion/complete", "tasks/list", ""}) {
    CHECK_FALSE(is_cacheable(method));
  }
}

TEST_CASE("a code that the revision forbids becomes the one that took its place") {
  CHECK(modern(R"({"id":1,"error":{"code": -32002 ,"message":"m","data":{"code":-32002}}})",
               "resources/read") ==
        R"({"id":1,"error":{"code": -32602 ,"message":"m","data":{"code":-32002}}})");
  for (const char* error :
       {R"({"code":-32601,"message":"-32002"})", R"({"code":-32000,"data":{"code":-32042}})",
        R"({"code":"-32002"})", R"({})", "[]", "null", R"({"code":-32002.0})"}) {
    const std::string text = R"({"id":1,"error":)" + std::string(error) + "}";
    CHECK(modern(text, "resources/read") == text);
  }
}

TEST_CASE("a demand to visit pages becomes questions inside a result") {
  const std::string demand =
      R"({"id":"i","error":{"code":-32042,"message":"m","data":{"elicitations":[{"mode":"url","url":"https://a","message":"x","elicitationId":"e"},{"url":"https://b","message":"y"}]}}})";
  CHECK(
      modern(demand, "tools/call") ==
      R"({"jsonrpc":"2.0","id":"i","result":{"resultType":"input_required","inputRequests":{"url-1":{"method":"elicitation/create","params":{"mode":"url","url":"https://a","message":"x","elicitationId":"e"}},"url-2":{"method":"elicitation/create","params":{"url":"https://b","message":"y","mode":"url"}}}}})");
  const Frame refused = frame_of(modern(demand, "tools/call", false));
  CHECK(refused.text(refused.error).find(R"("code":-32021)") != std::string::npos);
  CHECK(refused.text(refused.error)
            .ends_with(R"("data":{"requiredCapabilities":{"elicitation":{"url":{}}}}})"));
  // Not where questions are not allowed, nor if it contains none.
  std::string failed = demand;
  failed.replace(failed.find("-32042"), 6, "-32603");
  CHECK(modern(demand, "tools/list") == failed);
  std::string many = "[";
  for (int i = 0; i < 65; ++i) many += std::string(i > 0 ? "," : "") + R"({"url":"u"})";
  for (const std::string& elicitations :
       {std::string("[]"), std::string("{}"), std::string("[1]"), std::string("[{}]"),
        std::string(R"([{"url":1}])"), std::string(R"([{"url":"u"},null])"), many + "]"}) {
    CAPTURE(elicitations);
    const std::string text =
        R"({"id":1,"error":{"code":-32042,"data":{"elicitations":)" + elicitations + "}}}";
    CHECK(modern(text, "tools/call").starts_with(R"({"id":1,"error":{"code":-32603,)"));
  }
  // An error about no particular request cannot become a result.
  std::string about_none = demand;
  about_none.replace(about_none.find("\"i\""), 3, "null");
  CHECK(modern(about_none, "tools/call").find("-32603") != std::string::npos);
  CHECK(modern(R"({"id":1,"error":{"code":-32042}})", "tools/call") ==
        R"({"id":1,"error":{"code":-32603}})");
}

TEST_CASE("the kind of a result is known by its type") {
  CHECK(is_input_required(frame_of(R"({"id":1,"result":{"resultType":"input_required"}})")));
  CHECK(is_input_required(frame_of(R"({"id":1,"result":{"resultType":"input\u005frequired"}})")));
  CHECK_FALSE(is_complete(frame_of(R"({"id":1,"result":{"resultType":"task"}})")));
  CHECK_FALSE(is_complete(frame_of(R"({"id":1,"result":{"resultType":"later"}})")));
  CHECK(is_complete(frame_of(R"({"id":1,"result":{"resultType":"c\u006fmplete"}})")));
  for (const char* other : {"7", "null", "true", "{}", "[\"complete\"]", "\"\""})
    CHECK_FALSE_MESSAGE(
        is_complete(frame_of(std::string(R"({"id":1,"result":{"resultType":)") + other + "}}")),
        other);
  CHECK(is_complete(frame_of(R"({"id":1,"result":{}})")));
  CHECK(is_complete(frame_of(R"({"id":1,"error":{}})")));
  CHECK_FALSE(is_input_required(frame_of(R"({"id":1,"result":{}})")));
}
