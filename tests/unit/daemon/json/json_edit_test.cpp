#include "json/json_edit.hpp"

#include <doctest/doctest.h>

#include <string>

#include "../json/frames.hpp"
#include "frames.hpp"
#include "mcp/request_meta.hpp"

using namespace bridge;

namespace {

constexpr const char* revision =
    R"("io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"a":1})";

/// Checks that what is noted of the frame equals what parsing its bytes gives.
void check_notes(const Frame& frame) {
  CAPTURE(frame.bytes);
  const Frame read = frame_of(frame.bytes);
  const auto same = [&](Slice one, Slice other) {
    CHECK(one.begin == other.begin);
    CHECK(one.end == other.end);
  };
  same(frame.id, read.id);
  same(frame.params, read.params);
  same(frame.result, read.result);
  same(frame.error, read.error);
  same(frame.progress_token, read.progress_token);
  same(frame.name, read.name);
  same(frame.arguments, read.arguments);
  CHECK(frame.meta.present() == read.meta.present());
  if (frame.meta.present()) same(frame.meta, read.meta);
}

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

TEST_CASE("what was noted of a frame is where it stands after an edit") {
  for (
      const char* text : {
          R"({"id":1,"method":"a","params":{"x":1,"_meta":{"progressToken":7}}})",
          R"({"id":1,"method":"a","params":{"_meta":{"progressToken":7},"x":1}})",
          R"({"id":1,"method":"a","params":{"_meta":{"progressToken":7},"arguments":{"a":1},"name":"t"}})",
          R"({"id":1,"method":"a","params":{"_meta":{"progressToken":"t"  }  } })",
          R"({"params":{"_meta":{"progressToken":7}},"method":"a","id":"b"})",
      }) {
    CAPTURE(text);
    RequestIdentity identity;
    identity.client_info = R"({"name":"n"})";
    check_notes(with_request_meta(frame_of(text), identity));
  }
  for (const char* around : {R"({"progressToken":7,REVISION})", R"({REVISION,"progressToken":7})",
                             R"({ REVISION , "progressToken":7 , "z":[]})", R"({REVISION})"}) {
    for (const char* params : {R"({"_meta":META,"x":1})", R"({"x":1,"_meta":META})"}) {
      for (const char* message : {R"({"id":1,"method":"a","params":PARAMS})",
                                  R"({"params":PARAMS,"method":"a","id":1})"}) {
        std::string text = message;
        text.replace(text.find("PARAMS"), 6, params);
        text.replace(text.find("META"), 4, around);
        text.replace(text.find("REVISION"), 8, revision);
        CAPTURE(text);
        const Frame made = without_request_meta(frame_of(text));
        check_notes(made);
        CHECK_FALSE(made.is_modern());
        CHECK_FALSE(made.reserved.client_capabilities.present());
      }
    }
  }
}

TEST_CASE("a value that is replaced is where the new one stands") {
  const Frame frame = frame_of(R"({"id":1,"result":{"a":1},"x":2})");
  Edits edits;
  edits.replace(frame.result, R"({"longer":[1,2,3]})");
  edits.replace(frame.id, "\"one\"");
  const Frame made = edited(frame, edits);
  CHECK(made.text(made.result) == R"({"longer":[1,2,3]})");
  CHECK(made.text(made.id) == "\"one\"");
  CHECK(made.bytes == R"({"id":"one","result":{"longer":[1,2,3]},"x":2})");
}

TEST_CASE("edits are the same made in place and made anew") {
  const std::string text = R"({"a":1,"b":[2],"c":"three"})";
  for (int count = 0; count <= 6; ++count) {
    CAPTURE(count);
    Edits edits;
    if (count > 0) edits.insert(text.size() - 1, R"(,"d":4)");
    if (count > 1) edits.erase({1, 7});
    if (count > 2) edits.replace({11, 14}, "[]");
    if (count > 3) edits.insert(7, R"("z":0,)");
    if (count > 4) edits.replace({19, 26}, "3");
    if (count > 5) edits.insert(7, " ");
    std::string tight = text;
    tight.shrink_to_fit();
    std::string roomy = text;
    roomy.reserve(4 * text.size());
    const char* const bytes = roomy.data();
    edits.make_in(tight);
    edits.make_in(roomy);
    CHECK(tight == edits.made_in(text));
    CHECK(roomy == edits.made_in(text));
    if (count <= 4) CHECK(roomy.data() == bytes);
  }
}

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
