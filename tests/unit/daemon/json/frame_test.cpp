#include "json/frame.hpp"

#include <doctest/doctest.h>

#include <string>

#include "frames.hpp"
#include "json_texts.hpp"

using bridge::fault_of;
using bridge::Frame;
using bridge::frame_of;
using bridge::FrameFault;
using bridge::FrameKind;
using bridge::parse_frame;

namespace {

/// A message that is `levels` deep.
std::string in_params(std::size_t levels) {
  return R"({"id":1,"method":"a","params":{"x":)" + std::string(levels - 2, '[') +
         std::string(levels - 2, ']') + "}}";
}

std::string in_result(std::size_t levels) {
  std::string text = R"({"id":1,"result":)";
  for (std::size_t level = 1; level < levels; ++level) text += R"({"a":)";
  return text + '0' + std::string(levels, '}');
}

std::string in_meta(std::size_t levels) {
  return R"({"id":1,"method":"a","params":{"_meta":{"x":)" + std::string(levels - 3, '[') +
         std::string(levels - 3, ']') + "}}}";
}

}  // namespace

TEST_CASE("a request has a method and an id") {
  const Frame frame =
      frame_of(R"( {"jsonrpc":"2.0", "id" : 7 ,"method":"tools/call","params":{"name":"x"}} )");
  CHECK(frame.kind == FrameKind::request);
  CHECK(frame.is_request());
  CHECK(frame.method == "tools/call");
  CHECK(frame.text(frame.id) == "7");
  CHECK(frame.text(frame.params) == R"({"name":"x"})");
  CHECK_FALSE(frame.result.present());
  CHECK_FALSE(frame.error.present());
}

TEST_CASE("what a request is about stands where its params say it") {
  const auto about = [](std::string text) {
    const Frame frame = frame_of(std::move(text));
    return std::string(frame.text(frame.name)) + ' ' + std::string(frame.text(frame.arguments));
  };
  CHECK(about(R"({"id":1,"method":"a","params":{"name":"t","arguments":{"name":"x"}}})") ==
        R"("t" {"name":"x"})");
  CHECK(about(R"({"id":1,"method":"a","params":{"n\u0061me":1,"name":"u"}})") == R"("u" )");
  CHECK(about(R"({"id":1,"method":"a","name":"t","params":{"a":{"name":"x"}}})") == " ");
  CHECK(about(R"({"id":1,"result":{"name":"t"},"params":{"name":"t"}})") == " ");
}

TEST_CASE("a notification has a method and no id") {
  const Frame frame = frame_of(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
  CHECK(frame.is_notification());
  CHECK_FALSE(frame.id.present());
  CHECK_FALSE(frame.params.present());
}

TEST_CASE("a response has an id and a result or an error") {
  const Frame result = frame_of(R"({"jsonrpc":"2.0","id":"a","result":null})");
  CHECK(result.is_response());
  CHECK(result.text(result.id) == R"("a")");
  CHECK(result.text(result.result) == "null");
  const Frame error = frame_of(R"({"jsonrpc":"2.0","error":{"code":1,"message":"m"},"id":1})");
  CHECK(error.is_response());
  CHECK(error.text(error.error) == R"({"code":1,"message":"m"})");
  CHECK(error.method.empty());
}

TEST_CASE("an id is a string or a number of any form, kept byte for byte") {
  for (const char* id :
       {"0", "\"\"", "-1", "1.5", R"("a\"b")", "123456789012345678901234567890", "1e400", "-0",
        R"("\u0069\ud83d\ude00")", "\"null\"", R"("\ud800")", "\"\xC3\xA9\""}) {
    CAPTURE(id);
    const Frame request =
        frame_of(R"({"jsonrpc":"2.0","id":)" + std::string(id) + R"(,"method":"ping"})");
    CHECK(request.is_request());
    CHECK(request.text(request.id) == id);
    const Frame response =
        frame_of(R"({"jsonrpc":"2.0","result":{},"id":)" + std::string(id) + "}");
    CHECK(response.is_response());
    CHECK(response.text(response.id) == id);
    CHECK_FALSE(response.id_is_null);
  }
}

TEST_CASE("any other id is refused") {
  for (const char* id : {"null", "true", "false", "{}", "[]", "[1]"}) {
    CAPTURE(id);
    CHECK(fault_of(R"({"jsonrpc":"2.0","method":"ping","id":)" + std::string(id) + "}") == -32600);
    CHECK(fault_of(R"({"jsonrpc":"2.0","result":{},"id":)" + std::string(id) + "}") == -32600);
  }
}

