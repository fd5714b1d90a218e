// BEHAVIOUR, "Errors: codes" and "Errors: the bridge's own errors".
#include "json/reply.hpp"

#include <doctest/doctest.h>
#include <simdjson.h>

#include <set>
#include <string>
#include <string_view>

using namespace bridge;
using namespace std::chrono_literals;

namespace {

/// A reply, read by another parser.
class Read {
 public:
  explicit Read(const std::string& reply) {
    REQUIRE(parser_.parse(reply).get(root_) == simdjson::SUCCESS);
    CHECK(text("/jsonrpc") == "2.0");
    CHECK(reply.find('\n') == reply.npos);
  }
  std::string text(const char* path) {
    std::string_view value;
    REQUIRE(root_.at_pointer(path).get(value) == simdjson::SUCCESS);
    return std::string(value);
  }
  std::int64_t number(const char* path) {
    std::int64_t value = 0;
    REQUIRE(root_.at_pointer(path).get(value) == simdjson::SUCCESS);
    return value;
  }
  bool has(const char* path) { return root_.at_pointer(path).error() == simdjson::SUCCESS; }

 private:
  simdjson::dom::parser parser_;
  simdjson::dom::element root_;
};

}  // namespace

TEST_CASE("an error of the bridge names its code and says why") {
  Read reply(error_reply("null", -32700, "Parse error: a \"quote\"\nand a line"));
  CHECK(reply.number("/error/code") == -32700);
  CHECK(reply.text("/error/message") == "Parse error: a \"quote\"\nand a line");
  CHECK(reply.has("/id"));
  CHECK_FALSE(reply.has("/error/data"));
}

TEST_CASE("the id in a reply is the asker's, byte for byte") {
  for (const char* id :
       {"0", "\"\"", "-1", "1.5", R"("a\"b")", "123456789012345678901234567890", "1e400", "null"}) {
    const std::string begin = R"({"jsonrpc":"2.0","id":)" + std::string(id) + ",";
    CHECK(error_reply(id, -32600, "m").starts_with(begin));
    CHECK(error_reply(id, Failure{}).starts_with(begin));
    CHECK(result_reply(id, "{}").starts_with(begin));
  }
}

TEST_CASE("a failure says that it is the bridge's, of what kind, and whether it was delivered") {
  Failure failure;
  failure.kind = ErrorKind::timeout;
  failure.delivered = Delivered::unknown;
  failure.message = "nothing came";
  Read reply(error_reply("1", failure));
  CHECK(reply.number("/error/code") == -32000);
  CHECK(reply.text("/error/message") == "nothing came");
  CHECK(reply.text("/error/data/source") == "bridge");
  CHECK(reply.text("/error/data/kind") == "timeout");
  CHECK(reply.text("/error/data/delivered") == "unknown");
  for (const char* absent : {"/error/data/status", "/error/data/retryAfterMs",
                             "/error/data/wwwAuthenticate", "/error/data/mcpAuthServer"})
    CHECK_FALSE_MESSAGE(reply.has(absent), absent);
  failure.delivered = Delivered::no;
  CHECK(Read(error_reply("1", failure)).text("/error/data/delivered") == "no");
}

TEST_CASE("a failure with a status has a code of its own and its hints") {
  Failure failure;
  failure.kind = ErrorKind::auth;
  failure.status = 401;
  failure.retry_after = 1500ms;
  failure.www_authenticate = R"(Bearer realm="a", error="invalid_token")";
  failure.authorization_server = "https://auth.example";
  Read reply(error_reply("1", failure));
  CHECK(reply.number("/error/code") == -32001);
  CHECK(reply.number("/error/data/status") == 401);
  CHECK(reply.number("/error/data/retryAfterMs") == 1500);
  CHECK(reply.text("/error/data/wwwAuthenticate") == R"(Bearer realm="a", error="invalid_token")");
  CHECK(reply.text("/error/data/mcpAuthServer") == "https://auth.example");
}

