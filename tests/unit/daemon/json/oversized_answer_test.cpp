#include "json/reply.hpp"

#include <doctest/doctest.h>

using bridge::id_of_oversized_answer;

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
}

TEST_CASE("what is not certainly an answer to a number of ours is none") {
  const char* const beginning = R"({"result":{"text":"xxx)";
  CHECK_FALSE(id_of_oversized_answer(
      R"({"jsonrpc":"2.0","id":17,"method":"sampling/createMessage","params":{"x)", "}}"));
  CHECK_FALSE(id_of_oversized_answer(R"({"method":"x","params":{"result":{"x)", R"(},"id":17})"));
  CHECK_FALSE(id_of_oversized_answer(beginning, R"(xx","id":17}})"));    // a member of the result
  CHECK_FALSE(id_of_oversized_answer(beginning, R"(xx"},"id":"17"})"));  // a text
  CHECK_FALSE(id_of_oversized_answer(beginning, R"(xx"},"id":-17})"));
  CHECK_FALSE(id_of_oversized_answer(beginning, R"(xx"},"aid":17})"));
  CHECK_FALSE(id_of_oversized_answer(beginning, R"(xx"},"id":17,"more":1})"));
  CHECK_FALSE(id_of_oversized_answer(beginning, ""));
  CHECK_FALSE(id_of_oversized_answer("", R"("id":17})"));
  CHECK_FALSE(id_of_oversized_answer("[{\"id\":17,\"result\":\"x", "}]"));
  CHECK_FALSE(id_of_oversized_answer("nonsense", "17}"));
}