TEST_CASE("an error may answer nothing: a null id, which only an upstream may send") {
  const Frame frame =
      frame_of(R"({"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}})");
  CHECK(frame.is_response());
  CHECK(frame.id_is_null);
}

TEST_CASE("what is none of the three kinds is invalid") {
  for (const char* text : {
           R"({"jsonrpc":"2.0","id":1,"method":"a","result":{}})",
           R"({"jsonrpc":"2.0","id":1,"method":"a","error":{}})",
           R"({"jsonrpc":"2.0","method":"a","result":{}})",
           R"({"jsonrpc":"2.0","id":1,"result":{},"error":{}})",
           R"({"jsonrpc":"2.0","id":1,"result":null,"error":null})",
           R"({"jsonrpc":"2.0","id":1})",
           R"({"jsonrpc":"2.0","result":{}})",
           R"({"jsonrpc":"2.0","error":{}})",
           R"({"jsonrpc":"2.0","id":1,"method":7})",
           R"({"jsonrpc":"2.0","id":1,"method":null})",
           R"({"jsonrpc":"2.0","id":1,"method":["a"]})",
           R"({"jsonrpc":"2.0","method":{}})",
           R"({"jsonrpc":"2.0"})",
           "{}",
       })
    CHECK_MESSAGE(fault_of(text) == -32600, text);
}

TEST_CASE("a missing or strange jsonrpc is tolerated") {
  CHECK(frame_of(R"({"id":1,"method":"ping"})").is_request());
  CHECK(frame_of(R"({"jsonrpc":"1.0","method":"ping"})").is_notification());
  CHECK(frame_of(R"({"jsonrpc":2,"id":1,"result":{}})").is_response());
}

TEST_CASE("JSON that is no object is invalid, what is no JSON is a parse error") {
  for (const std::string& text : bridge::good_json) CHECK_MESSAGE(fault_of(text) == -32600, text);
  for (const auto* texts : {&bridge::bad_json, &bridge::json_of_no_utf8}) {
    for (const std::string& text : *texts) CHECK_MESSAGE(fault_of(text) == -32700, text);
  }
  CHECK(fault_of(R"({"id":1,"method":"a"} {"id":2,"method":"a"})") == -32700);
}

TEST_CASE("the grammar is checked everywhere, also where the bridge does not look") {
  for (const std::string& value : bridge::bad_json) {
    CAPTURE(value);
    CHECK(fault_of(R"({"id":1,"method":"a","x":)" + value + "}") == -32700);
    CHECK(fault_of(R"({"id":1,"method":"a","params":{"x":)" + value + "}}") == -32700);
    CHECK(fault_of(R"({"id":1,"method":"a","params":{"_meta":{"x":)" + value + "}}}") == -32700);
    CHECK(fault_of(R"({"id":1,"result":{"x":)" + value + "}}") == -32700);
  }
}

TEST_CASE("only UTF-8 is read") {
  CHECK(fault_of("{\"id\":1,\"method\":\"\xC3\xA9\xF0\x9F\x98\x80\"}") == 0);
  CHECK(fault_of("{\"id\":1,\"method\":\"\xC3\"}") == -32700);
  CHECK(fault_of(std::string_view("{\"id\":1,\"method\":\"a\"}\0", 23)) == -32700);
}

TEST_CASE("names, tokens and the method are read after unescaping") {
  const Frame frame = frame_of(
      R"({"\u0069d":5,"m\u0065thod":"p\u0069ng","par\u0061ms":{"\u005fmeta":{"progress\u0054oken":"t"}}})");
  CHECK(frame.is_request());
  CHECK(frame.text(frame.id) == "5");
  CHECK(frame.method == "ping");
  CHECK(frame.text(frame.progress_token) == "\"t\"");
  const Frame cancelled =
      frame_of(R"({"method":"notifications\/cancelled","params":{"request\u0049d":3}})");
  CHECK(cancelled.text(cancelled.request_id) == "3");
  CHECK(frame_of(R"({"i\u0064":5,"\u0072esult":{}})").is_response());
  CHECK(fault_of(R"({"i\u0064":5,"\u0072esult":{},"err\u006fr":{}})") == -32600);
}

TEST_CASE("reading never changes a byte") {
  for (
      const char* text :
      {R"( {"b":0.10,"a":1e400,"method":"x","params":{"k":1,"k":2,"u":"\u00e9\/"}, "id" :"\u0031" , "z":[ ] } )",
       R"({"id":1,"result":{"result":{"id":2,"id":3},"n":123456789012345678901234567890}})"}) {
    CHECK(frame_of(text).bytes == text);
  }
}