TEST_CASE("the upstream's own error object is the answer, byte for byte") {
  Failure failure;
  failure.status = 400;
  failure.error_object = R"({"code": -32602 ,"message":"\u00e9","data":1e400})";
  CHECK(error_reply("\"x\"", failure) ==
        R"({"jsonrpc":"2.0","id":"x","error":)" + failure.error_object + "}");
}

TEST_CASE("a result is passed on byte for byte") {
  CHECK(result_reply("1", R"({"a": 0.10})") == R"({"jsonrpc":"2.0","id":1,"result":{"a": 0.10}})");
}

TEST_CASE("the log is told nothing of what the upstream said") {
  Failure failure = failure_of(ErrorKind::http, Delivered::unknown, "HTTP 500: the body");
  CHECK(log_text(failure) == "HTTP 500: the body");
  failure.summary = "HTTP 500";
  CHECK(log_text(failure) == "HTTP 500");
  failure.error_object = R"({"message":"the body","code":-32603})";
  CHECK(log_text(failure) == "an error of the upstream's own, code -32603");
  failure.error_object = R"({"message":"the body"})";
  CHECK(log_text(failure) == "an error of the upstream's own, code missing");
}

TEST_CASE("an id before the result is seen at the beginning") {
  CHECK(id_of_oversized_answer(R"({"jsonrpc":"2.0","id":17,"result":{"content":[{"te)",
                               "xxxx\"}]}}") == 17);
  CHECK(id_of_oversized_answer(R"( { "id" : 17 , "error" : {"mess)", "}}") == 17);
}

TEST_CASE("an id behind the result is seen at the end") {
  const char* const beginning = R"({"result":{"content":[{"type":"text","text":"xxx)";
  CHECK(id_of_oversized_answer(beginning, R"(xx"}]},"jsonrpc":"2.0","id":17})") == 17);
  CHECK(id_of_oversized_answer(beginning, R"(xx"}]},"id":17,"jsonrpc":"2.0"})") == 17);
  CHECK(id_of_oversized_answer(beginning, "xx\"}]} , \"id\" : 17 } \r") == 17);
  CHECK(id_of_oversized_answer(R"({"jsonrpc":"2.0","result":{"x)", R"(xx"},"id":17})") == 17);
  CHECK(id_of_oversized_answer(beginning, R"(xx"},"id":"17"})") == 17);
  CHECK(id_of_oversized_answer(R"({"id":17.0,"result":{"x)", "}}") == 17);
}

TEST_CASE("what is not certainly an answer to a number of ours is none") {
  const char* const beginning = R"({"result":{"text":"xxx)";
  CHECK_FALSE(id_of_oversized_answer(
      R"({"jsonrpc":"2.0","id":17,"method":"sampling/createMessage","params":{"x)", "}}"));
  CHECK_FALSE(id_of_oversized_answer(R"({"method":"x","params":{"result":{"x)", R"(},"id":17})"));
  CHECK_FALSE(id_of_oversized_answer(beginning, R"(xx","id":17}})"));  // a member of the result
  CHECK_FALSE(id_of_oversized_answer(beginning, R"(xx"},"id":"a17"})"));
  CHECK_FALSE(id_of_oversized_answer(beginning, R"(xx"},"id":17"})"));
  CHECK_FALSE(id_of_oversized_answer(beginning, R"(xx"},"id":-17})"));
  CHECK_FALSE(id_of_oversized_answer(beginning, R"(xx"},"aid":17})"));
  CHECK_FALSE(id_of_oversized_answer(beginning, R"(xx"},"id":17,"more":1})"));
  CHECK_FALSE(id_of_oversized_answer(beginning, ""));
  CHECK_FALSE(id_of_oversized_answer("", R"("id":17})"));
  CHECK_FALSE(id_of_oversized_answer("[{\"id\":17,\"result\":\"x", "}]"));
  CHECK_FALSE(id_of_oversized_answer("nonsense", "17}"));
}
