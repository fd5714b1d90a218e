#include <doctest/doctest.h>

#include <string>

#include "frames.hpp"

using bridge::Frame;
using bridge::frame_of;
using bridge::Slice;
using bridge::splice;
using bridge::Splice;

namespace {

const char* const odd_bytes =
    R"(,"n":[1e400,0.10,-0,123456789012345678901234567890] ,"e":"\u00e9\/\"","k":1,"k":2,"deep":[[[]]])";

std::string request(const std::string& id, const std::string& token) {
  return R"({"jsonrpc":"2.0","id": )" + id +
         R"( ,"method":"tools/call","params":{"_meta":{"progressToken": )" + token + " }" +
         odd_bytes + "}}";
}

std::string params_first(const std::string& id, const std::string& token) {
  return R"({"params":{"_meta":{"progressToken":)" + token + "}" + odd_bytes +
         R"(},"method":"a","id":)" + id + "}";
}

}  // namespace

TEST_CASE("only the replaced slices change, whether they grow or shrink, in either order") {
  for (const auto& form : {request, params_first}) {
    for (const char* id : {"0", "\"\"", R"("a\"b")", "123456789012345678901234567890"}) {
      for (const char* token : {"1", "\"a long token indeed\""}) {
        for (const char* replacement : {"1", "42", "1844674407370955161"}) {
          const std::string text = form(id, token);
          Frame frame = frame_of(text);
          CAPTURE(text);
          CAPTURE(replacement);
          const Splice at_id{frame.id, replacement};
          const Splice at_token{frame.progress_token, replacement};

          std::string both = text;
          splice(both, at_id, at_token);
          CHECK(both == form(replacement, replacement));
          std::string swapped = text;
          splice(swapped, at_token, at_id);
          CHECK(swapped == both);
          std::string one = text;
          splice(one, at_id);
          CHECK(one == form(replacement, token));
          std::string other = text;
          splice(other, at_token);
          CHECK(other == form(id, replacement));

          // There and back again.
          const Frame again = frame_of(both);
          splice(both, {again.id, id}, {again.progress_token, token});
          CHECK(both == text);
        }
      }
    }
  }
}

TEST_CASE("a slice that is not there is skipped") {
  std::string text = R"({"id":1,"method":"a"})";
  splice(text, {Slice{}, "x"});
  splice(text, {Slice{}, "x"}, {Slice{}, "y"});
  CHECK(text == R"({"id":1,"method":"a"})");
  splice(text, {Slice{}, "x"}, {Slice{6, 7}, "27"});
  CHECK(text == R"({"id":27,"method":"a"})");
  splice(text, {Slice{6, 8}, "\"\""}, {Slice{}, "x"});
  CHECK(text == R"({"id":"","method":"a"})");
}

TEST_CASE("slices that touch one another are replaced apart") {
  std::string text = "abcd";
  splice(text, {Slice{1, 2}, "123"}, {Slice{2, 3}, "45"});
  CHECK(text == "a12345d");
}