TEST_CASE("what is kept of a request while it is in flight is not longer than 4096 bytes") {
  const auto text = [](std::string_view form, std::size_t bytes) {
    return fmt::format(fmt::runtime(form), '"' + std::string(bytes - 2, 'x') + '"');
  };
  for (const char* form :
       {R"({{"id":{},"method":"a"}})", R"({{"id":1,"method":{}}})", R"({{"method":{}}})",
        R"({{"id":1,"method":"a","params":{{"_meta":{{"progressToken":{}}}}}}})"}) {
    CAPTURE(form);
    CHECK(fault_of(text(form, bridge::longest_name)) == 0);
    CHECK(fault_of(text(form, bridge::longest_name + 1)) == -32600);
  }
}

TEST_CASE("a frame as long as the limit is read like a short one") {
  const std::string text =
      R"({"id":1,"method":"a","params":{"x":")" + std::string(8u << 20, 'y') + "\"}}";
  const Frame frame = frame_of(text);
  CHECK(frame.params.end == text.size() - 1);
  CHECK(frame.bytes == text);
}

TEST_CASE("a request's progress token stands in its _meta") {
  for (const char* token : {"0", "\"\"", "\"t\"", "-1.5e3", R"("a\"\u0062")"}) {
    CAPTURE(token);
    const Frame frame =
        frame_of(R"({"id":1,"method":"a","params":{"x":[],"_meta":{"y":{},"progressToken": )" +
                 std::string(token) + R"( }}})");
    CHECK(frame.text(frame.progress_token) == token);
  }
}

