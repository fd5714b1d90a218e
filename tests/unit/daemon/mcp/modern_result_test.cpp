#include "mcp/input_required.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include "../json/frames.hpp"
#include "mcp/methods.hpp"

using namespace bridge;

namespace {

std::string modern(std::string_view text, std::string_view method, bool answers_urls = true) {
  const std::string made =
      for_modern_client(frame_of(std::string(text)), method, answers_urls).bytes;
  frame_of(made);
  return made;
}

}  // namespace

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
  for (const char* other : {"7", "null", "true", "{}", "[\"complete\"]", "\"\""}) {
    CAPTURE(other);
    CHECK_FALSE(
        is_complete(frame_of(std::string(R"({"id":1,"result":{"resultType":)") + other + "}}")));
  }
  CHECK(is_complete(frame_of(R"({"id":1,"result":{}})")));
  CHECK(is_complete(frame_of(R"({"id":1,"error":{}})")));
  CHECK_FALSE(is_input_required(frame_of(R"({"id":1,"result":{}})")));
}
