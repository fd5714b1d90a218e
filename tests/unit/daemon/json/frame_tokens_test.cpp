#include <doctest/doctest.h>

#include <string>

#include "frames.hpp"

using bridge::Frame;
using bridge::frame_of;

TEST_CASE("a request's progress token stands in its _meta") {
  for (const char* token : {"0", "\"\"", "\"t\"", "-1.5e3", R"("a\"\u0062")"}) {
    CAPTURE(token);
    const Frame frame =
        frame_of(R"({"id":1,"method":"a","params":{"x":[],"_meta":{"y":{},"progressToken": )" +
                 std::string(token) + R"( }}})");
    CHECK(frame.text(frame.progress_token) == token);
  }
}

TEST_CASE("a progress token that is no string and no number is left alone") {
  for (const char* token : {"null", "true", "{}", "[1]"}) {
    CAPTURE(token);
    CHECK_FALSE(frame_of(R"({"id":1,"method":"a","params":{"_meta":{"progressToken":)" +
                         std::string(token) + "}}}")
                    .progress_token.present());
  }
}

TEST_CASE("a progress token is found only where it belongs") {
  for (
      const char* text : {
          R"({"id":1,"method":"a","params":{"progressToken":1}})",
          R"({"id":1,"method":"a","params":{"arguments":{"_meta":{"progressToken":1}}}})",
          R"({"id":1,"method":"a","params":{"_meta":{"_meta":{"progressToken":1}}}})",
          R"({"id":1,"method":"a","params":[{"_meta":{"progressToken":1}}]})",
          R"({"id":1,"method":"a","params":{"_meta":[{"progressToken":1}]}})",
          R"({"id":1,"method":"a","_meta":{"progressToken":1}})",
          R"({"id":1,"result":{"_meta":{"progressToken":1}}})",
          R"({"method":"notifications/message","params":{"_meta":{"progressToken":1},"progressToken":2}})",
      }) {
    CAPTURE(text);
    CHECK_FALSE(frame_of(text).progress_token.present());
  }
}

TEST_CASE("progress names its token in the params") {
  const Frame frame = frame_of(
      R"({"method":"notifications/progress","params":{"_meta":{"progressToken":1},"progress":1,"progressToken":"t"}})");
  CHECK(frame.text(frame.progress_token) == "\"t\"");
  CHECK_FALSE(frame_of(R"({"method":"notifications/progress","params":{"progressToken":null}})")
                  .progress_token.present());
}

TEST_CASE("cancelled names its request in the params") {
  const Frame frame =
      frame_of(R"({"method":"notifications/cancelled","params":{"reason":"x","requestId":1e400}})");
  CHECK(frame.text(frame.request_id) == "1e400");
  CHECK_FALSE(frame_of(R"({"method":"notifications/cancelled","params":{"requestId":null}})")
                  .request_id.present());
  CHECK_FALSE(
      frame_of(R"({"method":"notifications/cancelled","params":[1]})").request_id.present());
  CHECK_FALSE(frame_of(R"({"method":"notifications/cancelled"})").request_id.present());
  CHECK_FALSE(frame_of(R"({"method":"notifications/other","params":{"requestId":1}})")
                  .request_id.present());
  CHECK_FALSE(frame_of(R"({"id":1,"method":"notifications/cancelled","params":{"requestId":1}})")
                  .request_id.present());
}

TEST_CASE("tokens are found under escaped names") {
  const Frame request =
      frame_of(R"({"id":1,"method":"a","\u0070arams":{"\u005fmeta":{"progress\u0054oken":"t"}}})");
  CHECK(request.text(request.progress_token) == "\"t\"");
  const Frame cancelled =
      frame_of(R"({"method":"notifications\/cancelled","params":{"request\u0049d":3}})");
  CHECK(cancelled.text(cancelled.request_id) == "3");
}