TEST_CASE("a progress token is found only where it belongs, and only as a string or a number") {
  for (
      const char* text : {
          R"({"id":1,"method":"a","params":{"_meta":{"progressToken":null}}})",
          R"({"id":1,"method":"a","params":{"_meta":{"progressToken":[1]}}})",
          R"({"id":1,"method":"a","params":{"progressToken":1}})",
          R"({"id":1,"method":"a","params":{"arguments":{"_meta":{"progressToken":1}}}})",
          R"({"id":1,"method":"a","params":{"_meta":{"_meta":{"progressToken":1}}}})",
          R"({"id":1,"method":"a","params":[{"_meta":{"progressToken":1}}]})",
          R"({"id":1,"method":"a","params":{"_meta":[{"progressToken":1}]}})",
          R"({"id":1,"method":"a","_meta":{"progressToken":1}})",
          R"({"id":1,"result":{"_meta":{"progressToken":1}}})",
          R"({"method":"notifications/message","params":{"_meta":{"progressToken":1},"progressToken":2}})",
      })
    CHECK_FALSE_MESSAGE(frame_of(text).progress_token.present(), text);
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

// Every open array or object counts as a level, and the message itself is the first one. So
// `params` is the second level, and an array in it the third.

TEST_CASE(
    "1024 levels pass unchanged, more are invalid: the answer says why, and nothing crashes") {
  for (const auto& nested : {in_params, in_result, in_meta}) {
    for (const std::size_t levels : {1000u, 1023u, 1024u})
      CHECK(frame_of(nested(levels)).bytes == nested(levels));
    for (const std::size_t levels : {1025u, 200'000u}) {
      const auto parsed = parse_frame(nested(levels));
      CHECK(std::get<FrameFault>(parsed).code == -32600);
      CHECK(std::get<FrameFault>(parsed).reason.find("1024") != std::string_view::npos);
    }
  }
  std::string params = R"({"id":1,"method":"a")";
  for (int i = 0; i < 200'000; ++i) params += R"(,"params":{"params":{"_meta":{}}})";
  CHECK(fault_of(params + "}") == -32600);
}

TEST_CASE("a member that the bridge acts on must not stand twice, plain or escaped") {
  for (const char* text : {
           R"({"id":1,"id":1,"method":"a"})",
           R"({"id":1,"id":2,"method":"a"})",
           R"({"id":1,"\u0069d":2,"method":"a"})",
           R"({"\u0069d":1,"i\u0064":2,"method":"a"})",
           R"({"id":1,"method":"a","params":{"id":3},"id":null})",
           R"({"id":1,"method":"a","method":"b"})",
           R"({"id":1,"method":"a","\u006dethod":"a"})",
           R"({"id":1,"method":"a","metho\u0064":7})",
           R"({"id":1,"method":"a","params":{},"params":{}})",
           R"({"id":1,"method":"a","Method":"b"})",
           R"({"id":1,"method":"a","PARAMS":{}})",
           R"({"id":1,"method":"a","params":{},"\u0070arams":[]})",
           R"({"method":"a","params":1,"params":{}})",
           R"({"id":1,"result":{},"result":{}})",
           R"({"id":1,"result":{},"re\u0073ult":{}})",
           R"({"id":1,"error":{},"error":{}})",
           R"({"id":1,"error":{},"\u0065rror":null})",
           R"({"id":1,"id":1,"result":{}})",
           R"({"id":1,"\u0069\u0064":1,"error":{}})",
       })
    CHECK_MESSAGE(fault_of(text) == -32600, text);
}

TEST_CASE("a member that says what is asked, and stands twice, is noted") {
  const auto is_ambiguous = [](std::string_view params) {
    return frame_of(R"({"id":1,"method":"a","params":)" + std::string(params) + "}")
        .has_ambiguous_params;
  };
  for (const char* params : {R"({"name":1,"name":1})", R"({"uri":"a","x":2,"ur\u0069":"b"})",
                             R"({"taskId":"a","taskId":"b"})", R"({"arguments":{},"arguments":{}})",
                             R"({"requestState":"a","requestState":"a"})",
                             R"({"inputResponses":{},"input\u0052esponses":{}})"})
    CHECK_MESSAGE(is_ambiguous(params), params);
  for (const char* params :
       {R"({"name":1,"uri":1,"taskId":1,"arguments":1,"requestState":1,"inputResponses":1})",
        R"({"x":1,"x":1,"url":1,"uri":2,"arguments":{"name":1,"uri":1},"name":1})",
        R"([{"name":1,"name":1}])"})
    CHECK_FALSE_MESSAGE(is_ambiguous(params), params);
}

TEST_CASE("_meta and the tokens must not stand twice where the bridge reads them") {
  for (
      const char* text : {
          R"({"id":1,"method":"a","params":{"_meta":{},"_meta":{}}})",
          R"({"id":1,"method":"a","params":{"_meta":{},"\u005fmeta":{"progressToken":1}}})",
          R"({"id":1,"method":"a","params":{"_meta":7,"_meta":{"progressToken":1}}})",
          R"({"id":1,"method":"a","params":{"_meta":{"progressToken":1,"progressToken":2}}})",
          R"({"id":1,"method":"a","params":{"_meta":{"progressToken":1,"progress\u0054oken":2}}})",
          R"({"method":"notifications/progress","params":{"progressToken":1,"progressToken":2}})",
          R"({"method":"notifications/progress","params":{"progressToken":1,"\u0070rogressToken":1}})",
          R"({"method":"notifications/cancelled","params":{"requestId":1,"requestId":2}})",
          R"({"method":"notifications/cancelled","params":{"requestId":1,"\u0072equestId":2}})",
          R"({"method":"notifications/c\u0061ncelled","params":{"requestId":1,"requestId":true}})",
      })
    CHECK_MESSAGE(fault_of(text) == -32600, text);
}

TEST_CASE("duplicates anywhere else are the receiver's affair and pass unchanged") {
  for (
      const char* text : {
          R"({"id":1,"method":"tools/call","params":{"name":"x","name":"y","arguments":{"a":1,"a":2,"id":1,"id":2}}})",
          R"({"id":1,"method":"a","params":{"arguments":{"_meta":{},"_meta":{},"progressToken":1,"progressToken":2}}})",
          R"({"id":1,"method":"a","params":{"_meta":{"k":1,"k":2}}})",
          R"({"id":1,"method":"a","params":{"requestId":1,"requestId":2}})",
          R"({"id":1,"method":"a","params":{"progressToken":1,"progressToken":2}})",
          R"({"id":1,"method":"a","params":[{"_meta":1,"_meta":2}]})",
          R"({"id":1,"result":{"a":1,"a":2,"_meta":{},"_meta":{}}})",
          R"({"id":1,"error":{"code":1,"code":2}})",
          R"({"id":1,"method":"a","jsonrpc":"2.0","jsonrpc":"2.0","x":1,"x":2})",
      })
    CHECK_MESSAGE(frame_of(text).bytes == text, text);
}

TEST_CASE("a name that only looks like one of these is another name") {
  const Frame frame = frame_of(R"({"id":1,"id ":4,"\\u0069d":5,"ids":6,"method":"a"})");
  CHECK(frame.text(frame.id) == "1");
}
